// SPDX-License-Identifier: GPL-3.0-or-later
// A plan under construction: every job's spot, every touched node's load, and the cost of it all, kept up to date as
// spots are taken and given back. The planner's one mutable state; construct, improve and refine work on it.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "src/core/class_index.h"
#include "src/core/plan.h"

namespace squall {

// Where and when a job could run.
struct Spot {
    int config = -1;
    Seconds start = 0, ready = 0, end = 0;  // ready: run begins (boot done); end: C_j
    std::vector<int> nodes;
    int gpu_index = -1;
    Micro nodes_cost = 0;  // rent and energy that it adds
    Micro late = 0;        // tardiness and hard due date penalty
    Micro total() const { return nodes_cost + late; }
};

// What plans are compared by: a job without a place weighs more than any cost.
struct Score {
    int unplaced = 0;
    Micro cost = 0;
    auto operator<=>(const Score&) const = default;
};

class Schedule {
  public:
    // Takes up the fixed load, the running jobs and, where they still fit, the pinned ones. burst = false: no
    // new load on rented nodes.
    Schedule(const Snapshot& snapshot, bool burst);
    Schedule(const Schedule&) = delete;
    Schedule& operator=(const Schedule&) = delete;

    const Snapshot& snapshot() const { return *snapshot_; }
    bool burst() const { return burst_; }
    const ClassIndex& index(int class_id) const { return indices_[class_id]; }
    // The node's load; that of all untouched nodes of its kind where nothing touched it yet.
    const NodePlan& plan_of(int node) const { return plans_[node] ? *plans_[node] : *blanks_[node]; }
    const NodePlan* touched(int node) const { return plans_[node].get(); }

    const std::optional<Spot>& spot(int job) const { return spots_[job]; }
    bool usable(int node) const { return usable_[node]; }  // new load may go there
    bool fixed(int job) const { return fixed_[job]; }      // running or pinned: not the search's to move
    void place(int job, const Spot& spot);
    // Gives back the job's spot and those of all jobs that build on it (they came to a node that boots after this job).
    // Returns all jobs that lost their spot, this one included.
    std::vector<int> eject(int job);
    // Those jobs, in the order in which eject() would free them.
    std::vector<int> dependents(int job) const;

    Score score() const { return {unplaced_, cost()}; }
    Micro cost() const { return late_ + nodes_cost_; }  // of the jobs that have a spot
    Micro late_of(int job, Seconds end) const;
    // Would the site's budgets, caps over classes and the job's own limit bear it?
    bool affordable(int job, const Spot& spot) const;
    bool groups_bear(const Spot& spot, int class_id) const;
    // Times at which a capacity group of the class gives a node back, after `from`.
    std::vector<Seconds> group_releases(int class_id, Seconds from) const;

  private:
    void take_fixed_load();
    void take_running();
    void take_pinned();
    void make_blanks();
    void choose_usable();
    NodePlan& touch(int node);
    void update_index(int node);
    using LeaseEvents = std::vector<std::pair<Seconds, int>>;  // (time, change in leased nodes)
    void add_leases(int node, const NodeItem* more, LeaseEvents& events) const;
    ClassIndex::Kind kind_of(int node) const;
    void change_node(int node, Seconds start, Micro change);

    const Snapshot* snapshot_;
    bool burst_;
    std::vector<ClassFacts> facts_;  // by class; never grows after construction, NodePlans point into it
    std::map<std::pair<int, ClassIndex::Kind>, NodePlan> alike_;
    std::vector<const NodePlan*> blanks_;  // by node, into alike_
    std::vector<ClassIndex> indices_;
    std::vector<std::unique_ptr<NodePlan>> plans_;  // by node, null where untouched
    std::vector<bool> usable_;                      // by node: new load may go there
    std::vector<std::vector<int>> groups_of_;       // by class
    std::vector<std::vector<int>> group_nodes_;     // by group: touched nodes
    std::vector<std::optional<Spot>> spots_;
    std::vector<bool> fixed_;
    std::vector<std::int64_t> placed_at_;  // by job: how many placements came before
    std::int64_t placements_ = 0;
    Micro late_ = 0, nodes_cost_ = 0;
    std::vector<Micro> committed_;  // by budget: rent of jobs that start before its end
    int unplaced_ = 0;
};

// Several spots at once, in order of start: on nodes that boot, later jobs build on earlier ones.
void sort_by_start(std::vector<std::pair<int, Spot>>& spots);
void place_all(Schedule& schedule, std::vector<std::pair<int, Spot>> spots);

// Length of a run: stage-in and what is left of it. Uses the high quantile where `high`.
Seconds run_length(const Job& job, const Config& config);

NodeWant want_of(const Config& config);

// A running job's end: as expected, or where it is overdue a tenth of its time so far from now on (5 s at least).
Seconds running_end(const Snapshot& snapshot, const Job& job);

}  // namespace squall
