// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/bound_ascent.h"

#include <algorithm>
#include <cmath>

namespace squall::bound_detail {
namespace {

// Squared length of the direction, where a zero price that would fall further does not count.
double length_squared(const Rows& direction, const Rows& prices) {
    double sum = 0;
    for (std::size_t r = 0; r < direction.size(); ++r)
        for (std::size_t b = 0; b < direction[r].size(); ++b)
            if (prices[r][b] > 0 || direction[r][b] > 0) sum += direction[r][b] * direction[r][b];
    return sum;
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

}  // namespace

Ascent::Ascent(const Relaxed& relaxed, Rows prices, double target, OnChoice on_choice)
    : relaxed_(relaxed), on_choice_(std::move(on_choice)), best_prices_(std::move(prices)) {
    best_ = evaluate(best_prices_);
    average_ = excess_;
    target_ = target > 0 ? target : 2 * std::max(1.0, best_);
}

double Ascent::evaluate(const Rows& prices) {
    excess_.assign(prices.size(), std::vector<double>(static_cast<std::size_t>(relaxed_.grid.count), 0.0));
    double value = relaxed_.constant;
    auto charged = charge(relaxed_, prices);
    for (std::size_t j = 0; j < relaxed_.jobs.size(); ++j) {
        const auto& job = relaxed_.jobs[j];
        auto choice = cheapest(job, relaxed_.grid, charged);
        value += choice.cost;
        on_choice_(j, choice);
        add_use(relaxed_, job.columns[static_cast<std::size_t>(choice.column)], choice.start, excess_);
    }
    for (std::size_t r = 0; r < prices.size(); ++r)
        for (std::size_t b = 0; b < prices[r].size(); ++b) {
            value -= prices[r][b] * relaxed_.capacity[r][b];
            excess_[r][b] -= relaxed_.capacity[r][b];
        }
    return value;
}

bool Ascent::step() {
    double length = length_squared(average_, best_prices_);
    if (length <= 0) return false;
    double step = length_ * (target_ - best_) / length;
    prices_ = best_prices_;
    for (std::size_t r = 0; r < prices_.size(); ++r)
        for (std::size_t b = 0; b < prices_[r].size(); ++b)
            prices_[r][b] = std::max(0.0, prices_[r][b] + step * average_[r][b]);
    double value = evaluate(prices_), direction = dot(average_, excess_);
    blend(average_, excess_, 0.1);
    if (value > best_) {
        if (direction >= 0) length_ = std::min(2.0, length_ * 1.1);
        best_ = value;
        best_prices_ = prices_;
        without_gain_ = 0;
    } else if (++without_gain_ >= 20) {
        length_ = std::max(1e-4, length_ * 0.66);
        without_gain_ = 0;
    }
    if (best_ > 0.98 * target_) target_ = 1.03 * best_;
    return true;
}

}  // namespace squall::bound_detail
