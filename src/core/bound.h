// SPDX-License-Identifier: GPL-3.0-or-later
// The Lagrangian lower bound on a Snapshot's optimal cost, and the capacity prices that prove it
// (doc/model.md, "Bound"). Prices sit on (node class or capacity group) × time bucket. Capacity is the
// exact integral of free GPU-seconds over each bucket and starts are continuous, so the bound holds for
// the true problem, not for a bucketed one. Anytime: any prices give a valid bound, more time only
// raises it. Called by make_plan() and by squall-sim; pure, one thread.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "src/core/plan.h"

namespace squall {

struct BoundOptions {
    std::int64_t time_ms = 500;  // wall clock
    std::function<bool()> stop;  // or earlier; may be empty
    int max_iterations = 2000;   // the work limit; with time to spare, the same limit gives the same bound
    int buckets = 128;
    Micro incumbent = 0;                   // cost of the best plan known, steers step sizes; 0 = none
    Seconds horizon = 0;                   // epoch end of the grid, e.g. the incumbent's last completion; 0 = estimated
    const CapacityPrices* warm = nullptr;  // from the last cycle
};

// What a job chose at the prices of one iteration. The mean of many is the relaxed problem's solution.
struct RelaxedChoice {
    int config = 0;
    Seconds start = 0;  // epoch
};

struct BoundResult {
    Micro bound = 0;                                  // ≤ the cost of any feasible plan
    CapacityPrices prices;                            // those of the best bound
    std::vector<std::vector<RelaxedChoice>> relaxed;  // by job of the Snapshot: some of the last iterations' choices
    int iterations = 0;
};

BoundResult lagrangian_bound(const Snapshot& snapshot, const BoundOptions& options);

}  // namespace squall
