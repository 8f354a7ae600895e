// SPDX-License-Identifier: GPL-3.0-or-later
// Texts for money and time, as users write them in options and squall.conf, and as reports print them.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "src/core/units.h"

namespace squall {

// "20", "0.17168": a decimal amount, not negative, at most six decimals, below a billion.
std::optional<Micro> parse_amount(std::string_view text);
// The same with an optional "/h", for prices and weights per hour.
std::optional<Micro> parse_amount_per_hour(std::string_view text);
// "90", "90s", "5m", "2h", "1.5h", "1d", "1:30:00", "15:00" (M:SS), "1-12:00:00" (days-H:MM:SS). At most ten years.
std::optional<Seconds> parse_duration(std::string_view text);
// As parse_duration(), and "500ms", in milliseconds.
std::optional<std::int64_t> parse_duration_ms(std::string_view text);

std::string format_amount(Micro amount);        // two decimals: "12.30"
std::string format_amount_exact(Micro amount);  // shortest that parses back: "0.17168"
std::string format_duration(Seconds s);         // "45 s", "12 min", "3.5 h", "2.1 days"
// Local clock time of the site, "14:05:00", with the date in front where it is not the day of `now`.
std::string format_clock(Seconds at, Seconds now);

}  // namespace squall
