// SPDX-License-Identifier: GPL-3.0-or-later
// greedy: the published ancestor's construction. At every event all movable jobs are placed anew by pressure.
#include "src/sim/policies/trial.h"
#include "src/sim/policy.h"

namespace squall::sim {
namespace {

class Greedy : public Policy {
  public:
    void decide(Control& control) override {
        Trial trial(control);
        Trial::apply(control, trial.assign(trial.jobs()));
    }
};

}  // namespace

std::unique_ptr<Policy> make_greedy(const PolicyOptions&) { return std::make_unique<Greedy>(); }

}  // namespace squall::sim
