// SPDX-License-Identifier: GPL-3.0-or-later
// Large neighbourhood search (Shaw 1998; Ropke and Pisinger 2006): take a few related jobs out, put them back in
// another order or elsewhere, keep what is not worse. Deterministic for a seed and a number of rounds.
#pragma once
#include <cstdint>
#include <functional>

#include "src/core/find.h"

namespace squall {

struct ImproveOptions {
    std::uint64_t seed = 1;
    int rounds = 1 << 30;                // the work limit
    std::function<bool()> stop;          // the deadline
    const PriceTable* prices = nullptr;  // to look ahead with, now and then
};

// Returns the number of rounds done. The schedule ends at the best found.
int improve(Schedule& schedule, const ImproveOptions& options);

}  // namespace squall
