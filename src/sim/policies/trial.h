// SPDX-License-Identifier: GPL-3.0-or-later
// The published ancestor's decision: every job that may be moved is placed anew, one after the other, on the cheapest
// configuration with room that meets its due date, else on the fastest. Worked out on a copy of the floor, so that many
// orders can be tried; scored by the published objective. Used by greedy and local-search.
#pragma once
#include <vector>

#include "src/sim/policies/choose.h"

namespace squall::sim {

struct Assignment {
    int job = 0;
    Choice choice;  // config -1: postponed
};

class Trial {
  public:
    explicit Trial(const Control& control);

    // Waiting jobs and those that may be moved, by pressure: now + fastest run − due date, largest first.
    const std::vector<int>& jobs() const { return jobs_; }
    std::vector<Assignment> assign(const std::vector<int>& order) const;
    // Cost until the next end, as published: tardiness and rent of what runs, a hundredfold tardiness of the postponed.
    double score(const std::vector<Assignment>& plan) const;
    static void apply(Control& control, const std::vector<Assignment>& plan);

  private:
    Choice choose(const Floor& floor, int j) const;

    const Control& control_;
    Floor empty_;  // without the jobs that may be moved
    std::vector<int> jobs_;
};

}  // namespace squall::sim
