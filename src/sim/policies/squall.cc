// SPDX-License-Identifier: GPL-3.0-or-later
// squall: the planner itself. What runs stays; every waiting job is planned, those planned for now are started, and the
// next look is when the next planned start comes due.
#include <algorithm>

#include "src/core/planner.h"
#include "src/sim/policies/elastic.h"
#include "src/sim/policies/snapshot_of.h"
#include "src/sim/policy.h"

namespace squall::sim {
namespace {

constexpr int kMostJobs = 1000;  // planned at once; later ones wait their turn

class Squall : public Policy {
  public:
    explicit Squall(const PolicyOptions& options)
        : plan_options_(options.plan), hedge_(options.hedge), elastic_(options.elastic) {
        plan_options_.time_ms = static_cast<std::int64_t>(options.decision_s * 1000);
    }

    void decide(Control& control) override {
        if (ElasticDecision::suits(control)) return elastic_.decide(control);
        if (control.waiting().empty()) return;
        auto moment = snapshot_of(control, kMostJobs);
        hedge(moment.snapshot, hedge_);
        last_ = make_plan(moment.snapshot, plan_options_, last_.placements.empty() ? nullptr : &last_);
        for (const auto& p : last_.placements) {
            int j = moment.jobs[p.job];
            if (p.config < 0 || control.state(j).phase != Phase::waiting) continue;
            if (p.starts_now(control.now()))
                start(control, j, p);
            else
                control.wake_at(p.start);
        }
    }

  private:
    static void start(Control& control, int j, const Placement& p) {
        Place place{p.nodes, -1};
        std::sort(place.nodes.begin(), place.nodes.end());
        const auto& config = control.job(j).configs[p.config];
        if (config.shards > 0) {
            auto found = control.find(config);  // the planner's GPU is a hint
            if (found) place = *found;
            if (!found) return;
        }
        if (control.floor().fits(config, place)) control.start(j, p.config, place);
    }

    PlanOptions plan_options_;
    HedgeOptions hedge_;
    ElasticDecision elastic_;
    Plan last_;
};

}  // namespace

std::unique_ptr<Policy> make_squall(const PolicyOptions& options) { return std::make_unique<Squall>(options); }

}  // namespace squall::sim
