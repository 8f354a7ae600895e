// SPDX-License-Identifier: GPL-3.0-or-later
// Raises the prices of a relaxed problem by the volume algorithm (Barahona and Anbil, Mathematical Programming 87,
// 2000): steps along a running average of the subgradients, from the best prices so far. It needs no solver; each step
// is one pass over the jobs. Used by bound.cc.
#pragma once
#include <functional>
#include <vector>

#include "src/core/bound_columns.h"

namespace squall::bound_detail {

using Rows = std::vector<std::vector<double>>;
// Told what each job chose; `job` is a position in Relaxed::jobs. Called for every job in every step.
using OnChoice = std::function<void(std::size_t job, const Choice& choice)>;

class Ascent {
  public:
    // Evaluates once. target: what the bound may reach at most, micro; steers the lengths of the steps. The relaxed
    // problem must outlive the ascent.
    Ascent(const Relaxed& relaxed, Rows prices, double target, OnChoice on_choice);
    // False where every capacity is respected or free: the bound cannot be raised.
    bool step();
    double best() const { return best_; }  // micro: the Lagrangian at prices()
    const Rows& prices() const { return best_prices_; }

  private:
    double evaluate(const Rows& prices);

    const Relaxed& relaxed_;
    OnChoice on_choice_;
    Rows best_prices_, prices_, excess_, average_;  // excess: use − capacity, a subgradient
    double best_ = 0, target_, length_ = 0.1;
    int without_gain_ = 0;
};

}  // namespace squall::bound_detail
