// SPDX-License-Identifier: GPL-3.0-or-later
// Time from left to right: which moments get a tick and what they are called, by the clock or counted from the start.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "src/core/units.h"

namespace squall::draw {

struct TimeAxis {
    Seconds start = 0, end = 1;
    bool by_clock = false;     // dates and times of day; else "6 h", "2 d" since the start
    Seconds utc_offset_s = 0;  // by_clock: of the site

    double percent(Seconds at) const;  // where it is, 0 to 100, kept inside
    std::string name(Seconds at) const;
};

// About `most` moments with round names.
std::vector<std::pair<Seconds, std::string>> time_ticks(const TimeAxis& axis, int most);

// "2 d 3 h", "45 min", "30 s": the two largest units.
std::string span_text(Seconds span);

}  // namespace squall::draw
