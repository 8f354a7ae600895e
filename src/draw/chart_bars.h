// SPDX-License-Identifier: GPL-3.0-or-later
// Lying bars, one a row, each made of parts: what costs are made of, shares of a whole, distributions in classes.
#pragma once
#include <string>
#include <vector>

#include "src/draw/figure.h"

namespace squall::draw {

struct BarRow {
    std::string label;
    std::vector<double> values;  // one a part; not negative
    std::string end_text;        // behind the label, to the right; "": the sum
};

struct BarChart {
    std::string title, note, unit;
    std::vector<Key> parts;
    std::vector<BarRow> rows;
    bool shares = false;  // every row fills the width: its parts are read as shares of their sum
    double most = 0;      // right end of the scale; 0: the largest row
};

std::string bar_chart(const BarChart& chart);

}  // namespace squall::draw
