// SPDX-License-Identifier: GPL-3.0-or-later
// burst-at-once: a job that finds no room on local nodes when it arrives is sent to the cheapest rented ones at once.
#include "src/sim/policies/burst.h"
#include "src/sim/policies/easy_queue.h"
#include "src/sim/policy.h"

namespace squall::sim {
namespace {

class BurstAtOnce : public Policy {
  public:
    void decide(Control& control) override {
        queue_.pass(control, false);
        auto waiting = control.waiting();
        for (int j : waiting) burst(control, j);
    }

  private:
    EasyQueue queue_;
};

}  // namespace

std::unique_ptr<Policy> make_burst_at_once(const PolicyOptions&) { return std::make_unique<BurstAtOnce>(); }

}  // namespace squall::sim
