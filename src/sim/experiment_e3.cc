// SPDX-License-Identifier: GPL-3.0-or-later
// e3: how long one decision takes on 300 nodes and 50 jobs that compete for them, and how far from the best it may be.
#include <fmt/format.h>

#include "src/core/check.h"
#include "src/core/planner.h"
#include "src/sim/experiment.h"
#include "src/sim/generate.h"
#include "src/sim/results.h"

namespace squall::sim {
namespace {

constexpr std::int64_t kTime_ms = 230;

}  // namespace

ExperimentTable experiment_e3(const ExperimentOptions& options) {
    ExperimentTable t;
    t.title = "e3: one decision on 300 nodes and 50 jobs";
    t.command = fmt::format("squall-sim experiment e3 --seed {} --seeds {}", options.first_seed, options.seeds);
    t.columns = {"instances", "seconds a decision", "gap to the bound", "greedy's gap"};
    t.timed_columns = {1, 2, 3};
    t.json.reset(json_object());
    std::vector<double> seconds, gaps, greedy_gaps;
    for (int s = 0; s < options.seeds; ++s) {
        GenerateOptions generate_options;
        generate_options.nodes = 300, generate_options.jobs = 50, generate_options.contended = true;
        generate_options.seed = options.first_seed + s;
        auto snapshot = generate(generate_options);
        if (options.progress) options.progress(fmt::format("seed {}", generate_options.seed));
        PlanOptions plan_options;
        plan_options.time_ms = kTime_ms;
        auto plan = make_plan(snapshot, plan_options);
        if (auto wrong = check_plan(snapshot, plan); !wrong.empty())
            return failed(std::move(t),
                          fmt::format("seed {}: the plan does not hold: {}", generate_options.seed, wrong.front()));
        plan_options.improve = plan_options.refine = false;
        auto greedy = make_plan(snapshot, plan_options);
        seconds.push_back(plan.seconds);
        gaps.push_back(100 * plan.gap());
        greedy_gaps.push_back(100 * (1 - static_cast<double>(plan.bound) / static_cast<double>(greedy.cost.total())));
    }
    t.rows.push_back({std::to_string(options.seeds), median_and_range(seconds, 3), median_and_range(gaps, 1, " %"),
                      median_and_range(greedy_gaps, 1, " %")});
    json_object_set_new(t.json.get(), "seconds", range_json(seconds));
    json_object_set_new(t.json.get(), "gap_pct", range_json(gaps));
    json_object_set_new(t.json.get(), "greedy_gap_pct", range_json(greedy_gaps));
    t.remarks.push_back(
        "Contended instances (load 1.5, few rented nodes); every plan has passed the independent checker.");
    return t;
}

}  // namespace squall::sim
