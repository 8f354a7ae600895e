// SPDX-License-Identifier: GPL-3.0-or-later
// What planning large and small jobs together is worth: the same problem with the two kinds planned apart.
#pragma once
#include "src/core/planner.h"

namespace squall::sim {

// Large jobs first, for half of the time; then small ones on what these leave. The bound is that of the whole problem,
// 0 where the planner was asked for none.
Plan plan_apart(const Snapshot& snapshot, const PlanOptions& options);

}  // namespace squall::sim
