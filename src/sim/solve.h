// SPDX-License-Identifier: GPL-3.0-or-later
// `squall-sim solve`: plans an instance, has the plan checked and reports cost, bound and time as text or JSON.
#pragma once
#include <string>

#include "src/core/planner.h"

namespace squall::sim {

struct SolveOptions {
    PlanOptions plan;
    bool greedy_only = false;  // construction alone
    bool separate = false;     // large and small jobs planned apart
    bool fifo = false;         // plain Slurm order instead of a plan
    bool json = false;
    bool list = false;  // one line a job as well
};

struct Report {
    std::string text;                 // what to print
    std::vector<std::string> errors;  // of the independent checker: the plan is wrong
};

Report solve(const Snapshot& snapshot, const SolveOptions& options);

}  // namespace squall::sim
