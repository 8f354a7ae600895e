// SPDX-License-Identifier: GPL-3.0-or-later
// From a finished Schedule to a Plan with every cost split over the jobs that cause it.
#pragma once
#include "src/core/schedule.h"

namespace squall {

// What a job would cost on nodes of its own: rent from start to release, or energy with the rest of the node idle.
// An upper limit of its share in any plan; what --max-cost is held against.
Micro standalone_cost(const Snapshot& snapshot, const Job& job, int config, Seconds start, Seconds end);

// Placements with exact nodes and each job's share: a node's rent or energy is split by GPU-seconds, the
// remainder goes to the last job, so that shares sum to the node's cost. `why` is left empty.
Plan to_plan(const Schedule& schedule);

}  // namespace squall
