// SPDX-License-Identifier: GPL-3.0-or-later
// edf: earliest due date first. Nothing is ever stopped; jobs are started by due date, jobs without one last, each on
// the cheapest configuration with room that meets its due date, else on the fastest.
#include <algorithm>

#include "src/sim/policies/choose.h"
#include "src/sim/policy.h"

namespace squall::sim {
namespace {

class Edf : public Policy {
  public:
    void decide(Control& control) override {
        auto order = control.waiting();
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
            return control.job(a).due.value_or(kForever) < control.job(b).due.value_or(kForever);
        });
        start_in_order(control, std::move(order));
    }
};

}  // namespace

std::unique_ptr<Policy> make_edf(const PolicyOptions&) { return std::make_unique<Edf>(); }

}  // namespace squall::sim
