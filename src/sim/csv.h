// SPDX-License-Identifier: GPL-3.0-or-later
// Tables as text files, row by row with line numbers: commas or another separator, quotes, columns by name. Used by the
// importers; numbers are checked as they are read.
#pragma once
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/sim/workload.h"

namespace squall::sim {

class Table {
  public:
    // header: the first line names the columns. error() is set when the file cannot be read or a column is missing.
    Table(const std::string& path, char separator, const std::vector<std::string>& needed, bool header = true);

    const std::string& error() const { return error_; }
    const std::string& path() const { return path_; }
    int line() const { return line_; }
    // Next row; blank lines are skipped. A row with another number of fields than the header sets complaint().
    bool next();
    const std::vector<std::string>& fields() const { return fields_; }
    int column(std::string_view name) const;               // -1: not there
    const std::string& text(std::string_view name) const;  // "" where the column is missing
    // The number in this column; notes what is wrong with it otherwise. Least and most are accepted.
    double number(std::string_view name, double least, double most);
    std::int64_t whole(std::string_view name, std::int64_t least, std::int64_t most);

    // What is wrong with this row so far; "" = nothing.
    const std::string& complaint() const { return complaint_; }
    void complain(const std::string& what);
    BadRow bad() const { return {path_, line_, complaint_}; }

  private:
    void split(std::string_view line);

    std::string path_, error_, complaint_, raw_;
    char separator_;
    std::ifstream in_;
    std::vector<std::string> names_, fields_;
    int line_ = 0;
};

// Whole text as a number; nothing else around it but blanks.
std::optional<double> parse_number(std::string_view text);

}  // namespace squall::sim
