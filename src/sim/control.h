// SPDX-License-Identifier: GPL-3.0-or-later
// What a policy sees and may do at one moment of virtual time: estimates, never the truth. The engine owns it and
// calls Policy::decide() with it; actions take effect at once, so a later look sees them.
#pragma once
#include <string>
#include <vector>

#include "src/sim/floor.h"
#include "src/sim/workload.h"

namespace squall::sim {

enum class Phase : char { coming, waiting, running, done, unplaceable };

// Where one job stands.
struct JobNow {
    Phase phase = Phase::coming;
    double left = 1;     // share of the work still to do when it was last started or stopped
    bool begun = false;  // it has computed before: starting it again elsewhere costs restart_s
    int config = -1;     // running
    Place place;
    Seconds start = 0;          // when it took its GPUs
    Seconds computes_from = 0;  // after boot, stage-in and restart
    Seconds restart_s = 0;      // of those, spent starting again
    double used_gpu_s = 0;      // before this run
    int generation = 0;         // counts runs: events of earlier ones are void
    // The run it was stopped from in this very moment: taken up again unchanged, nothing happened.
    int last_config = -1;
    Place last_place;
    Seconds last_start = 0, last_computes_from = 0, last_restart_s = 0, stopped_at = -1;
    double last_left = 1;
    Seconds end = 0;  // done
};

class Control {
  public:
    Control(const Workload& workload, const Snapshot& cluster);

    Seconds now() const { return now_; }
    const Floor& floor() const { return floor_; }
    const Snapshot& cluster() const { return floor_.cluster(); }
    const Rules& rules() const { return workload_.rules; }

    const std::vector<int>& waiting() const { return waiting_; }  // by release, then id
    const std::vector<int>& running() const { return running_; }  // in no order
    const Job& job(int j) const { return workload_.jobs[j].job; }
    const JobNow& state(int j) const { return states_[j]; }
    double left(int j) const;                       // share of the work left now
    double used_gpu_s(int j) const;                 // so far
    Seconds run_estimate(int j, int config) const;  // from now to its end there, without boot; a restart included
    Seconds expected_end(int j) const;  // running: overdue jobs are expected to take a tenth longer, as in doc/model.md
    bool may_use(int j, int config) const;       // the job's burst policy
    double gpus_of(const Config& config) const;  // shares count as fractions

    std::optional<Place> find(const Config& config) const { return floor_.find(config); }
    // REQUIRES: waiting and it fits.
    void start(int j, int config, const Place& place);
    void stop(int j);  // REQUIRES: running
    // Starts it where find() says; false: no room.
    bool try_start(int j, int config);
    // Asks for another decision, even where nothing happens. Holds until the next decision.
    void wake_at(Seconds at) { wake_ = at > now_ && at < wake_ ? at : wake_; }

  private:
    friend class Engine;
    void set_phase(int j, Phase phase);
    void end_run(int j);  // gives its GPUs back and keeps its progress

    const Workload& workload_;
    Floor floor_;
    Seconds now_ = 0;
    std::vector<JobNow> states_;
    std::vector<int> waiting_, running_, where_;
    Seconds wake_ = kForever;
    std::vector<int> started_, stopped_;  // in this decision
    Micro restart_micro_ = 0;             // GPUs paid for while jobs start again
    int moves_ = 0;
};

}  // namespace squall::sim
