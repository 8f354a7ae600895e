// SPDX-License-Identifier: GPL-3.0-or-later
// What stands around a chart: its caption, a key of the colours, a line that reads out the mark in focus, and the same
// figures as a table, for those who cannot see the drawing.
#pragma once
#include <string>
#include <vector>

namespace squall::draw {

// One colour of the key. tone: 1 to 8, as in the page's style; hatched: told apart without colour.
struct Key {
    std::string name;
    int tone = 1;
    bool hatched = false;
    bool line = false;    // drawn as a line, not as an area
    bool dashed = false;  // such a line

    std::string classes() const;
};

struct Table {
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;  // the first column names the row; numbers are set to the right
};

std::string table_html(const Table& table, const std::string& caption);

struct Figure {
    std::string title, note;
    std::vector<Key> keys;
    std::string svg;  // what Svg::str() returned
    Table table;      // no rows: there is none
};

std::string figure_html(const Figure& figure);

}  // namespace squall::draw
