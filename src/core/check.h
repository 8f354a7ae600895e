// SPDX-License-Identifier: GPL-3.0-or-later
// The independent checker: re-derives from first principles that a Plan is feasible for its Snapshot
// and costs what it says. Shares no code with the planner's timelines on purpose.
#pragma once
#include <string>
#include <vector>

#include "src/core/plan.h"

namespace squall {

// Empty = the plan holds. Each line names the job or node, the time and the numbers. squalld applies
// nothing of a plan that does not hold; tests fail on it.
std::vector<std::string> check_plan(const Snapshot& snapshot, const Plan& plan);

}  // namespace squall
