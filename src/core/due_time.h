// SPDX-License-Identifier: GPL-3.0-or-later
// The time forms that Slurm's --deadline and --begin take, read in the local time zone.
#pragma once
#include <optional>
#include <string_view>

#include "src/core/units.h"

namespace squall {

// HH:MM[:SS] [AM|PM], MMDD[YY], MM/DD[/YY], MM.DD[.YY], any of those dates with -HH:MM[:SS], YYYY-MM-DD[THH:MM[:SS]],
// now[+N[seconds|minutes|hours|days|weeks]], today, tomorrow, midnight, noon, elevenses, fika, teatime, and a plain
// epoch. A time of day that has passed today means tomorrow. nullopt: none of them.
std::optional<Seconds> parse_due_time(std::string_view text, Seconds now);

// What to write, for messages.
inline constexpr const char* kDueTimeForms =
    "a time such as 18:00, 2026-03-31T18:00, 03/31-18:00, now+2hours, tomorrow or noon";

}  // namespace squall
