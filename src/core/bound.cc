// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/bound.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "src/core/bound_ascent.h"

namespace squall {
namespace {

using namespace bound_detail;

// The jobs' choices of every kEvery-th iteration, the last kKept of them.
class Choices {
  public:
    explicit Choices(std::size_t jobs) : kept_(jobs) {}
    void next() { ++iteration_; }
    void add(const RelaxedJob& job, const Choice& choice) {
        if (iteration_ % kEvery != 0) return;
        auto& kept = kept_[static_cast<std::size_t>(job.job)];
        RelaxedChoice mine{job.columns[static_cast<std::size_t>(choice.column)].config, choice.start};
        if (kept.size() < kKept)
            kept.push_back(mine);
        else
            kept[static_cast<std::size_t>(iteration_ / kEvery) % kKept] = mine;
    }
    std::vector<std::vector<RelaxedChoice>> take() { return std::move(kept_); }

  private:
    static constexpr std::size_t kKept = 24;
    static constexpr int kEvery = 3;
    std::vector<std::vector<RelaxedChoice>> kept_;
    int iteration_ = -1;
};

// Last cycle's prices read at the middle of each new bucket.
Rows warm_prices(const Relaxed& relaxed, const CapacityPrices* warm) {
    Rows prices(relaxed.capacity.size(), std::vector<double>(relaxed.grid.count, 0.0));
    if (!warm || warm->rows.size() != prices.size() || warm->width_s <= 0) return prices;
    for (std::size_t r = 0; r < prices.size(); ++r)
        for (int b = 0; b < relaxed.grid.count; ++b) {
            Seconds at = relaxed.grid.edge(b) + relaxed.grid.width_s / 2 - warm->origin;
            Seconds old = at / warm->width_s;
            if (at >= 0 && old < static_cast<Seconds>(warm->rows[r].size())) prices[r][b] = warm->rows[r][old];
        }
    return prices;
}

}  // namespace

BoundResult lagrangian_bound(const Snapshot& snapshot, const BoundOptions& options) {
    auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(options.time_ms);
    auto relaxed = relax(snapshot, std::max(1, options.buckets), options.horizon);
    BoundResult result;
    Choices choices(snapshot.jobs.size());
    Ascent ascent(relaxed, warm_prices(relaxed, options.warm), static_cast<double>(options.incumbent),
                  [&](std::size_t j, const Choice& choice) {
                      if (j == 0) choices.next();
                      choices.add(relaxed.jobs[j], choice);
                  });
    auto late = [&] { return std::chrono::steady_clock::now() >= deadline || (options.stop && options.stop()); };
    for (result.iterations = 1; result.iterations < options.max_iterations && !late(); ++result.iterations)
        if (!ascent.step()) break;
    // Floating sums are off by far less than one part in 10^9; integer costs round each job by under one micro.
    result.bound = static_cast<Micro>(std::floor(ascent.best() * (1 - 1e-9))) - static_cast<Micro>(relaxed.jobs.size());
    result.bound = std::max<Micro>(0, result.bound);
    result.prices = {relaxed.grid.origin, relaxed.grid.width_s, static_cast<int>(snapshot.classes.size()),
                     ascent.prices()};
    result.relaxed = choices.take();
    return result;
}

}  // namespace squall
