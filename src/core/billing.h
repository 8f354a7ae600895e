// SPDX-License-Identifier: GPL-3.0-or-later
// How rent is billed: one rule for plans, leases in the ledger, and reports.
#pragma once
#include <algorithm>

#include "src/core/units.h"

namespace squall {

// Rent of a lease from launch to `end` (epoch seconds), rounded up to its step and never below its minimum.
inline Micro lease_cost(Micro price_micro_h, Seconds step_s, Seconds min_s, Seconds launched_at, Seconds end) {
    Seconds time = std::max({end - launched_at, min_s, Seconds{0}});
    if (step_s > 1) time = (time + step_s - 1) / step_s * step_s;
    return cost_of_time(price_micro_h, time);
}

}  // namespace squall
