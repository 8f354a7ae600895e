// SPDX-License-Identifier: GPL-3.0-or-later
// Capacity prices summed up, so that what a job's GPUs are worth to the others costs two look-ups. Used by the line
// search and by find_best().
#pragma once
#include <algorithm>
#include <vector>

#include "src/core/plan.h"

namespace squall {

class PriceTable {
  public:
    PriceTable(const Snapshot& snapshot, const CapacityPrices* prices) : snapshot_(snapshot) {
        if (!prices) return;
        origin_ = prices->origin, width_s_ = prices->width_s;
        for (int c = 0; c < prices->classes; ++c) {
            auto& sums = sums_.emplace_back(1, 0.0);
            for (double price : prices->rows[static_cast<std::size_t>(c)])
                sums.push_back(sums.back() + price * static_cast<double>(width_s_));
        }
    }
    // Micro: what the capacity is worth from `from` to `to` (epoch).
    double capacity(const Config& config, Seconds from, Seconds to) const {
        if (static_cast<std::size_t>(config.class_id) >= sums_.size()) return 0;
        return gpus_of(node_class(config), config) * (until(config.class_id, to) - until(config.class_id, from));
    }
    // The same and, for a rented class, its share of the node's rent.
    double with_rent(const Config& config, Seconds from, Seconds to) const {
        const auto& c = node_class(config);
        double rent = c.rented ? static_cast<double>(c.price_micro_h) / kHour / std::max(1, c.gpus) : 0;
        return capacity(config, from, to) + gpus_of(c, config) * rent * static_cast<double>(to - from);
    }

  private:
    const NodeClass& node_class(const Config& config) const {
        return snapshot_.classes[static_cast<std::size_t>(config.class_id)];
    }
    double until(int class_id, Seconds at) const {
        const auto& sums = sums_[static_cast<std::size_t>(class_id)];
        double b = static_cast<double>(std::max<Seconds>(0, at - origin_)) / static_cast<double>(width_s_);
        auto whole = std::min(static_cast<std::size_t>(b), sums.size() - 1);
        double rest = whole + 1 < sums.size() ? (b - static_cast<double>(whole)) * (sums[whole + 1] - sums[whole]) : 0;
        return sums[whole] + rest;
    }
    const Snapshot& snapshot_;
    Seconds origin_ = 0, width_s_ = 1;
    std::vector<std::vector<double>> sums_;  // by class: up to each bucket's edge
};

}  // namespace squall
