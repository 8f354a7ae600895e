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

// Running averages of the jobs' choices: what the volume algorithm has for a primal solution. Kept with growing
// weights instead of shrinking sums, so that an iteration touches only what was chosen.
class Shares {
  public:
    explicit Shares(const Relaxed& relaxed) {
        for (const auto& job : relaxed.jobs) sums_.emplace_back(job.columns.size());
    }
    void next() {
        weight_ /= 1 - kFresh;
        if (weight_ < 1e100) return;
        for (auto& job : sums_)
            for (auto& s : job) s.share /= weight_, s.start /= weight_;
        weight_ = 1;
    }
    void add(std::size_t job, int column, Seconds since_origin) {
        auto& s = sums_[job][static_cast<std::size_t>(column)];
        s.share += weight_;
        s.start += weight_ * static_cast<double>(since_origin);
    }
    std::vector<std::vector<RelaxedShare>> result(const Relaxed& relaxed, std::size_t jobs) const {
        std::vector<std::vector<RelaxedShare>> out(jobs);
        for (std::size_t j = 0; j < sums_.size(); ++j) {
            double all = 0;
            for (const auto& s : sums_[j]) all += s.share;
            for (std::size_t c = 0; c < sums_[j].size(); ++c)
                if (const auto& s = sums_[j][c]; s.share > 0.01 * all)
                    out[static_cast<std::size_t>(relaxed.jobs[j].job)].push_back(
                        {relaxed.jobs[j].columns[c].config, s.share / all,
                         relaxed.grid.origin + static_cast<Seconds>(s.start / s.share)});
        }
        return out;
    }

  private:
    static constexpr double kFresh = 0.05;
    struct Sum {
        double share = 0, start = 0;
    };
    std::vector<std::vector<Sum>> sums_;
    double weight_ = 1;
};

Evaluation evaluate(const Relaxed& relaxed, const Rows& prices, Shares& shares) {
    shares.next();
    std::size_t index = 0;
    Evaluation e;
    e.excess.assign(prices.size(), std::vector<double>(relaxed.grid.count, 0.0));
    e.value = relaxed.constant;
    auto charged = charge(relaxed, prices);
    for (const auto& job : relaxed.jobs) {
        auto choice = cheapest(job, relaxed.grid, charged);
        e.value += choice.cost;
        shares.add(index++, choice.column, choice.start - relaxed.grid.origin);
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
    Shares shares(relaxed);
    auto first = evaluate(relaxed, prices, shares);
    Ascent ascent{prices, first.value, first.excess, 0};
    ascent.target = options.incumbent > 0 ? static_cast<double>(options.incumbent) : 2 * std::max(1.0, first.value);
    for (result.iterations = 1; result.iterations < options.max_iterations; ++result.iterations) {
        if (std::chrono::steady_clock::now() >= deadline) break;
        double length = length_squared(ascent.average, ascent.best_prices);
        if (length <= 0) break;  // every capacity is respected or free: the bound is tight
        prices = stepped(ascent.best_prices, ascent.average, ascent.step * (ascent.target - ascent.best) / length);
        ascent.learn(prices, evaluate(relaxed, prices, shares));
    }
    // Floating sums are off by far less than one part in 10^9; integer costs round each job by under one micro.
    result.bound = static_cast<Micro>(std::floor(ascent.best * (1 - 1e-9))) - static_cast<Micro>(relaxed.jobs.size());
    result.bound = std::max<Micro>(0, result.bound);
    result.prices = {relaxed.grid.origin, relaxed.grid.width_s, static_cast<int>(snapshot.classes.size()),
                     ascent.best_prices};
    result.relaxed = shares.result(relaxed, snapshot.jobs.size());
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
