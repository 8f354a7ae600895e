// SPDX-License-Identifier: GPL-3.0-or-later
// The small integer program of one refinement as plain data, built by refine.cc, solved by refine_solve.cc.
// Names follow doc/model.md: a `job` row chooses one column a job, a `cap` row bounds the GPUs of a class at a time.
#pragma once
#include <string>
#include <vector>

#include "src/core/units.h"

namespace squall {

struct RefineColumn {
    int job = 0;  // position in RefineProblem::jobs
    int config = 0;
    int class_id = 0;
    double gpus = 0;  // whole-GPU equivalents over all nodes
    Seconds start = 0, end = 0;
    double cost = 0;  // micro
    bool incumbent = false;
};

struct CapacityRow {
    int class_id = 0;
    Seconds at = 0;
    double free_gpus = 0;
};

struct RefineProblem {
    std::vector<int> jobs;  // Schedule's job indices
    std::vector<RefineColumn> columns;
    std::vector<CapacityRow> capacity;
};

enum class SolverFault;

struct RefineAnswer {
    std::vector<int> chosen;  // column of each job; empty: no answer
    std::string note;
};

// Solves in a forked child: RLIMIT_AS mem_mb, killed after time_ms. Never throws, never leaves a child behind.
RefineAnswer solve_refinement(const RefineProblem& problem, std::int64_t time_ms, std::int64_t mem_mb,
                              SolverFault fault);

}  // namespace squall
