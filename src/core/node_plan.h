// SPDX-License-Identifier: GPL-3.0-or-later
// One node's planned load: who holds how many GPUs when, how much is free when, and what the node's energy or
// leases cost. The planner keeps one per node that holds anything, and one for all untouched nodes that are alike
// (class_index.h). Load is kept as steps over time, so that every question is one pass over a few steps and every cost
// a difference; a test compares both with a count from the items.
#pragma once
#include <vector>

#include "src/core/energy_meter.h"
#include "src/core/model.h"

namespace squall {

// Some GPUs of one node over [start, end). A large job's `gpus`, or `shards` of the shared GPU labelled gpu_index.
// Labels tell shared GPUs of one node apart; whole GPUs need none, since any free ones will do at any time.
struct NodeItem {
    Seconds start = 0, end = 0;
    Seconds ready = 0;  // when the node was up for it: start, or the end of a boot
    int gpus = 0, shards = 0, gpu_index = -1;
    int cpus = 0;
    std::int64_t mem_mb = 0;
    int job = -1;  // -1 = not Squall's
};

struct NodeWant {
    int gpus = 0, shards = 0, cpus = 0;
    std::int64_t mem_mb = 0;
};

// What all nodes of a class have in common. Outlives the NodePlans made with it.
struct ClassFacts {
    ClassFacts(const Snapshot& snapshot, int class_id)
        : spec(&snapshot.classes[class_id]), now(snapshot.now), meter(*spec, snapshot.utc_offset_s) {}
    const NodeClass* spec;
    Seconds now;
    EnergyMeter meter;
};

class NodePlan {
  public:
    // Fixed items (job < 0) may be added before seal(); afterwards only jobs come and go.
    NodePlan(const ClassFacts& facts, const Node& node);
    void add(const NodeItem& item);
    // On nodes that boot: only the one added last.
    void remove_job(int job);
    void seal() { base_ = rent_; }

    const std::vector<NodeItem>& items() const { return items_; }
    // Earliest time from which at least g GPUs are free for good, g = 1 … gpus of the class.
    Seconds tail(int g) const { return tail_[g]; }
    // Longest finite stretch with at least g GPUs free.
    Seconds longest_gap(int g) const { return gap_[g]; }
    // Labels of GPUs that are shared at some time, and one that is not.
    const std::vector<int>& labels() const { return label_names_; }
    int new_label() const;

    // Earliest start ≥ from at which `want` fits for `length` seconds; kForever: never. Small jobs: on that label.
    Seconds earliest(const NodeWant& want, Seconds from, Seconds length, int label) const;
    bool fits(const NodeWant& want, Seconds start, Seconds end, int label) const {
        return earliest(want, start, end - start, label) == start;
    }

    // Is the node down (powered off, lease ended) for a job that would start then? On nodes that boot, jobs are
    // added in order of start; `appendable` says whether this start keeps that order.
    bool down_at(Seconds start) const;
    bool appendable(Seconds start) const { return !boots_ || items_.empty() || start >= items_.back().start; }
    // The least start that appendable() allows.
    Seconds append_from() const { return boots_ && !items_.empty() ? items_.back().start : 0; }
    // When a job allocated at `start` can begin to run: start, or the end of the boot it waits for.
    Seconds ready_at(Seconds start) const;
    bool boots() const { return boots_; }
    Seconds open_at() const { return open_at_; }  // nothing starts before

    // Cost of all jobs here beyond what the fixed items cost alone: energy (local) or rent (rented).
    Micro cost() const { return full_cost() - base_; }
    // What cost() would grow by. REQUIRES: appendable(item.start).
    Micro cost_of(const NodeItem& item) const;
    // The leases of a rented node: [launch, release). With `more`, which may come in any order.
    struct LeaseSpan {
        Seconds launch, release;
    };
    std::vector<LeaseSpan> leases(const NodeItem* more = nullptr) const;

  private:
    struct Step {  // load from `at` to the next step
        Seconds at;
        int busy;  // GPUs, shared ones included
        int cpus;
        std::int64_t mem_mb;
    };
    struct SharedStep {
        Seconds at;
        int shards;
    };
    using SharedSteps = std::vector<SharedStep>;  // the first at now

    void apply(const NodeItem& item, int sign);
    void raise(Seconds start, Seconds end, int busy, const NodeItem& item, int sign);
    void raise_shared(const NodeItem& item, int sign);
    void refresh();
    bool has_room(const Step& step, const NodeWant& want, int gpus) const;
    Seconds earliest_whole(const NodeWant& want, Seconds from, Seconds length) const;
    Seconds earliest_shared(const NodeWant& want, Seconds from, Seconds length, const SharedSteps& shared) const;
    const SharedSteps& shared_steps(int label) const;
    Pico energy_of(Seconds start, Seconds end, int more) const;
    Pico energy_of_share(const NodeItem& item) const;
    Micro full_cost() const { return facts_->spec->rented ? rent_ : to_micro(energy_); }
    void extend(LeaseSpan& last, Micro& rent, const NodeItem& item) const;
    void recount_rent();
    Micro rent_of(const LeaseSpan& span) const;

    const ClassFacts* facts_;
    Seconds open_at_;              // nothing starts before
    Seconds leased_at_;            // rented and up: when its lease began, else now
    bool boots_;                   // may be down at some time of the plan
    bool up_now_;                  // or on its way up
    std::vector<NodeItem> items_;  // by start
    std::vector<Step> steps_;      // the first at now, the last for good
    std::vector<int> label_names_;
    std::vector<SharedSteps> shared_;  // beside label_names_
    std::vector<Seconds> tail_, gap_;
    LeaseSpan last_lease_{-1, -1};
    Pico energy_ = 0;  // of jobs alone
    Micro rent_ = 0, base_ = 0;
};

// Free-GPU events of a set of items: whole GPUs, plus one for every label while any of its shards is taken.
// Sorted (time, change in used GPUs).
std::vector<std::pair<Seconds, int>> gpu_events(const std::vector<NodeItem>& items);

}  // namespace squall
