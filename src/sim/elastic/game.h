// SPDX-License-Identifier: GPL-3.0-or-later
// The state that play() moves through: share.cc's own.
#pragma once
#include "src/sim/elastic/elastic.h"

namespace squall::sim {

class Game {
  public:
    Game(const ElasticProblem& problem, const ShareRule& rule);
    Shares share_now();
    double play(const Shares* first);

  private:
    double cost_of_end(int j, double at) const;
    double end_with(int j, int size) const;
    double cost_with(int j, int size) const;
    int least(int j, const std::vector<int>& free) const;
    double urgency(int j, double mean_run) const;
    void grow(Shares& shares, std::vector<int>& free) const;

    const ElasticProblem& problem_;
    const ShareRule& rule_;
    double now_ = 0;
    std::vector<double> left_;
    std::vector<int> size_;
    std::vector<bool> begun_;
    std::vector<int> open_;
};

}  // namespace squall::sim
