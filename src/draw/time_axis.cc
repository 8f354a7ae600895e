// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/draw/time_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace squall::draw {
namespace {

constexpr Seconds kSteps[] = {1,        5,         15,        60,        300,        900,        1800,
                              kHour,    2 * kHour, 3 * kHour, 6 * kHour, 12 * kHour, kDay,       2 * kDay,
                              7 * kDay, 14 * kDay, 28 * kDay, 91 * kDay, 182 * kDay, 364 * kDay, 1820 * kDay};

constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

std::tm calendar(Seconds local) {
    std::time_t at = local;
    std::tm tm{};
    gmtime_r(&at, &tm);
    return tm;
}

std::string tick_text(const TimeAxis& axis, Seconds at, Seconds step) {
    if (!axis.by_clock) return span_text(at - axis.start);
    auto tm = calendar(at + axis.utc_offset_s);
    if (step >= kDay) return fmt::format("{} {}", tm.tm_mday, kMonths[tm.tm_mon]);
    if (tm.tm_hour + tm.tm_min + tm.tm_sec == 0)
        return fmt::format("{} {} {}", kDays[tm.tm_wday], tm.tm_mday, kMonths[tm.tm_mon]);
    return step >= 60 ? fmt::format("{:02}:{:02}", tm.tm_hour, tm.tm_min)
                      : fmt::format("{:02}:{:02}:{:02}", tm.tm_hour, tm.tm_min, tm.tm_sec);
}

}  // namespace

double TimeAxis::percent(Seconds at) const {
    double length = static_cast<double>(std::max<Seconds>(1, end - start));
    return std::clamp(100 * static_cast<double>(at - start) / length, 0.0, 100.0);
}

std::string TimeAxis::name(Seconds at) const {
    if (!by_clock) return span_text(at - start);
    auto tm = calendar(at + utc_offset_s);
    return fmt::format("{} {} {} {} {:02}:{:02}:{:02}", kDays[tm.tm_wday], tm.tm_mday, kMonths[tm.tm_mon],
                       tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

std::vector<std::pair<Seconds, std::string>> time_ticks(const TimeAxis& axis, int most) {
    Seconds length = std::max<Seconds>(1, axis.end - axis.start), step = length;
    for (Seconds s : kSteps)
        if (length / s <= most) {
            step = s;
            break;
        }
    Seconds zero = axis.by_clock ? -axis.utc_offset_s : axis.start, first = axis.start - zero;
    std::vector<std::pair<Seconds, std::string>> list;
    for (Seconds at = (first + step - 1) / step * step + zero; at <= axis.end; at += step)
        list.emplace_back(at, tick_text(axis, at, step));
    return list;
}

std::string span_text(Seconds span) {
    if (span < 0) return "−" + span_text(-span);
    auto two = [](Seconds a, const char* one, Seconds b, const char* other) {
        return b == 0 ? fmt::format("{} {}", a, one) : fmt::format("{} {} {} {}", a, one, b, other);
    };
    if (span >= kDay) return two(span / kDay, "d", span % kDay / kHour, "h");
    if (span >= kHour) return two(span / kHour, "h", span % kHour / 60, "min");
    if (span >= 60) return two(span / 60, "min", span % 60, "s");
    return fmt::format("{} s", span);
}

}  // namespace squall::draw
