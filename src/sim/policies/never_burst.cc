// SPDX-License-Identifier: GPL-3.0-or-later
// never-burst: jobs as asked wait for local nodes, however long, in submit order with EASY backfill.
#include "src/sim/policies/choose.h"
#include "src/sim/policies/easy_queue.h"
#include "src/sim/policy.h"

namespace squall::sim {
namespace {

class NeverBurst : public Policy {
  public:
    void decide(Control& control) override {
        queue_.pass(control, false, [&](int j) { return asked_configs(control, j, false).empty(); });
    }

  private:
    EasyQueue queue_;
};

}  // namespace

std::unique_ptr<Policy> make_never_burst(const PolicyOptions&) { return std::make_unique<NeverBurst>(); }

}  // namespace squall::sim
