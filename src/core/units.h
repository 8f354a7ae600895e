// SPDX-License-Identifier: GPL-3.0-or-later
// Money and time as integers. Every comparison that decides something is made on these types, so
// the same input and seed give the same plan on every machine.
#pragma once
#include <cstdint>

namespace squall {

using Seconds = std::int64_t;  // a duration, or seconds since the epoch where the name says so (…_at, start, end, due)
using Micro = std::int64_t;    // millionths of the site's currency unit

inline constexpr Seconds kHour = 3600;
inline constexpr Seconds kDay = 24 * kHour;
inline constexpr Seconds kForever = INT64_C(1) << 40;  // later than any time in a plan; safe to add to

// price [micro per hour] · time [s], rounded up, without overflow for any sane site. REQUIRES: both >= 0.
inline Micro cost_of_time(Micro price_micro_h, Seconds time_s) {
    auto product = static_cast<__int128>(price_micro_h) * time_s;
    return static_cast<Micro>((product + kHour - 1) / kHour);
}

}  // namespace squall
