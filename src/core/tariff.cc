// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/tariff.h"

#include <algorithm>

namespace squall {
namespace {

Seconds second_of_day(Seconds at, Seconds utc_offset_s) { return (((at + utc_offset_s) % kDay) + kDay) % kDay; }

}  // namespace

Micro tariff_at(const NodeClass& c, Seconds at, Seconds utc_offset_s) {
    if (c.tariff.empty()) return 0;
    Seconds day_s = second_of_day(at, utc_offset_s);
    Micro price = c.tariff.back().price_micro_kwh;
    for (const auto& step : c.tariff)
        if (step.from_s <= day_s) price = step.price_micro_kwh;
    return price;
}

Seconds next_tariff_step(const NodeClass& c, Seconds at, Seconds utc_offset_s) {
    if (c.tariff.size() < 2) return kForever;
    Seconds day_s = second_of_day(at, utc_offset_s), midnight = at - day_s;
    for (const auto& step : c.tariff)
        if (step.from_s > day_s) return midnight + step.from_s;
    return midnight + kDay + c.tariff.front().from_s;
}

Micro least_tariff(const NodeClass& c, Seconds from, Seconds to, Seconds utc_offset_s) {
    Micro least = tariff_at(c, from, utc_offset_s);
    Seconds end = std::min(to, from + kDay);
    for (Seconds at = next_tariff_step(c, from, utc_offset_s); at < end; at = next_tariff_step(c, at, utc_offset_s))
        least = std::min(least, tariff_at(c, at, utc_offset_s));
    return least;
}

int billed_watts(const NodeClass& c, int busy) {
    if (busy <= 0 || c.busy_watts.empty()) return 0;
    int watts = c.busy_watts[std::min<std::size_t>(busy, c.busy_watts.size()) - 1];
    return std::max(0, watts - (c.power_down ? 0 : c.idle_watts));
}

Micro energy_cost(const NodeClass& c, int watts, Seconds from, Seconds to, Seconds utc_offset_s) {
    if (watts <= 0 || c.tariff.empty()) return 0;
    Micro sum = 0;
    while (from < to) {
        Seconds stop = std::min(to, next_tariff_step(c, from, utc_offset_s));
        auto watt_s = static_cast<__int128>(watts) * c.pue_milli * (stop - from);
        auto per = static_cast<__int128>(1000) * 1000 * kHour;  // W·‰·s → kWh
        sum += static_cast<Micro>((watt_s * tariff_at(c, from, utc_offset_s) + per - 1) / per);
        from = stop;
    }
    return sum;
}

}  // namespace squall
