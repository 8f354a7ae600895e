// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/sim/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace squall::sim {
namespace {

std::string_view trim(std::string_view text) {
    while (!text.empty() && (text.back() == ' ' || text.back() == '\r' || text.back() == '\t')) text.remove_suffix(1);
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    return text;
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
    text = trim(text);
    double value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
    return value;
}

Table::Table(const std::string& path, char separator, const std::vector<std::string>& needed, bool header)
    : path_(path), separator_(separator), in_(path) {
    if (!in_ || in_.peek() == std::ifstream::traits_type::eof()) {
        error_ = path + (in_.is_open() && in_.eof() ? ":1: the file is empty" : ": cannot be read");
        return;
    }
    if (!header) return;
    if (!std::getline(in_, raw_)) {
        error_ = path + ": cannot be read";
        return;
    }
    ++line_;
    if (raw_.rfind("\xEF\xBB\xBF", 0) == 0) raw_.erase(0, 3);
    split(raw_);
    names_ = fields_;
    std::string missing;
    for (const auto& name : needed)
        if (column(name) < 0) missing += (missing.empty() ? "" : ", ") + name;
    if (!missing.empty())
        error_ = fmt::format("{}:1: no column {}; the header has {}", path, missing,
                             raw_.size() > 200 ? raw_.substr(0, 200) + "…" : raw_);
}

void Table::split(std::string_view line) {
    fields_.clear();
    line = trim(line);
    std::string field;
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        char c = line[i];
        if (separator_ != '|' && c == '"') {
            if (quoted && i + 1 < line.size() && line[i + 1] == '"')
                field += line[++i];
            else
                quoted = !quoted;
        } else if (c == separator_ && !quoted) {
            fields_.push_back(std::move(field));
            field.clear();
        } else {
            field += c;
        }
    }
    fields_.push_back(std::move(field));
    if (quoted) complain("a quote is not closed");
}

bool Table::next() {
    complaint_.clear();
    while (std::getline(in_, raw_)) {
        ++line_;
        if (trim(raw_).empty()) continue;
        split(raw_);
        if (!names_.empty() && fields_.size() != names_.size())
            complain(
                fmt::format("{} fields where the header has {}: is the row cut off?", fields_.size(), names_.size()));
        return true;
    }
    return false;
}

int Table::column(std::string_view name) const {
    auto at = std::find(names_.begin(), names_.end(), name);
    return at == names_.end() ? -1 : static_cast<int>(at - names_.begin());
}

const std::string& Table::text(std::string_view name) const {
    static const std::string none;
    int c = column(name);
    return c < 0 || c >= static_cast<int>(fields_.size()) ? none : fields_[c];
}

double Table::number(std::string_view name, double least, double most) {
    const auto& field = text(name);
    auto value = parse_number(field);
    if (!value || *value < least || *value > most) {
        complain(fmt::format("{}={}: not a number from {} to {}", name, field, least, most));
        return least;
    }
    return *value;
}

std::int64_t Table::whole(std::string_view name, std::int64_t least, std::int64_t most) {
    return std::llround(number(name, static_cast<double>(least), static_cast<double>(most)));
}

void Table::complain(const std::string& what) {
    if (complaint_.empty()) complaint_ = what;
}

}  // namespace squall::sim
