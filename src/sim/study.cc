// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/sim/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/sim/dice.h"
#include "src/sim/importers.h"

namespace squall::sim {
namespace {

struct Machine {
    const char* name;
    int gpus;
    double speed;  // of one GPU, V100 = 1
    Micro price_h;
    std::vector<int> watts;
};
const std::vector<Machine>& machines() {
    static const std::vector<Machine> list = {{"v100", 4, 1.0, 0, {530, 700, 870, 1040}},
                                              {"turing", 2, 0.6, 0, {400, 470}},
                                              {"k80x1", 1, 0.40, 560000, {}},
                                              {"k80x2", 2, 0.40, 1130000, {}},
                                              {"k80x4", 4, 0.40, 2250000, {}},
                                              {"k80x8", 8, 0.40, 4480000, {}},
                                              {"m60x1", 1, 0.45, 620000, {}},
                                              {"m60x4", 4, 0.45, 2480000, {}}};
    return list;
}

void add_machines(Snapshot& s, const StudyOptions& options) {
    for (const auto& m : machines()) {
        NodeClass c;
        c.name = c.gpu_type = m.name;
        c.gpus = m.gpus;
        c.rented = m.price_h > 0;
        if (c.rented && !options.rented) break;
        if (c.rented) {
            c.price_micro_h = m.price_h;
            c.billing_step_s = c.billing_min_s = 60;
            c.boot_s = 120;
            c.release_s = 60;
        } else {
            c.idle_watts = 350;
            c.busy_watts = m.watts;
            c.tariff.push_back({0, 171680});
            c.pue_milli = 1330;
        }
        bool half = !c.rented;
        add_class(s, c, half ? std::max(1, (options.nodes + (m.gpus == 4 ? 1 : 0)) / 2) : options.nodes);
    }
}

double mean_gap(const Workload& w, const StudyOptions& options, double mean_work, int index) {
    double speed = 0;
    for (const auto& node : w.cluster.nodes)
        if (const auto& c = w.cluster.classes[node.class_id]; !c.rented)
            speed += c.gpus * machines()[node.class_id].speed;
    double high = mean_work / speed;
    if (options.load == "low") return high * 4;
    return options.load == "mixed" && (index / 10) % 2 != 0 ? high * 4 : high;
}

void add_configs(SimJob& job, const Snapshot& s, double work_s, double efficiency) {
    for (int c = 0; c < static_cast<int>(s.classes.size()); ++c)
        for (int gpus = 1; gpus <= s.classes[c].gpus; gpus *= 2) {
            Config config;
            config.class_id = c;
            config.gpus = gpus;
            double faster = std::pow(2 * efficiency, std::log2(gpus));
            config.run_s = config.run_high_s =
                std::max<Seconds>(60, std::llround(work_s / machines()[c].speed / faster));
            job.job.configs.push_back(config);
            job.true_run_s.push_back(config.run_s);
        }
}

}  // namespace

Workload make_study(const StudyOptions& options) {
    Workload w;
    w.name = fmt::format("study of {} nodes, {} load, seed {}", options.nodes, options.load, options.seed);
    add_machines(w.cluster, options);
    Dice dice(options.seed);
    int count = options.nodes * options.jobs_a_node;
    std::vector<std::pair<double, double>> drawn;  // work on one V100, efficiency
    double mean = 0;
    for (int i = 0; i < count; ++i) {
        drawn.emplace_back(dice.log_between(3600, 24 * 3600), dice.between(0.6, 0.95));
        mean += drawn.back().first / count;
    }
    double at = 0;
    for (int i = 0; i < count; ++i) {
        SimJob job;
        job.line = i + 1;
        job.job.id = static_cast<std::uint32_t>(i + 1);
        job.job.release = std::llround(at);
        job.job.checkpointable = true;
        job.job.restart_s = options.restart_s;
        add_configs(job, w.cluster, drawn[i].first, drawn[i].second);
        Seconds fast = kForever, slow = 0;  // on local nodes: the same with and without rented ones
        for (const auto& c : job.job.configs)
            if (!w.cluster.classes[c.class_id].rented) fast = std::min(fast, c.run_s), slow = std::max(slow, c.run_s);
        auto most = static_cast<double>(std::min(3 * fast, slow));
        job.job.due = job.job.release + std::llround(dice.between(static_cast<double>(fast), most));
        job.job.late_micro_h = std::llround(dice.between(options.least_weight, options.most_weight) * 3600e6);
        at += dice.exponential(mean_gap(w, options, mean, i));
        w.jobs.push_back(std::move(job));
    }
    w.rows = count;
    return w;
}

}  // namespace squall::sim
