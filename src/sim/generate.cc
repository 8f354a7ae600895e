// SPDX-License-Identifier: GPL-3.0-or-later
// Machines: V100 and Turing nodes with measured draw (0.17168 a kWh, PUE 1.33), rented M60 and K80 nodes at published
// prices. Jobs: one-GPU times of one to twelve hours, speed-up kept per doubling 80 to 95 %.
#include "src/sim/generate.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "src/sim/dice.h"

namespace squall::sim {
namespace {

constexpr Seconds kNow = 1700000000;

struct Machine {
    const char* name;
    int gpus, shards;
    double speed;   // of one GPU, V100 = 1
    int share_pct;  // of all nodes
    Micro price_h;  // 0 = local
    std::vector<int> busy_watts;
};

const std::vector<Machine>& machines() {
    static const std::vector<Machine> list = {{"v100", 4, 4, 1.0, 50, 0, {530, 700, 870, 1040}},
                                              {"turing", 2, 4, 0.6, 30, 0, {400, 470}},
                                              {"m60x4", 4, 0, 0.45, 12, 2480000, {}},
                                              {"k80x8", 8, 0, 0.40, 8, 4480000, {}}};
    return list;
}

NodeClass node_class(const Machine& m) {
    NodeClass c;
    c.name = c.gpu_type = m.name;
    c.gpus = m.gpus;
    c.shards_per_gpu = m.shards;
    c.rented = m.price_h > 0;
    if (c.rented) {
        c.price_micro_h = m.price_h;
        c.billing_step_s = c.billing_min_s = 60;
        c.boot_s = 120;
        c.release_s = 60;
    } else {
        c.idle_watts = 350;
        c.busy_watts = m.busy_watts;
        c.tariff.push_back({0, 171680});
        c.pue_milli = 1330;
    }
    return c;
}

void add_nodes(Snapshot& s, int count) {
    const auto& list = machines();
    for (int i = 0; i < static_cast<int>(list.size()); ++i) {
        s.classes.push_back(node_class(list[i]));
        int nodes = std::max(1, count * list[i].share_pct / 100);
        for (int n = 0; n < nodes; ++n) {
            Node node;
            node.name = std::string(list[i].name) + "-" + std::to_string(n + 1);
            node.class_id = i;
            if (list[i].price_h > 0) node.state = NodeState::powered_down;
            s.nodes.push_back(node);
        }
    }
}

void add_large(const Snapshot& s, Job& job, double one_gpu_s, double efficiency, bool wide) {
    for (int c = 0; c < static_cast<int>(s.classes.size()); ++c)
        for (int total = 1; total <= (wide ? 16 : s.classes[c].gpus); total *= 2) {
            int nodes = std::max(1, total / s.classes[c].gpus);
            if (nodes > 1 && (!wide || s.classes[c].gpus * nodes != total)) continue;
            Config config;
            config.class_id = c;
            config.nodes = nodes;
            config.gpus = total / nodes;
            double doublings = std::log2(total);
            config.run_s = std::max<Seconds>(
                60, std::llround(one_gpu_s / machines()[c].speed / std::pow(2 * efficiency, doublings)));
            config.run_high_s = config.run_s + config.run_s / 4;
            job.configs.push_back(config);
        }
}

void add_small(const Snapshot& s, Job& job, double one_gpu_s, int shards) {
    for (int c = 0; c < static_cast<int>(s.classes.size()); ++c) {
        if (s.classes[c].shards_per_gpu == 0) continue;
        Config config;
        config.class_id = c;
        config.shards = shards;
        config.run_s = std::llround(one_gpu_s / machines()[c].speed);
        config.run_high_s = config.run_s + config.run_s / 4;
        job.configs.push_back(config);
    }
}

Job make_job(const Snapshot& s, Dice& dice, int index, int small_pct) {
    Job job;
    job.id = static_cast<std::uint32_t>(index + 1);
    job.name = "job" + std::to_string(job.id);
    job.release = s.now - dice.whole(0, 3600);
    if (dice.chance(15)) job.release = s.now + dice.whole(0, 4 * 3600);
    if (dice.chance(small_pct))
        add_small(s, job, dice.log_between(900, 6 * 3600), dice.whole(1, 2));
    else
        add_large(s, job, dice.log_between(3600, 12 * 3600), dice.between(0.8, 0.95), dice.chance(25));
    auto by_run = [](const Config& a, const Config& b) { return a.run_s < b.run_s; };
    auto [fastest, slowest] = std::minmax_element(job.configs.begin(), job.configs.end(), by_run);
    double most = std::min<double>(3.0 * static_cast<double>(fastest->run_s), static_cast<double>(slowest->run_s));
    most = std::max(most, static_cast<double>(fastest->run_s) * 1.05);
    job.due = std::max(s.now, job.release) + std::llround(dice.between(static_cast<double>(fastest->run_s), most));
    job.late_micro_h = std::llround(dice.log_between(1.0, 54.0) * 1e6);
    return job;
}

// Least local GPU-seconds of each job, summed, and the mean time to the due dates.
std::pair<double, double> demand(const Snapshot& s) {
    double work = 0, window = 0;
    for (const auto& job : s.jobs) {
        double least = INFINITY;
        for (const auto& c : job.configs)
            if (!s.classes[c.class_id].rented)
                least = std::min(least, gpus_of(s.classes[c.class_id], c) * static_cast<double>(c.run_s));
        work += least;
        window += static_cast<double>(*job.due - s.now);
    }
    return {work, window / static_cast<double>(s.jobs.size())};
}

// Unmanaged jobs hold local nodes for longer than the plan looks, until `free_gpus` are left.
void hold_the_rest(Snapshot& s, Dice& dice, double free_gpus, Seconds window) {
    std::vector<int> local;
    double gpus = 0;
    for (int n = 0; n < static_cast<int>(s.nodes.size()); ++n)
        if (!s.classes[s.nodes[n].class_id].rented) {
            local.push_back(n);
            gpus += s.classes[s.nodes[n].class_id].gpus;
        }
    for (std::size_t i = local.size(); i > 1; --i)
        std::swap(local[i - 1], local[static_cast<std::size_t>(dice.whole(0, static_cast<int>(i) - 1))]);
    for (int n : local) {
        int size = s.classes[s.nodes[n].class_id].gpus;
        if (gpus - size < free_gpus) continue;
        gpus -= size;
        Seconds end = s.now + 4 * window + dice.whole(0, static_cast<int>(2 * window));
        s.holds.push_back({n, size, 0, -1, 0, 0, s.now - dice.whole(0, 86400), end, -1});
    }
}

}  // namespace

Snapshot generate(const GenerateOptions& options) {
    Dice dice(options.seed);
    Snapshot s;
    s.now = kNow;
    add_nodes(s, options.nodes);
    for (int j = 0; j < options.jobs; ++j) s.jobs.push_back(make_job(s, dice, j, options.small_pct));
    if (s.jobs.empty()) return s;
    auto [work, window] = demand(s);
    double load = options.contended ? 1.5 : options.load;
    double free_gpus = std::max(4.0, work / window / load);
    hold_the_rest(s, dice, free_gpus, static_cast<Seconds>(window));
    if (options.contended)
        for (auto& c : s.classes)
            if (c.rented) c.max_nodes = std::max(1, static_cast<int>(0.05 * free_gpus / c.gpus));
    return s;
}

}  // namespace squall::sim
