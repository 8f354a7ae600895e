// SPDX-License-Identifier: GPL-3.0-or-later
// local-search: the published ancestor's improvement of greedy. Orders next to the best one so far are tried, a
// postponed or late job swapped with an earlier one, and kept where the published objective falls.
#include <utility>

#include "src/sim/dice.h"
#include "src/sim/policies/trial.h"
#include "src/sim/policy.h"

namespace squall::sim {
namespace {

constexpr int kIterations = 100;  // as published

class LocalSearch : public Policy {
  public:
    explicit LocalSearch(std::uint64_t seed) : dice_(seed) {}

    void decide(Control& control) override {
        Trial trial(control);
        auto order = trial.jobs();
        auto best = trial.assign(order);
        double least = trial.score(best);
        auto last = static_cast<int>(order.size()) - 1;
        for (int i = 0; i < kIterations && last > 0; ++i) {
            auto changed = order;
            int from = dice_.whole(0, last), to = dice_.whole(0, last);
            if (from == to) continue;
            std::swap(changed[from], changed[to]);
            auto plan = trial.assign(changed);
            double score = trial.score(plan);
            if (score >= least) continue;
            least = score, best = std::move(plan), order = std::move(changed);
        }
        Trial::apply(control, best);
    }

  private:
    Dice dice_;
};

}  // namespace

std::unique_ptr<Policy> make_local_search(const PolicyOptions& options) {
    return std::make_unique<LocalSearch>(options.plan.seed);
}

}  // namespace squall::sim
