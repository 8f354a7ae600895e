// SPDX-License-Identifier: GPL-3.0-or-later
// One sentence for each decision, with the numbers that decided it and the alternative it beat.
#pragma once
#include "src/core/schedule.h"

namespace squall {

// Fills `why` of every placement. At most `limit` jobs (those that start first) get an alternative looked up.
void explain(const Schedule& schedule, Plan& plan, int limit);

}  // namespace squall
