// SPDX-License-Identifier: GPL-3.0-or-later
// fifo: first come, first served. Nothing is ever stopped; jobs are started by submit time, each on the cheapest
// configuration with room that meets its due date, else on the fastest.
#include "src/sim/policies/choose.h"
#include "src/sim/policy.h"

namespace squall::sim {
namespace {

class Fifo : public Policy {
  public:
    void decide(Control& control) override {
        auto order = control.waiting();
        start_in_order(control, std::move(order));
    }
};

}  // namespace

std::unique_ptr<Policy> make_fifo(const PolicyOptions&) { return std::make_unique<Fifo>(); }

}  // namespace squall::sim
