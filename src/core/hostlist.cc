// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/hostlist.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace squall {
namespace {

constexpr std::size_t kMostNames = 65536;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
}

std::optional<long> number(std::string_view text) {
    long value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || text.size() > 9 || error != std::errc() || end != text.data() + text.size() || value < 0)
        return {};
    return value;
}

// One bracket's content, "1-3,07": its texts with the width of the left end.
bool expand_bracket(std::string_view inside, std::vector<std::string>& out, std::string& error) {
    while (true) {
        auto comma = inside.find(',');
        auto part = inside.substr(0, comma);
        auto dash = part.find('-');
        auto low_text = part.substr(0, dash), high_text = dash == part.npos ? low_text : part.substr(dash + 1);
        auto low = number(low_text), high = number(high_text);
        if (!low || !high || *high < *low || static_cast<std::size_t>(*high - *low) >= kMostNames)
            return error = fmt::format("\"{}\" is not a range of numbers", part), false;
        for (long i = *low; i <= *high; ++i) out.push_back(fmt::format("{:0{}}", i, low_text.size()));
        if (comma == inside.npos) return true;
        inside.remove_prefix(comma + 1);
    }
}

// One item without a top-level comma; several brackets multiply.
bool expand_item(std::string_view item, std::vector<std::string>& out, std::string& error) {
    std::vector<std::string> names{""};
    while (!item.empty()) {
        std::vector<std::string> pieces;
        if (item.front() == '[') {
            auto close = item.find(']');
            if (close == item.npos) return error = "a [ is not closed", false;
            if (!expand_bracket(item.substr(1, close - 1), pieces, error)) return false;
            item.remove_prefix(close + 1);
        } else {
            std::size_t length = 0;
            while (length < item.size() && is_name(item[length])) ++length;
            if (length == 0) return error = fmt::format("'{}' does not belong in a node name", item.front()), false;
            pieces.emplace_back(item.substr(0, length));
            item.remove_prefix(length);
        }
        if (names.size() * pieces.size() > kMostNames) return error = "more than 65536 nodes", false;
        std::vector<std::string> grown;
        for (const auto& name : names)
            for (const auto& piece : pieces) grown.push_back(name + piece);
        names = std::move(grown);
    }
    out.insert(out.end(), names.begin(), names.end());
    return true;
}

}  // namespace

std::optional<std::vector<std::string>> expand_hostlist(std::string_view text, std::string& error) {
    std::vector<std::string> out;
    int depth = 0;
    std::size_t from = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size()) depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
        if (i < text.size() && (text[i] != ',' || depth != 0)) continue;
        if (i == from) return error = "an empty name", std::nullopt;
        if (!expand_item(text.substr(from, i - from), out, error)) return std::nullopt;
        if (out.size() > kMostNames) return error = "more than 65536 nodes", std::nullopt;
        from = i + 1;
    }
    return out;
}

std::string compress_hostlist(const std::vector<std::string>& names) {
    auto split = [](const std::string& name) {  // prefix, digits
        std::size_t at = name.size();
        while (at > 0 && is_digit(name[at - 1]) && name.size() - at < 9) --at;
        return std::pair(name.substr(0, at), name.substr(at));
    };
    std::string out;
    for (std::size_t i = 0; i < names.size();) {
        auto [prefix, digits] = split(names[i]);
        std::string ranges;
        std::size_t next = i;
        while (!digits.empty() && next < names.size()) {
            auto [p, first] = split(names[next]);
            if (p != prefix || first.empty()) break;
            long low = *number(first), high = low;
            std::size_t end = next + 1;
            while (end < names.size() &&
                   split(names[end]) == std::pair(prefix, fmt::format("{:0{}}", high + 1, first.size())))
                ++high, ++end;
            ranges += fmt::format("{}{}{}", ranges.empty() ? "" : ",", first,
                                  high > low ? fmt::format("-{:0{}}", high, first.size()) : "");
            next = end;
        }
        if (!out.empty()) out += ',';
        if (next <= i + 1) {
            out += names[i++];
        } else {
            out += prefix + "[" + ranges + "]";
            i = next;
        }
    }
    return out;
}

}  // namespace squall
