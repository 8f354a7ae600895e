// SPDX-License-Identifier: GPL-3.0-or-later
// Source of the forms: sbatch(1), --begin and --deadline.
#include "src/core/due_time.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <ctime>
#include <string>
#include <vector>

namespace squall {
namespace {

struct Day {
    int year, month, day;  // full year, 1 … 12, 1 … 31
};
struct Clock {
    int hour = 0, minute = 0, second = 0;
};

std::optional<int> number(std::string_view text, std::size_t least_digits, std::size_t most_digits) {
    if (text.size() < least_digits || text.size() > most_digits) return {};
    if (!std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) return {};
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    for (std::size_t from = 0;;) {
        auto end = text.find(at, from);
        parts.push_back(text.substr(from, end - from));
        if (end == text.npos) return parts;
        from = end + 1;
    }
}

std::optional<Clock> parse_clock(std::string text) {
    int add = -1;  // 12-hour clock: 0 AM, 12 PM
    if (text.size() > 2) {
        auto tail = text.substr(text.size() - 2);
        if (tail == "am" || tail == "pm") {
            add = tail == "pm" ? 12 : 0;
            text.resize(text.size() - 2);
            while (!text.empty() && text.back() == ' ') text.pop_back();
        }
    }
    auto parts = split(text, ':');
    if (parts.size() < 2 || parts.size() > 3) return {};
    auto hour = number(parts[0], 1, 2), minute = number(parts[1], 2, 2);
    auto second = parts.size() == 3 ? number(parts[2], 2, 2) : std::optional(0);
    if (!hour || !minute || !second || *minute > 59 || *second > 59) return {};
    if (add >= 0 && (*hour < 1 || *hour > 12)) return {};
    int h = add >= 0 ? *hour % 12 + add : *hour;
    if (h > 23) return {};
    return Clock{h, *minute, *second};
}

tm local_parts(Seconds at) {
    time_t time = at;
    tm parts{};
    localtime_r(&time, &parts);
    return parts;
}

std::optional<Seconds> epoch(const Day& day, const Clock& clock) {
    tm parts{};
    parts.tm_year = day.year - 1900, parts.tm_mon = day.month - 1, parts.tm_mday = day.day;
    parts.tm_hour = clock.hour, parts.tm_min = clock.minute, parts.tm_sec = clock.second;
    parts.tm_isdst = -1;
    time_t time = mktime(&parts);
    bool shifted = parts.tm_mon != day.month - 1 || parts.tm_mday != day.day;  // 31 February
    return time == -1 || shifted ? std::nullopt : std::optional<Seconds>(time);
}

Day today(Seconds now) {
    tm parts = local_parts(now);
    return {parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday};
}

std::optional<Day> valid(int year, int month, int day) {
    if (month < 1 || month > 12 || day < 1 || day > 31) return {};
    return Day{year, month, day};
}

// MMDD[YY], MM/DD[/YY], MM.DD[.YY], YYYY-MM-DD. Without a year this year, or the next where the day has passed.
std::optional<Day> parse_day(std::string_view text, Seconds now) {
    int year = today(now).year;
    auto without_year = [&](int month, int day) {
        auto d = valid(year, month, day);
        Day t = today(now);
        if (d && std::array{d->month, d->day} < std::array{t.month, t.day}) ++d->year;
        return d;
    };
    if (auto parts = split(text, '-'); parts.size() == 3) {
        auto y = number(parts[0], 4, 4), m = number(parts[1], 1, 2), d = number(parts[2], 1, 2);
        return y && m && d ? valid(*y, *m, *d) : std::nullopt;
    }
    for (char at : {'/', '.'})
        if (auto parts = split(text, at); parts.size() > 1) {
            auto m = number(parts[0], 1, 2), d = number(parts[1], 1, 2);
            if (!m || !d || parts.size() > 3) return {};
            if (parts.size() == 2) return without_year(*m, *d);
            auto y = number(parts[2], 2, 4);
            return y ? valid(*y < 100 ? 2000 + *y : *y, *m, *d) : std::nullopt;
        }
    if (auto all = number(text, 4, 4)) return without_year(*all / 100, *all % 100);
    if (auto all = number(text, 6, 6)) return valid(2000 + *all % 100, *all / 10000, *all / 100 % 100);
    return {};
}

std::optional<Seconds> parse_from_now(std::string_view text, Seconds now) {
    if (text.empty()) return now;
    if (text.front() != '+') return {};
    text.remove_prefix(1);
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
    auto count = number(text.substr(0, digits), 1, 9);
    if (!count) return {};
    auto unit = text.substr(digits);
    struct Unit {
        std::string_view name;
        Seconds s;
    };
    constexpr std::array units{Unit{"seconds", 1}, Unit{"minutes", 60}, Unit{"hours", kHour}, Unit{"days", kDay},
                               Unit{"weeks", 7 * kDay}};
    if (unit.empty()) return now + *count;
    for (const auto& u : units)
        if (u.name.substr(0, unit.size()) == unit) return now + *count * u.s;
    return {};
}

// A time of day: today, or tomorrow where it has passed.
std::optional<Seconds> next(const Clock& clock, Seconds now) {
    Day day = today(now);
    auto at = epoch(day, clock);
    if (at && *at <= now) {
        Day tomorrow = today(*epoch(day, {12, 0, 0}) + kDay);
        at = epoch(tomorrow, clock);
    }
    return at;
}

std::optional<Seconds> parse_word(const std::string& text, Seconds now) {
    if (text == "today") return now;
    if (text == "tomorrow") return epoch(today(*epoch(today(now), {12, 0, 0}) + kDay), {});
    struct Word {
        const char* name;
        Clock clock;
    };
    const std::array words{Word{"midnight", {0, 0, 0}}, Word{"elevenses", {11, 0, 0}}, Word{"noon", {12, 0, 0}},
                           Word{"fika", {15, 0, 0}}, Word{"teatime", {16, 0, 0}}};
    for (const auto& word : words)
        if (text == word.name) return next(word.clock, now);
    return {};
}

}  // namespace

std::optional<Seconds> parse_due_time(std::string_view given, Seconds now) {
    std::string text(given);
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (text.empty() || text.size() > 40) return {};
    if (text.rfind("now", 0) == 0) return parse_from_now(std::string_view(text).substr(3), now);
    if (auto word = parse_word(text, now)) return word;
    if (auto clock = parse_clock(text)) return next(*clock, now);
    if (text.size() >= 9 && text.size() <= 11 &&
        std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }))
        return std::stoll(text);
    // DATE, DATE-CLOCK, YYYY-MM-DDTCLOCK
    auto at = text.find('t');
    if (at == text.npos && text.find(':') != text.npos) at = text.rfind('-');
    auto day = parse_day(std::string_view(text).substr(0, at), now);
    auto clock = at == text.npos ? std::optional(Clock{}) : parse_clock(text.substr(at + 1));
    if (!day || !clock) return {};
    return epoch(*day, *clock);
}

}  // namespace squall
