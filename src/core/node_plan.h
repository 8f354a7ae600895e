// SPDX-License-Identifier: GPL-3.0-or-later
// One node's planned load: who holds how many GPUs when, how much is free when, and what the node's energy or
// leases cost. The planner keeps one per node that holds anything; untouched nodes have none (class_index.h).
#pragma once
#include <vector>

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

class NodePlan {
  public:
    // Fixed items (job < 0) may be added before seal(); afterwards only jobs come and go.
    NodePlan(const Snapshot& snapshot, int node);
    void add(const NodeItem& item);
    void remove_job(int job);
    void seal() { base_ = full_cost(items_); }

    const std::vector<NodeItem>& items() const { return items_; }
    // Earliest time from which at least g GPUs are free for good, g = 1 … gpus of the class.
    Seconds tail(int g) const { return tail_[g]; }
    // Longest finite stretch with at least g GPUs free.
    Seconds longest_gap(int g) const { return gap_[g]; }

    // Earliest start ≥ from at which `want` fits for `length` seconds. Small jobs: also the shared GPU's label.
    // kForever: never.
    Seconds earliest(const NodeWant& want, Seconds from, Seconds length, int& gpu_index) const;
    bool fits(const NodeWant& want, Seconds start, Seconds end, int gpu_index) const;

    // Is the node down (powered off, lease ended) for a job that would start then? On nodes that boot, jobs are
    // added in order of start; `appendable` says whether this start keeps that order.
    bool down_at(Seconds start) const;
    bool appendable(Seconds start) const;
    // When a job allocated at `start` can begin to run: start, or the end of the boot it waits for.
    Seconds ready_at(Seconds start) const;
    bool boots() const { return boots_; }

    // Cost of all jobs here beyond what the fixed items cost alone: energy (local) or rent (rented).
    Micro cost() const { return full_cost(items_) - base_; }
    Micro cost_with(const NodeItem& item) const;
    // The leases of a rented node: [launch, release).
    struct LeaseSpan {
        Seconds launch, release;
    };
    std::vector<LeaseSpan> leases(const std::vector<NodeItem>& items) const;

  private:
    struct Step {
        Seconds at;
        int free;
    };
    void refresh();
    Micro full_cost(const std::vector<NodeItem>& items) const;
    Micro energy(const std::vector<NodeItem>& items) const;
    Micro rent(const std::vector<NodeItem>& items) const;
    bool host_fits(const NodeWant& want, Seconds start, Seconds end) const;
    int free_label(Seconds start, Seconds end) const;

    const Snapshot* snapshot_;
    const NodeClass* class_;
    const Node* node_;
    Seconds open_at_;              // nothing starts before
    bool boots_;                   // may be down at some time of the plan
    std::vector<NodeItem> items_;  // by start
    std::vector<Step> steps_;      // free whole GPUs from each time on, the last for good
    std::vector<Seconds> tail_, gap_;
    Micro base_ = 0;
};

// Free-GPU events of a set of items: whole GPUs, plus one for every label while any of its shards is taken.
// Sorted (time, change in used GPUs).
std::vector<std::pair<Seconds, int>> gpu_events(const std::vector<NodeItem>& items);

}  // namespace squall
