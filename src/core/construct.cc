// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/construct.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace squall {
namespace {

std::vector<int> unplaced(const Schedule& schedule) {
    std::vector<int> jobs;
    for (int j = 0; j < static_cast<int>(schedule.snapshot().jobs.size()); ++j)
        if (!schedule.spot(j) && !schedule.snapshot().jobs[j].configs.empty()) jobs.push_back(j);
    return jobs;
}

Seconds fastest_run(const Job& job) {
    Seconds fastest = kForever;
    for (const auto& config : job.configs) fastest = std::min(fastest, run_length(job, config));
    return fastest;
}

// Least GPU-seconds any configuration needs, in thousandths for shares of a GPU.
double least_work(const Snapshot& snapshot, const Job& job) {
    double least = INFINITY;
    for (const auto& config : job.configs) {
        double shards = std::max(1, snapshot.classes[config.class_id].shards_per_gpu);
        double gpus = config.shards > 0 ? config.shards / shards : config.gpus * config.nodes;
        least = std::min(least, gpus * static_cast<double>(run_length(job, config)));
    }
    return std::max(1.0, least);
}

template <typename Key>
std::vector<int> sorted(const Schedule& schedule, std::vector<int> jobs, Key key) {
    std::vector<decltype(key(0))> keys(schedule.snapshot().jobs.size());
    for (int j : jobs) keys[j] = key(j);
    std::sort(jobs.begin(), jobs.end(), [&](int a, int b) {
        if (keys[a] != keys[b]) return keys[a] < keys[b];
        return schedule.snapshot().jobs[a].id < schedule.snapshot().jobs[b].id;
    });
    return jobs;
}

}  // namespace

std::vector<int> order_by_pressure(const Schedule& schedule) {
    return sorted(schedule, unplaced(schedule), [&](int j) {
        const auto& job = schedule.snapshot().jobs[j];
        return job.due ? *job.due - fastest_run(job) : kForever + job.release;
    });
}

std::vector<int> order_by_tardiness_cost(const Schedule& schedule, double lookahead) {
    const auto& snapshot = schedule.snapshot();
    auto jobs = unplaced(schedule);
    double mean = 0;
    for (int j : jobs) mean += static_cast<double>(fastest_run(snapshot.jobs[j])) / static_cast<double>(jobs.size());
    return sorted(schedule, jobs, [&](int j) {
        const auto& job = snapshot.jobs[j];
        if (!job.due) return 1.0;
        double slack =
            std::max<double>(0, static_cast<double>(*job.due - fastest_run(job) - std::max(snapshot.now, job.release)));
        return -static_cast<double>(job.late_micro_h + 1) / least_work(snapshot, job) *
               std::exp(-slack / (lookahead * mean + 1));
    });
}

std::vector<int> order_by_release(const Schedule& schedule) {
    return sorted(schedule, unplaced(schedule), [&](int j) { return schedule.snapshot().jobs[j].release; });
}

}  // namespace squall
