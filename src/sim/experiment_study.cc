// SPDX-License-Identifier: GPL-3.0-or-later
// e1: squall against first-come, due-date and weight order on the same jobs. e2: the same jobs with rented machines and
// without. Medians and ranges over seeds.
#include <fmt/format.h>

#include <map>

#include "src/sim/experiment.h"
#include "src/sim/results.h"
#include "src/sim/study.h"

namespace squall::sim {
namespace {

double money(Micro micro) { return static_cast<double>(micro) / 1e6; }

PolicyOptions policy_options(const ExperimentOptions& options, std::uint64_t seed) {
    PolicyOptions policy;
    policy.elastic.plays = options.plays;
    policy.elastic.seed = policy.plan.seed = seed;
    policy.plan.threads = 1;
    return policy;
}

}  // namespace

ExperimentTable experiment_e1(const ExperimentOptions& options) {
    ExperimentTable t;
    t.title = "e1: squall against fifo, edf and priority";
    t.command = fmt::format("squall-sim experiment e1 --seed {} --seeds {}", options.first_seed, options.seeds);
    t.columns = {"load", "against", "squall's total", "its total", "cheaper"};
    t.json.reset(json_array());
    for (const char* load : {"high", "mixed", "low"}) {
        std::map<std::string, std::vector<double>> totals, cheaper;
        for (int s = 0; s < options.seeds; ++s) {
            StudyOptions study;
            study.load = load;
            study.seed = options.first_seed + s;
            auto w = make_study(study);
            if (options.progress) options.progress(w.name);
            auto ours = money(replay_with(w, "squall", policy_options(options, study.seed)).total());
            totals["squall"].push_back(ours);
            for (const char* other : {"fifo", "edf", "priority"}) {
                double total = money(replay_with(w, other, {}).total());
                totals[other].push_back(total);
                cheaper[other].push_back(100 * (1 - ours / total));
            }
        }
        for (const char* other : {"fifo", "edf", "priority"}) {
            t.rows.push_back({load, other, median_and_range(totals["squall"], 0), median_and_range(totals[other], 0),
                              median_and_range(cheaper[other], 1, " %")});
            json_t* row = json_object();
            json_object_set_new(row, "load", json_string(load));
            json_object_set_new(row, "against", json_string(other));
            json_object_set_new(row, "squall", range_json(totals["squall"]));
            json_object_set_new(row, "other", range_json(totals[other]));
            json_object_set_new(row, "cheaper_pct", range_json(cheaper[other]));
            json_array_append_new(t.json.get(), row);
        }
    }
    t.remarks.push_back(
        "10 nodes, 100 jobs. Median (least … most) over seeds; totals are lateness + energy + restarts in €. squall "
        "resizes and moves running jobs and pays 60 s each time; the others never stop a job.");
    return t;
}

ExperimentTable experiment_e2(const ExperimentOptions& options) {
    ExperimentTable t;
    t.title = "e2: squall with bursting against squall without, heavy load";
    t.command = fmt::format("squall-sim experiment e2 --seed {} --seeds {}", options.first_seed, options.seeds);
    t.columns = {"tardiness weights", "off", "on", "of that rent", "cheaper"};
    t.json.reset(json_array());
    struct Weights {
        const char* name;
        double least, most;
    };
    for (const auto& weights :
         {Weights{"0.000254 … 0.000444 /s", 0.000254, 0.000444}, Weights{"0.003 … 0.015 /s", 0.003, 0.015}}) {
        std::vector<double> off, on, rent, cheaper;
        for (int s = 0; s < options.seeds; ++s) {
            StudyOptions study;
            study.seed = options.first_seed + s;
            study.least_weight = weights.least, study.most_weight = weights.most;
            if (options.progress) options.progress(fmt::format("weights {}, seed {}", weights.name, study.seed));
            off.push_back(money(replay_with(make_study(study), "squall", policy_options(options, study.seed)).total()));
            study.rented = true;
            auto r = replay_with(make_study(study), "squall", policy_options(options, study.seed));
            on.push_back(money(r.total()));
            rent.push_back(money(r.rent));
            cheaper.push_back(100 * (1 - on.back() / off.back()));
        }
        t.rows.push_back({weights.name, median_and_range(off, 0), median_and_range(on, 0), median_and_range(rent, 0),
                          median_and_range(cheaper, 1, " %")});
        json_t* row = json_object();
        json_object_set_new(row, "least_weight_s", json_real(weights.least));
        json_object_set_new(row, "most_weight_s", json_real(weights.most));
        json_object_set_new(row, "off", range_json(off));
        json_object_set_new(row, "on", range_json(on));
        json_object_set_new(row, "rent", range_json(rent));
        json_object_set_new(row, "cheaper_pct", range_json(cheaper));
        json_array_append_new(t.json.get(), row);
    }
    t.remarks.push_back(
        "10 nodes, 100 jobs, high load; boot 120 s, a minute's billing step, a minute until release. Both published "
        "ranges of weights: those of the local study first, those of the rented one second.");
    return t;
}

}  // namespace squall::sim
