// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/energy_meter.h"

#include "src/core/tariff.h"

namespace squall {

EnergyMeter::EnergyMeter(const NodeClass& c, Seconds utc_offset_s) : utc_offset_s_(utc_offset_s) {
    weights_.push_back(0);
    if (c.rented || c.tariff.empty() || c.busy_watts.empty()) return;
    free_ = false;
    for (int busy = 1; busy <= static_cast<int>(c.busy_watts.size()); ++busy)
        weights_.push_back(static_cast<std::int64_t>(billed_watts(c, busy)) * c.pue_milli);
    if (c.tariff.front().from_s > 0) from_s_.push_back(0), price_.push_back(c.tariff.back().price_micro_kwh);
    for (const auto& step : c.tariff) from_s_.push_back(step.from_s), price_.push_back(step.price_micro_kwh);
    for (std::size_t i = 0; i < from_s_.size(); ++i) {
        until_.push_back(day_);
        Seconds next = i + 1 < from_s_.size() ? from_s_[i + 1] : kDay;
        day_ += price_[i] * (next - from_s_[i]);
    }
}

std::int64_t EnergyMeter::price_time(Seconds at) const {
    Seconds local = at + utc_offset_s_;
    Seconds day = local >= 0 ? local / kDay : (local - kDay + 1) / kDay, s = local - day * kDay;
    std::size_t i = from_s_.size() - 1;
    while (from_s_[i] > s) --i;
    // Rounding down here, not where costs are made, is what makes pieces add up. price × seconds of 50 years fit.
    auto total = static_cast<__int128>(day_) * day + until_[i] + price_[i] * (s - from_s_[i]);
    return static_cast<std::int64_t>(total / kHour);
}

}  // namespace squall
