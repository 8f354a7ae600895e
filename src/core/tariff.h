// SPDX-License-Identifier: GPL-3.0-or-later
// Energy prices by time of day, and what a local node's draw costs under them. Pure; used by the planner's
// cost and by the bound.
#pragma once
#include "src/core/model.h"

namespace squall {

// The price in force at an epoch time: the last step at or before that second of the local day; before the
// first step, yesterday's last one. 0 where the class has no tariff.
Micro tariff_at(const NodeClass& node_class, Seconds at, Seconds utc_offset_s);

// Epoch time of the first step after `at`; kForever where the tariff never changes.
Seconds next_tariff_step(const NodeClass& node_class, Seconds at, Seconds utc_offset_s);

// Cheapest price in force at any moment of [from, to).
Micro least_tariff(const NodeClass& node_class, Seconds from, Seconds to, Seconds utc_offset_s);

// Watts that `busy` busy GPUs add to the bill: the whole draw where the node may be powered down, else only what
// exceeds the idle draw, which is paid anyway.
int billed_watts(const NodeClass& node_class, int busy);

// Cost of a constant draw over [from, to), rounded up per price step.
Micro energy_cost(const NodeClass& node_class, int watts, Seconds from, Seconds to, Seconds utc_offset_s);

}  // namespace squall
