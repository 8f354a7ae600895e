// SPDX-License-Identifier: GPL-3.0-or-later
// priority: the dearest job first. Nothing is ever stopped; jobs are started by tardiness weight, each on the cheapest
// configuration with room that meets its due date, else on the fastest.
#include <algorithm>

#include "src/sim/policies/choose.h"
#include "src/sim/policy.h"

namespace squall::sim {
namespace {

class Priority : public Policy {
  public:
    void decide(Control& control) override {
        auto order = control.waiting();
        std::stable_sort(order.begin(), order.end(),
                         [&](int a, int b) { return control.job(a).late_micro_h > control.job(b).late_micro_h; });
        start_in_order(control, std::move(order));
    }
};

}  // namespace

std::unique_ptr<Policy> make_priority(const PolicyOptions&) { return std::make_unique<Priority>(); }

}  // namespace squall::sim
