// SPDX-License-Identifier: GPL-3.0-or-later
// easy: EASY backfill as Slurm's own scheduler does it. Jobs as asked, in submit order, on local nodes; rented nodes
// only for jobs that can run nowhere else.
#include "src/sim/policies/easy_queue.h"
#include "src/sim/policy.h"

namespace squall::sim {
namespace {

class Easy : public Policy {
  public:
    void decide(Control& control) override { queue_.pass(control, false); }

  private:
    EasyQueue queue_;
};

}  // namespace

std::unique_ptr<Policy> make_easy(const PolicyOptions&) { return std::make_unique<Easy>(); }

}  // namespace squall::sim
