// SPDX-License-Identifier: GPL-3.0-or-later
// Prices are raised by the volume algorithm (Barahona and Anbil, Mathematical Programming 87, 2000): step along a
// running average of the subgradients, from the best prices so far. It needs no solver and each iteration
// is one pass over the jobs.
#include "src/core/bound.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "src/core/bound_columns.h"

namespace squall {
namespace {

using namespace bound_detail;
using Rows = std::vector<std::vector<double>>;

struct Evaluation {
    double value = 0;  // the Lagrangian: a valid bound at these prices
    Rows excess;       // use − capacity: a subgradient
};

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

Evaluation evaluate(const Relaxed& relaxed, const Rows& prices, Choices& choices) {
    choices.next();

    Evaluation e;
    e.excess.assign(prices.size(), std::vector<double>(relaxed.grid.count, 0.0));
    e.value = relaxed.constant;
    auto charged = charge(relaxed, prices);
    for (const auto& job : relaxed.jobs) {
        auto choice = cheapest(job, relaxed.grid, charged);
        e.value += choice.cost;
        choices.add(job, choice);
        add_use(relaxed, job.columns[choice.column], choice.start, e.excess);
    }
    for (std::size_t r = 0; r < prices.size(); ++r)
        for (int b = 0; b < relaxed.grid.count; ++b) {
            e.value -= prices[r][b] * relaxed.capacity[r][b];
            e.excess[r][b] -= relaxed.capacity[r][b];
        }
    return e;
}

// Squared length of the direction, where a zero price that would fall further does not count.
double length_squared(const Rows& direction, const Rows& prices) {
    double sum = 0;
    for (std::size_t r = 0; r < direction.size(); ++r)
        for (std::size_t b = 0; b < direction[r].size(); ++b)
            if (prices[r][b] > 0 || direction[r][b] > 0) sum += direction[r][b] * direction[r][b];
    return sum;
}

Rows stepped(const Rows& prices, const Rows& direction, double step) {
    Rows out = prices;
    for (std::size_t r = 0; r < out.size(); ++r)
        for (std::size_t b = 0; b < out[r].size(); ++b) out[r][b] = std::max(0.0, out[r][b] + step * direction[r][b]);
    return out;
}

void blend(Rows& average, const Rows& fresh, double weight) {
    for (std::size_t r = 0; r < average.size(); ++r)
        for (std::size_t b = 0; b < average[r].size(); ++b) average[r][b] += weight * (fresh[r][b] - average[r][b]);
}

double dot(const Rows& a, const Rows& b) {
    double sum = 0;
    for (std::size_t r = 0; r < a.size(); ++r)
        for (std::size_t i = 0; i < a[r].size(); ++i) sum += a[r][i] * b[r][i];
    return sum;
}

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

// The volume algorithm's state between iterations.
struct Ascent {
    Rows best_prices;
    double best = 0;
    Rows average;
    double target = 0;
    double step = 0.1;
    int without_gain = 0;

    void learn(const Rows& prices, const Evaluation& e) {
        double direction = dot(average, e.excess);
        blend(average, e.excess, 0.1);
        if (e.value > best) {
            if (direction >= 0) step = std::min(2.0, step * 1.1);
            best = e.value;
            best_prices = prices;
            without_gain = 0;
        } else if (++without_gain >= 20) {
            step = std::max(1e-4, step * 0.66);
            without_gain = 0;
        }
        if (best > 0.98 * target) target = 1.03 * best;
    }
};

}  // namespace

BoundResult lagrangian_bound(const Snapshot& snapshot, const BoundOptions& options) {
    auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(options.time_ms);
    auto relaxed = relax(snapshot, std::max(1, options.buckets), options.horizon);
    BoundResult result;
    auto prices = warm_prices(relaxed, options.warm);
    Choices choices(snapshot.jobs.size());
    auto first = evaluate(relaxed, prices, choices);
    Ascent ascent{prices, first.value, first.excess, 0};
    ascent.target = options.incumbent > 0 ? static_cast<double>(options.incumbent) : 2 * std::max(1.0, first.value);
    for (result.iterations = 1; result.iterations < options.max_iterations; ++result.iterations) {
        if (std::chrono::steady_clock::now() >= deadline) break;
        double length = length_squared(ascent.average, ascent.best_prices);
        if (length <= 0) break;  // every capacity is respected or free: the bound is tight
        prices = stepped(ascent.best_prices, ascent.average, ascent.step * (ascent.target - ascent.best) / length);
        ascent.learn(prices, evaluate(relaxed, prices, choices));
    }
    // Floating sums are off by far less than one part in 10^9; integer costs round each job by under one micro.
    result.bound = static_cast<Micro>(std::floor(ascent.best * (1 - 1e-9))) - static_cast<Micro>(relaxed.jobs.size());
    result.bound = std::max<Micro>(0, result.bound);
    result.prices = {relaxed.grid.origin, relaxed.grid.width_s, static_cast<int>(snapshot.classes.size()),
                     ascent.best_prices};
    result.relaxed = choices.take();
    return result;
}

double price_of(const CapacityPrices& prices, int class_id, double gpus, Seconds start, Seconds end) {
    if (class_id >= prices.classes || prices.width_s <= 0) return 0;
    const auto& row = prices.rows[class_id];
    Seconds from = std::max<Seconds>(0, start - prices.origin);
    Seconds to = std::min(end - prices.origin, static_cast<Seconds>(row.size()) * prices.width_s);
    double sum = 0;
    while (from < to) {
        Seconds b = from / prices.width_s, stop = std::min(to, (b + 1) * prices.width_s);
        sum += row[b] * static_cast<double>(stop - from);
        from = stop;
    }
    return gpus * sum;
}

}  // namespace squall
