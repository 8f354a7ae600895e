// SPDX-License-Identifier: GPL-3.0-or-later
// `squall-sim replan`: the last job of a problem arrives when all others are planned. How long does the new plan take,
// and how many of the others does it move?
#pragma once
#include "src/sim/solve.h"

namespace squall::sim {

Report replan(const Snapshot& snapshot, const SolveOptions& options);

}  // namespace squall::sim
