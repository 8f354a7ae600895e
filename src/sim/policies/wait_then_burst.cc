// SPDX-License-Identifier: GPL-3.0-or-later
// wait-then-burst: a job waits for local nodes for a share of its own run time (short jobs burst soon, long ones wait
// longer), then goes to rented nodes.
#include <cmath>

#include "src/sim/policies/burst.h"
#include "src/sim/policies/easy_queue.h"
#include "src/sim/policy.h"

namespace squall::sim {
namespace {

class WaitThenBurst : public Policy {
  public:
    explicit WaitThenBurst(double wait_runs) : wait_runs_(wait_runs) {}

    void decide(Control& control) override {
        queue_.pass(control, false);
        auto waiting = control.waiting();
        for (int j : waiting) {
            auto offers = asked_configs(control, j, true);
            if (offers.empty()) continue;
            auto run = static_cast<double>(control.job(j).configs[offers.front()].run_s);
            Seconds until = control.job(j).release + static_cast<Seconds>(std::ceil(wait_runs_ * run));
            if (until > control.now())
                control.wake_at(until);
            else
                burst(control, j);
        }
    }

  private:
    EasyQueue queue_;
    double wait_runs_;
};

}  // namespace

std::unique_ptr<Policy> make_wait_then_burst(const PolicyOptions& options) {
    return std::make_unique<WaitThenBurst>(options.wait_limits);
}

}  // namespace squall::sim
