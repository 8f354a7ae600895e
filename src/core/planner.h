// SPDX-License-Identifier: GPL-3.0-or-later
// The planner: construct → improve → refine → bound, under one deadline. Pure: no I/O, no Slurm; the only
// clock it reads is the deadline's. Called by squalld each cycle and by squall-sim on virtual time.
#pragma once
#include <cstdint>

#include "src/core/plan.h"

namespace squall {

struct PlanOptions {
    std::int64_t time_ms = 2000;  // wall clock for everything, the refinement included
    int threads = 2;               // with two or more, one proves the bound while the others search
    std::uint64_t seed = 1;
    int rounds = 1 << 30;  // of the local search: the work limit for repeatable plans
    bool improve = true;
    bool refine = true;               // GLPK in a forked child
    bool burst = true;                // false: rented classes are left out
    std::int64_t glpk_mem_mb = 1024;  // RLIMIT_AS of the child
};

// Same snapshot, options and work limit give the same plan. Never throws on a valid Snapshot; a job
// that cannot be placed has config -1 and a reason. `previous` (may be null) is the last plan, for
// warm start and stability; it may name jobs that are gone.
Plan make_plan(const Snapshot& snapshot, const PlanOptions& options, const Plan* previous = nullptr);

// The same workload in plain Slurm order: by release, then id; each job as asked (its first
// configuration that its burst policy allows) at the earliest start, with backfill. Used for comparison.
Plan fifo_plan(const Snapshot& snapshot);

}  // namespace squall
