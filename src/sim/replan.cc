// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/sim/replan.h"

#include <fmt/format.h>

#include <chrono>

#include "src/core/check.h"
#include "src/core/json.h"

namespace squall::sim {
namespace {

constexpr std::int64_t kFirstPlanMs = 10000;

int moved(const Plan& before, const Plan& after) {
    int count = 0;
    for (std::size_t j = 0; j < before.placements.size(); ++j) {
        const auto &a = before.placements[j], &b = after.placements[j];
        count += a.config != b.config || a.start != b.start || a.nodes != b.nodes;
    }
    return count;
}

}  // namespace

Report replan(const Snapshot& snapshot, const SolveOptions& options) {
    Snapshot before = snapshot;
    if (before.jobs.empty() || before.jobs.back().running)
        return {"", {"replan needs a problem whose last job does not run yet"}};
    before.jobs.pop_back();
    PlanOptions first = options.plan;
    first.time_ms = std::max(first.time_ms, kFirstPlanMs);
    Plan last = make_plan(before, first);
    auto started = std::chrono::steady_clock::now();
    Plan plan = make_plan(snapshot, options.plan, &last);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    Report report;
    report.errors = check_plan(snapshot, plan);
    double was = static_cast<double>(last.cost.total()) / 1e6, cost = static_cast<double>(plan.cost.total()) / 1e6;
    if (options.json) {
        Json root(json_object());
        json_object_set_new(root.get(), "seconds", json_real(seconds));
        json_object_set_new(root.get(), "cost", json_real(cost));
        json_object_set_new(root.get(), "cost_before", json_real(was));
        json_object_set_new(root.get(), "moved", ::json_integer(moved(last, plan)));
        report.text = json_format(root.get(), JSON_COMPACT) + "\n";
    } else {
        report.text = fmt::format("replanned in {:.3f} s: {} of {} jobs moved, cost {:.2f} before and {:.2f} after\n",
                                  seconds, moved(last, plan), last.placements.size(), was, cost);
    }
    return report;
}

}  // namespace squall::sim
