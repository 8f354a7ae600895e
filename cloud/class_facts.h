// SPDX-License-Identifier: GPL-3.0-or-later
// What is known better than squall.conf about rented classes, written to the ledger for the planner: the offer that
// would be launched now with its price and spot risk, and how long boots really take. Called by the lease daemon every
// minute and after each change of a block.
#pragma once
#include <vector>

#include "cloud/fleet.h"
#include "src/core/ledger.h"

namespace squall::cloud {

std::vector<ClassFact> make_class_facts(Ledger& ledger, const Fleet& fleet, Seconds now);

// The value below which 90 % of them are, nearest rank; 0 when there are fewer than kBootsNeeded.
inline constexpr std::size_t kBootsNeeded = 5;
Seconds high_quantile(std::vector<Seconds> times);

}  // namespace squall::cloud
