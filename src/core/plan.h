// SPDX-License-Identifier: GPL-3.0-or-later
// What the planner answers: for every job a configuration and a planned start, for what starts now the
// exact nodes. Untrusted until check_plan() has passed it (src/core/check.h).
#pragma once
#include <string>
#include <vector>

#include "src/core/model.h"

namespace squall {

struct Cost {
    Micro late = 0;  // weighted tardiness
    Micro rent = 0;
    Micro energy = 0;
    Micro moves = 0;  // restart costs
    Micro hard = 0;   // penalties of missed hard due dates
    Micro total() const { return late + rent + energy + moves + hard; }
};

struct Placement {
    int job = 0;               // index into Snapshot::jobs
    std::uint32_t job_id = 0;  // Slurm's: what ties this plan to the next one
    int config = -1;           // index into Job::configs; -1 = cannot be placed (why says it)
    Seconds start = 0;         // resources are taken from here (boot happens inside, for a node that is down)
    Seconds end = 0;           // C_j, expected completion
    std::vector<int> nodes;    // indices into Snapshot::nodes, one per node used, never empty when placed
    int gpu_index = -1;        // small jobs: which GPU of the node, a hint
    Cost cost;                 // this job's share
    std::string why;           // one sentence with the numbers that decided it
    bool starts_now(Seconds now) const { return config >= 0 && start <= now; }
};

// Warm start from one cycle to the next: prices by class (then group) and bucket, and the grid they stand on.
struct CapacityPrices {
    Seconds origin = 0;                     // epoch start of bucket 0
    Seconds width_s = 0;                    // of each bucket; after the last one capacity is free
    int classes = 0;                        // rows 0 … classes-1 are classes, the others groups
    std::vector<std::vector<double>> rows;  // micro per GPU-second (classes) or node-second (groups)
};

struct Plan {
    std::vector<Placement> placements;  // one per job, in Snapshot::jobs order, running ones included
    Cost cost;
    int unplaced = 0;                      // jobs without a configuration; their cost is in no sum
    Micro bound = 0;                       // proven lower bound on cost.total(); 0 when none
    double first_plan_s = 0, seconds = 0;  // wall clock, for the log only
    CapacityPrices prices;                 // of the bound: where the next plan's bound begins
    std::string refine_note;               // what the refinement did, or why it was left out
    double gap() const {
        return cost.total() > 0 ? 1.0 - static_cast<double>(bound) / static_cast<double>(cost.total()) : 0.0;
    }
};

}  // namespace squall
