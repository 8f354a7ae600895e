// SPDX-License-Identifier: GPL-3.0-or-later
// squalld's loop: read → plan → check → diff → apply → record → confirm, again on a poke, on any change of a job or
// node, when a planned start or a guard comes due, and every Interval. Belongs to the main thread. Nothing of it ends
// the process: a slurmctld that is away, a ledger that fails, a planner that throws and a plan that does not hold are
// conditions, logged once when they begin and once when they end.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "src/core/conf.h"
#include "src/core/daemon.h"
#include "src/core/log.h"
#include "src/core/plan.h"
#include "src/slurm/applier.h"
#include "src/squalld/keeper.h"

namespace squall {

// The cluster as of this second, with what the ledger knows.
slurm::Reading read_now(const slurm::Cluster& cluster, const Conf& conf, Keeper& keeper);

class Loop {
  public:
    Loop(Conf conf, slurm::Client& client, Daemon& daemon);

    // Until stop is asked for. reload: called on SIGHUP, gives the new configuration or nullopt to keep the old one.
    void run(std::optional<Conf> (*reload)(const Conf& old));
    // One cycle, as --once does. False: Slurm did not answer or the plan did not hold; the log says why.
    bool cycle();

  private:
    bool refresh();
    bool plan_cycle();
    bool due(Seconds now) const;
    void forgive_when_something_ended();
    bool plan_and_apply(const slurm::Reading& reading, Seconds now);
    std::optional<Plan> make(const Snapshot& snapshot);
    bool holds(const Snapshot& snapshot, const Plan& plan);
    void delay_stuck(slurm::Reading& reading, Seconds now);
    int apply(const std::vector<slurm::Action>& actions, Seconds now);
    void refused(const slurm::Action& action, const slurm::Reply& reply, Seconds now);
    void record_outcomes(const slurm::Reading& reading);
    void record_cycle(const slurm::Reading& reading, const Plan& plan, int updates, Seconds now);
    void set_timers(const slurm::Reading& reading, const Plan& plan, const std::vector<slurm::Action>& actions,
                    Seconds now);
    void warn(const std::vector<std::string>& warnings);
    void confirm();

    Conf conf_;
    slurm::Client& client_;
    Daemon& daemon_;
    Conditions conditions_;
    Keeper keeper_;
    slurm::ApplyOptions options_;
    slurm::Cluster cluster_;
    std::string seen_;  // fingerprint of the cluster the last cycle planned
    Plan last_plan_;
    Seconds next_due_ = 0;                   // a planned start, a guard, a release to look after, Interval
    bool waiting_ = false;                   // something is released and not started yet
    std::map<slurm::JobKey, int> refusals_;  // how often Slurm refused or did not start it, for the back-off
    std::set<std::uint32_t> holding_;        // jobs that held something in the last cycle
    std::set<std::string> warned_;
};

}  // namespace squall
