// SPDX-License-Identifier: GPL-3.0-or-later
// Reading and counting injected failures: see local_faults.h.
#include "cloud/local_faults.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string_view>

namespace squall::cloud {
namespace {

constexpr std::array<const char*, 12> kNames = {"no_capacity", "quota",      "throttled",   "auth",
                                                "transient",   "permanent",  "lost_answer", "never_boots",
                                                "slow_boot",   "dies_after", "list_fails",  "terminate_fails"};

bool has_value(FaultKind kind) { return kind == FaultKind::slow_boot || kind == FaultKind::dies_after; }

std::optional<FaultKind> kind_of(std::string_view name) {
    for (std::size_t i = 0; i < kNames.size(); i++)
        if (name == kNames[i]) return static_cast<FaultKind>(i);
    return std::nullopt;
}

bool number(const std::string& text, long* value) {
    auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), *value);
    return bad == std::errc() && end == text.data() + text.size() && *value >= 0;
}

}  // namespace

LocalFaults::Line LocalFaults::parse(const std::string& text) {
    Line line;
    line.text = text;
    std::istringstream words(text.substr(0, text.find('#')));
    std::vector<std::string> word;
    for (std::string one; words >> one;) word.push_back(one);
    if (word.empty()) return line;
    line.node = word[0];
    auto kind = word.size() > 1 ? kind_of(word[1]) : std::nullopt;
    if (!kind) {
        line.error = fmt::format("\"{}\" is no fault; write NODE FAULT [VALUE] [COUNT] with one of {}",
                                 word.size() > 1 ? word[1] : "", fmt::join(kNames, ", "));
        return line;
    }
    std::size_t next = 2;
    long value = 0, left = -1;
    bool good = !has_value(*kind) || (next < word.size() && number(word[next++], &value));
    if (next < word.size()) good = good && number(word[next++], &left);
    if (!good || next != word.size()) {
        line.error = fmt::format("{}: write NODE {}{} [COUNT]", word[1], word[1], has_value(*kind) ? " SECONDS" : "");
        return line;
    }
    line.kind = kind;
    line.value = value;
    line.left = left;
    return line;
}

std::vector<LocalFaults::Line> LocalFaults::read() const {
    std::vector<Line> lines;
    std::ifstream in(path_);
    for (std::string text; std::getline(in, text);) lines.push_back(parse(text));
    return lines;
}

void LocalFaults::write(const std::vector<Line>& lines) const {
    std::string part = path_ + ".part";
    {
        std::ofstream out(part);
        for (const Line& line : lines) {
            if (!line.kind || line.left < 0) {
                out << line.text << '\n';
            } else if (line.left > 0) {
                out << line.node << ' ' << kNames[static_cast<std::size_t>(*line.kind)];
                if (has_value(*line.kind)) out << ' ' << line.value;
                out << ' ' << line.left << '\n';
            }
        }
    }
    (void)std::rename(part.c_str(), path_.c_str());
}

std::optional<Seconds> LocalFaults::take(const std::string& node, FaultKind kind) {
    std::vector<Line> lines = read();
    for (Line& line : lines) {
        if (line.kind != kind || line.left == 0 || (line.node != "*" && line.node != node)) continue;
        if (line.left > 0) {
            line.left--;
            write(lines);
        }
        return line.value;
    }
    return std::nullopt;
}

std::string LocalFaults::check() {
    int number = 0;
    for (const Line& line : read()) {
        number++;
        if (!line.error.empty()) return fmt::format("{}:{}: {}", path_, number, line.error);
    }
    return "";
}

}  // namespace squall::cloud
