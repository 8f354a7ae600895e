// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/construct.h"

#include <algorithm>
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

std::vector<int> order_by_release(const Schedule& schedule) {
    return sorted(schedule, unplaced(schedule), [&](int j) { return schedule.snapshot().jobs[j].release; });
}

}  // namespace squall
