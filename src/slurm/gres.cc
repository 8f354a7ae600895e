// SPDX-License-Identifier: GPL-3.0-or-later
// Slurm's texts for generic resources: see gres.h.
#include "src/slurm/gres.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

namespace squall::slurm {
namespace {

std::optional<int> number(std::string_view text) {
    int value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
    return value;
}

// Splits at `separator` outside parentheses.
std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    int depth = 0;
    std::size_t start = 0;
    for (std::size_t i = 0; i <= text.size(); i++) {
        if (i < text.size() && text[i] == '(') depth++;
        if (i < text.size() && text[i] == ')') depth--;
        if (i == text.size() || (text[i] == separator && depth == 0)) {
            if (i > start) parts.push_back(text.substr(start, i - start));
            start = i + 1;
        }
    }
    return parts;
}

// "0-1,3" → 0 1 3
std::vector<int> parse_ranges(std::string_view text) {
    std::vector<int> values;
    for (std::string_view part : split(text, ',')) {
        auto dash = part.find('-');
        auto first = number(part.substr(0, dash));
        auto last = dash == std::string_view::npos ? first : number(part.substr(dash + 1));
        if (!first || !last || *last - *first > 4096) continue;
        for (int i = *first; i <= *last; i++) values.push_back(i);
    }
    return values;
}

// What stands in the parentheses: "IDX:0-1", "S:0-1" (sockets, not used), "2/4,0/4".
void parse_detail(std::string_view detail, Gres& gres) {
    if (detail.substr(0, 4) == "IDX:") {
        gres.indices = parse_ranges(detail.substr(4));
    } else if (detail.find('/') != std::string_view::npos) {
        std::vector<std::string_view> parts = split(detail, ',');
        for (std::size_t i = 0; i < parts.size(); i++) {
            int held = number(parts[i].substr(0, parts[i].find('/'))).value_or(0);
            gres.per_index.push_back(held);
            if (held > 0) gres.indices.push_back(static_cast<int>(i));
        }
    }
}

std::optional<Gres> parse_one(std::string_view part) {
    Gres gres;
    if (part.substr(0, 5) == "gres:" || part.substr(0, 5) == "gres/") part.remove_prefix(5);
    if (auto open = part.find('('); open != std::string_view::npos) {
        auto close = part.rfind(')');
        if (close != std::string_view::npos && close > open)
            parse_detail(part.substr(open + 1, close - open - 1), gres);
        part = part.substr(0, open);
    }
    std::vector<std::string_view> words;
    for (std::string_view word : split(part, ':'))
        for (std::string_view piece : split(word, '=')) words.push_back(piece);
    if (words.empty() || words.size() > 3) return std::nullopt;
    gres.name = words[0];
    auto count = number(words.back());
    if (words.size() > 1 && count) gres.count = *count;
    if (words.size() == 3 && !count) return std::nullopt;
    if (words.size() == 3 || (words.size() == 2 && !count)) gres.type = words[1];
    return gres;
}

std::int64_t megabytes(std::string_view text) {
    double value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return 0;
    char unit = end < text.data() + text.size() ? *end : 'M';
    double factor = unit == 'K' ? 1.0 / 1024 : unit == 'G' ? 1024 : unit == 'T' ? 1024.0 * 1024 : 1;
    return std::llround(value * factor);
}

}  // namespace

std::vector<Gres> parse_gres(std::string_view text) {
    std::vector<Gres> list;
    if (text == "(null)" || text == "N/A") return list;
    for (std::string_view part : split(text, ','))
        if (auto gres = parse_one(part)) list.push_back(std::move(*gres));
    return list;
}

int count_of(const std::vector<Gres>& list, std::string_view name) {
    int total = 0;
    for (const Gres& gres : list)
        if (gres.name == name) total += gres.count;
    return total;
}

std::string format_gres(std::string_view prefix, std::string_view name, std::string_view type, int count) {
    return type.empty() ? fmt::format("{}{}:{}", prefix, name, count)
                        : fmt::format("{}{}:{}:{}", prefix, name, type, count);
}

TresTotals parse_totals(std::string_view text) {
    TresTotals totals;
    for (std::string_view part : split(text, ',')) {
        if (part.substr(0, 4) == "cpu=") totals.cpus = number(part.substr(4)).value_or(0);
        if (part.substr(0, 4) == "mem=") totals.mem_mb = megabytes(part.substr(4));
    }
    return totals;
}

}  // namespace squall::slurm
