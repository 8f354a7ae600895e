// SPDX-License-Identifier: GPL-3.0-or-later
// One exact refinement with GLPK over the jobs that matter most in the first hours, in a forked child with a
// memory limit and a wall-clock kill. Whatever becomes of the child, the schedule is never worse afterwards.
#pragma once
#include <cstdint>
#include <string>

#include "src/core/schedule.h"

namespace squall {

enum class SolverFault { none, abort, hang, eat_memory };  // injected by tests, in the child only

struct RefineOptions {
    std::int64_t time_ms = 500;
    std::int64_t mem_mb = 1024;
    int max_jobs = 24;
    SolverFault fault = SolverFault::none;
};

// Changes the schedule only for the better. Returns one line: what came of it, or why it was left out.
std::string refine(Schedule& schedule, const RefineOptions& options);

}  // namespace squall
