// SPDX-License-Identifier: GPL-3.0-or-later
// quantile: the same jobs, whose run times are known only roughly, planned with expected run times, with the 90 %
// quantile, and with the quantile that fits what lateness and GPUs cost (src/core/hedge.h).
#include <fmt/format.h>

#include <map>

#include "src/sim/experiment.h"
#include "src/sim/study.h"

namespace squall::sim {
namespace {

constexpr double kError = 0.3;

Workload rigid_study(const ExperimentOptions& options, int seed, bool heavy) {
    StudyOptions study;
    study.nodes = 6;
    study.seed = options.first_seed + static_cast<std::uint64_t>(seed);
    study.rented = true;
    if (heavy) study.least_weight = 0.003, study.most_weight = 0.015;
    auto w = make_study(study);
    for (auto& job : w.jobs) job.job.checkpointable = false;
    set_runtime_error(w, kError, study.seed);
    return w;
}

}  // namespace

ExperimentTable experiment_quantile(const ExperimentOptions& options) {
    ExperimentTable t;
    t.title = "quantile: run times known within 30 %";
    t.command = fmt::format("squall-sim experiment quantile --seed {} --seeds {}", options.first_seed, options.seeds);
    t.columns = {"weights", "planned with", "total", "on time [%]", "against the mean"};
    t.json.reset(json_array());
    for (bool heavy : {false, true}) {
        std::vector<double> base;
        for (int quantile : {50, 0, 90}) {
            std::string name = quantile == 0 ? "auto" : quantile == 50 ? "mean" : "90 %";
            std::vector<double> totals, on_time, change;
            for (int s = 0; s < options.seeds; ++s) {
                auto w = rigid_study(options, s, heavy);
                if (options.progress) options.progress(fmt::format("{}, {}", w.name, name));
                PolicyOptions policy;
                policy.decision_s = 0.03;
                policy.plan.threads = 1;
                policy.hedge.quantile_pct = quantile;
                auto r = replay_with(w, "squall", policy);
                totals.push_back(static_cast<double>(r.total()) / 1e6);
                on_time.push_back(100.0 * r.on_time / std::max(1, r.with_due));
                if (quantile == 50) base.push_back(totals.back());
                change.push_back(100 * (totals.back() / base[static_cast<std::size_t>(s)] - 1));
            }
            t.rows.push_back({heavy ? "heavy" : "light", name, median_and_range(totals, 1),
                              median_and_range(on_time, 0), median_and_range(change, 1, " %")});
            json_t* row = json_object();
            json_object_set_new(row, "weights", json_string(heavy ? "heavy" : "light"));
            json_object_set_new(row, "planned_with", json_string(name.c_str()));
            json_object_set_new(row, "total", range_json(totals));
            json_object_set_new(row, "on_time_pct", range_json(on_time));
            json_object_set_new(row, "change_pct", range_json(change));
            json_array_append_new(t.json.get(), row);
        }
    }
    t.remarks.push_back(
        "6 nodes and rented machines, 60 jobs that never move; every estimate is off by up to 30 %. Light: 0.000254 … "
        "0.000444 €/s late, heavy: 0.003 … 0.015. Decisions of 0.03 s on one thread.");
    return t;
}

}  // namespace squall::sim
