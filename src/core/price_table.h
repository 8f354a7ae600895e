// SPDX-License-Identifier: GPL-3.0-or-later
// Capacity prices summed up, so that what a job's GPUs are worth to the others costs two look-ups. Used by the line
// search.
#pragma once
#include <algorithm>
#include <vector>

#include "src/core/bound.h"
#include "src/core/shop.h"

namespace squall {

// What a configuration's GPUs cost over a time: the capacity prices and the class's own cost, summed up once.
class PriceTable {
  public:
    PriceTable(const Snapshot& snapshot, const BoundResult* relaxed) : snapshot_(snapshot) {
        if (!relaxed) return;
        width_s_ = relaxed->prices.width_s;
        for (int c = 0; c < relaxed->prices.classes; ++c) {
            auto& sums = sums_.emplace_back(1, 0.0);
            for (double price : relaxed->prices.rows[static_cast<std::size_t>(c)])
                sums.push_back(sums.back() + price * static_cast<double>(width_s_));
        }
    }
    // micro; from and to in ticks.
    double of(const Config& config, Tick from, Tick to) const {
        const auto& c = snapshot_.classes[static_cast<std::size_t>(config.class_id)];
        double share = config.shards > 0 ? static_cast<double>(config.shards) / std::max(1, c.shards_per_gpu) : 0;
        double gpus = config.nodes * (config.shards > 0 ? share : config.gpus);
        double sum = 0;
        if (!sums_.empty()) sum = until(config.class_id, to) - until(config.class_id, from);
        if (c.rented) sum += static_cast<double>(c.price_micro_h) / kHour / std::max(1, c.gpus) * (to - from);
        return gpus * sum;
    }

  private:
    double until(int class_id, Tick at) const {
        const auto& sums = sums_[static_cast<std::size_t>(class_id)];
        double b = static_cast<double>(std::max<Tick>(0, at)) / static_cast<double>(width_s_);
        auto whole = std::min(static_cast<std::size_t>(b), sums.size() - 1);
        double rest = whole + 1 < sums.size() ? (b - static_cast<double>(whole)) * (sums[whole + 1] - sums[whole]) : 0;
        return sums[whole] + rest;
    }
    const Snapshot& snapshot_;
    Seconds width_s_ = 1;
    std::vector<std::vector<double>> sums_;  // by class: up to each bucket's edge
};

}  // namespace squall
