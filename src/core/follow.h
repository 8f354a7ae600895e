// SPDX-License-Identifier: GPL-3.0-or-later
// Replanning that is stable: the last plan taken up again in the world of now, so that an unchanged world keeps its
// plan and a small change moves few jobs. Called by make_plan(); pure, one thread.
#pragma once
#include <functional>

#include "src/core/schedule.h"

namespace squall {

// Fills an empty schedule with the last plan's placements where they still hold (configuration, nodes, and the same
// start or now); jobs that are new or lost their place go where they add least.
void follow(Schedule& schedule, const Plan& previous);

// Takes each job out in order of start and puts it back where it costs least, or as cheaply but sooner: what a job that
// ended early left behind is used. Never costs more, and a settled schedule does not change. Stops early at `stop`.
void settle(Schedule& schedule, const std::function<bool()>& stop);

// Is the new plan so much better than the followed one that changing it pays? Plans that wobble between equals make
// planned starts worthless to those who read them: a thousandth must be gained, and two hundredths where every job moves.
// moved: share of the jobs that are placed differently.
bool worth_changing(const Score& followed, const Score& fresh, double moved);

}  // namespace squall
