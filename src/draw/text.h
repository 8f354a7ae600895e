// SPDX-License-Identifier: GPL-3.0-or-later
// Text and numbers on a page. Everything that comes from a user, a job or a file passes escape() before it is written
// into HTML or SVG; the rest of src/draw does that itself, so callers hand over plain text. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace squall::draw {

// Safe between tags and inside quoted attributes: & < > " ' as entities; control characters and broken UTF-8 as U+FFFD.
std::string escape(std::string_view text);

// "0.0042", "12.5", "1,234": about four significant digits, thousands grouped.
std::string number(double value);

// Round steps from 0 up to at least `most`, about as many as asked for; {0, 1} where there is nothing to measure.
std::vector<double> ticks(double most, int about);

}  // namespace squall::draw
