// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/amount.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

namespace squall {
namespace {

constexpr std::int64_t kMostWhole = 1000000000;  // digits that cannot overflow once scaled

// Decimal text scaled by 10^6; nullopt on anything else.
std::optional<std::int64_t> parse_decimal(std::string_view text) {
    std::int64_t whole = 0, part = 0;
    int digits = 0, decimals = 0;
    bool point = false;
    for (char c : text) {
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9') return {};
        ++digits;
        if (!point) {
            whole = whole * 10 + (c - '0');
            if (whole >= kMostWhole) return {};
        } else if (++decimals <= 6) {
            part = part * 10 + (c - '0');
        } else {
            return {};
        }
    }
    if (digits == 0) return {};
    for (; decimals < 6; ++decimals) part *= 10;
    return whole * 1000000 + part;
}

bool strip_suffix(std::string_view& text, std::string_view suffix) {
    if (text.size() <= suffix.size() || text.substr(text.size() - suffix.size()) != suffix) return false;
    text.remove_suffix(suffix.size());
    return true;
}

// H:MM:SS or M:SS.
std::optional<Seconds> parse_clock_duration(std::string_view text) {
    Seconds total = 0;
    int parts = 0;
    while (true) {
        auto colon = text.find(':');
        auto part = parse_decimal(text.substr(0, colon));
        if (!part || *part % 1000000 != 0 || ++parts > 3 || (parts > 1 && *part >= 60000000)) return {};
        total = total * 60 + *part / 1000000;
        if (colon == text.npos) return parts >= 2 ? std::optional(total) : std::nullopt;
        text.remove_prefix(colon + 1);
    }
}

}  // namespace

std::optional<Micro> parse_amount(std::string_view text) { return parse_decimal(text); }

std::optional<Micro> parse_amount_per_hour(std::string_view text) {
    strip_suffix(text, "/h");
    return parse_decimal(text);
}

std::optional<Seconds> parse_duration(std::string_view text) {
    if (auto ms = parse_duration_ms(text); ms && *ms % 1000 == 0) return *ms / 1000;
    return {};
}

std::optional<std::int64_t> parse_duration_ms(std::string_view text) {
    constexpr std::int64_t kMost = INT64_C(10) * 366 * kDay * 1000;
    Seconds days = 0;
    if (auto dash = text.find('-'); dash != text.npos) {
        auto d = parse_decimal(text.substr(0, dash));
        // D-H, D-H:MM, D-H:MM:SS: after days the first number is hours, as in Slurm.
        std::string clock(text.substr(dash + 1));
        for (auto colons = std::count(clock.begin(), clock.end(), ':'); colons < 2; ++colons) clock += ":00";
        auto rest = parse_clock_duration(clock);
        if (!d || *d % 1000000 != 0 || !rest || *d / 1000000 > 3660) return {};
        days = *d / 1000000;
        return (days * kDay + *rest) * 1000;
    }
    if (text.find(':') != text.npos) {
        auto clock = parse_clock_duration(text);
        return clock && *clock * 1000 <= kMost ? std::optional(*clock * 1000) : std::nullopt;
    }
    std::int64_t unit_ms = 1000;
    struct Unit {
        std::string_view suffix;
        std::int64_t ms;
    };
    for (auto unit : {Unit{"ms", 1}, Unit{"s", 1000}, Unit{"m", 60000}, Unit{"h", 3600000}, Unit{"d", 86400000}})
        if (strip_suffix(text, unit.suffix)) {
            unit_ms = unit.ms;
            break;
        }
    auto value = parse_decimal(text);
    if (!value) return {};
    auto ms = static_cast<__int128>(*value) * unit_ms;
    if (ms % 1000000 != 0 || ms / 1000000 > kMost) return {};
    return static_cast<std::int64_t>(ms / 1000000);
}

std::string format_amount(Micro amount) {
    Micro cents = (std::llabs(amount) + 5000) / 10000;
    return fmt::format("{}{}.{:02}", amount < 0 && cents > 0 ? "-" : "", cents / 100, cents % 100);
}

std::string format_amount_exact(Micro amount) {
    auto text =
        fmt::format("{}{}.{:06}", amount < 0 ? "-" : "", std::llabs(amount) / 1000000, std::llabs(amount) % 1000000);
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text;
}

std::string format_duration(Seconds s) {
    if (s < 0) return "-" + format_duration(-s);
    if (s < 120) return fmt::format("{} s", s);
    if (s < 2 * kHour) return fmt::format("{} min", (s + 30) / 60);
    Seconds unit = s < 2 * kDay ? kHour : kDay;
    return fmt::format("{}.{} {}", s / unit, s % unit * 10 / unit, unit == kHour ? "h" : "days");
}

std::string format_clock(Seconds at, Seconds now) {
    auto local = [](Seconds t) {
        time_t time = t;
        tm parts{};
        localtime_r(&time, &parts);
        return parts;
    };
    tm then = local(at), today = local(now);
    auto text = fmt::format("{:02}:{:02}:{:02}", then.tm_hour, then.tm_min, then.tm_sec);
    if (then.tm_year == today.tm_year && then.tm_yday == today.tm_yday) return text;
    return fmt::format("{:04}-{:02}-{:02} {}", then.tm_year + 1900, then.tm_mon + 1, then.tm_mday, text);
}

}  // namespace squall
