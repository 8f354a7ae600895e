// SPDX-License-Identifier: GPL-3.0-or-later
// What a class's draw costs under its tariff, as integers that add up exactly however time is cut into pieces: so that
// the planner may evaluate changes alone and still agree with an evaluation of the whole. Pure; one per class.
#pragma once
#include <vector>

#include "src/core/model.h"

namespace squall {

using Pico = std::int64_t;  // 10^-12 of the currency unit: a millionth of a Micro

class EnergyMeter {
  public:
    EnergyMeter(const NodeClass& node_class, Seconds utc_offset_s);

    bool free() const { return free_; }
    // Cost of [from, to) with this many busy GPUs: watt-seconds above what is paid anyway × price. 0 <= busy.
    Pico cost(int busy, Seconds from, Seconds to) const {
        return free_ ? 0 : weight(busy) * (price_time(to) - price_time(from));
    }
    // Cost of more busy GPUs, before and after, over [from, to).
    Pico more(int before, int after, Seconds from, Seconds to) const {
        return free_ ? 0 : (weight(after) - weight(before)) * (price_time(to) - price_time(from));
    }

  private:
    std::int64_t weight(int busy) const {
        return weights_[busy < static_cast<int>(weights_.size()) ? static_cast<std::size_t>(busy)
                                                                 : weights_.size() - 1];
    }
    // Integral of the price from the epoch on, in micro per kWh × hours.
    std::int64_t price_time(Seconds at) const;

    bool free_ = true;
    Seconds utc_offset_s_ = 0;
    std::vector<std::int64_t> weights_;         // by busy GPUs: watts × PUE in thousandths
    std::vector<std::int64_t> from_s_, price_;  // steps of the day, the first at 0
    std::vector<std::int64_t> until_;           // price × seconds of the day before each step
    std::int64_t day_ = 0;                      // of a whole day
};

// Rounded up: what a node's energy comes to.
inline Micro to_micro(Pico cost) { return (cost + 999999) / 1000000; }

}  // namespace squall
