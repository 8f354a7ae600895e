// SPDX-License-Identifier: GPL-3.0-or-later
// Tables in the terminal: the -o format, widths, colours, and making untrusted text safe to print. Pure.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/splan/columns.h"

namespace squall::splan {

struct Pick {
    std::size_t column = 0;
    int width = 0;  // 0 = as wide as needed
    bool right = false;
    bool fixed = false;  // cut to width
    std::string before;  // text in front of the column
};

struct FormatResult {
    std::vector<Pick> picks;
    std::string error;  // names what is wrong and what there is
};

// Known columns by name and letter, for parse_format and messages.
struct ColumnName {
    std::string name;
    char letter;
    bool right;
    int width;
};
// "jobid,name,state" or "%8i %.10j %t" as squeue's and sinfo's -o.
FormatResult parse_format(const std::string& format, const std::vector<ColumnName>& columns);

// Control characters become '?', so that a job's name cannot steer the terminal; UTF-8 is kept, broken UTF-8 not.
std::string printable(const std::string& text);
// Columns a text takes on the terminal, and its first `width` columns.
int display_width(const std::string& text);
std::string cut(const std::string& text, int width);

struct TableOptions {
    bool header = true;
    bool colour = false;
    int terminal_width = 0;  // 0 = do not cut
};
std::string layout(const std::vector<Pick>& picks, const std::vector<std::string>& headers,
                   const std::vector<std::vector<Cell>>& cells, const TableOptions& options);

template <typename Row>
std::vector<ColumnName> names_of(const std::vector<Column<Row>>& columns) {
    std::vector<ColumnName> names;
    for (const auto& c : columns) names.push_back({c.name, c.letter, c.right, c.width});
    return names;
}

template <typename Row>
std::string table(const std::vector<Column<Row>>& columns, const std::vector<Pick>& picks, const std::vector<Row>& rows,
                  const View& view, const TableOptions& options) {
    std::vector<std::string> headers;
    for (const auto& pick : picks) headers.push_back(columns[pick.column].header);
    std::vector<std::vector<Cell>> cells;
    for (const auto& row : rows) {
        auto& line = cells.emplace_back();
        for (const auto& pick : picks) {
            auto cell = columns[pick.column].cell(row, view);
            cell.text = printable(cell.text);
            line.push_back(std::move(cell));
        }
    }
    return layout(picks, headers, cells, options);
}

}  // namespace squall::splan
