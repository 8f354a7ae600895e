// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/sim/separate.h"

#include "src/core/bound.h"

namespace squall::sim {
namespace {

bool is_small(const Job& job) { return !job.configs.empty() && job.configs.front().shards > 0; }

// The jobs of one kind, and where each stands in the whole problem.
Snapshot only(const Snapshot& snapshot, bool small, std::vector<int>& index) {
    Snapshot part = snapshot;
    part.jobs.clear();
    std::vector<int> at(snapshot.jobs.size(), -1);
    for (std::size_t j = 0; j < snapshot.jobs.size(); ++j) {
        if (is_small(snapshot.jobs[j]) != small) continue;
        at[j] = static_cast<int>(part.jobs.size());
        index.push_back(static_cast<int>(j));
        part.jobs.push_back(snapshot.jobs[j]);
    }
    for (auto& hold : part.holds)
        if (hold.job >= 0) hold.job = at[static_cast<std::size_t>(hold.job)];
    return part;
}

// What was planned first holds its GPUs like any job that is not Squall's.
void hold_placed(const Snapshot& planned, const Plan& plan, Snapshot& rest) {
    for (const auto& p : plan.placements) {
        const auto& job = planned.jobs[static_cast<std::size_t>(p.job)];
        if (p.config < 0 || job.running) continue;
        const auto& config = job.configs[static_cast<std::size_t>(p.config)];
        for (int n : p.nodes)
            rest.holds.push_back(
                {n, config.gpus, config.shards, p.gpu_index, config.cpus, config.mem_mb, p.start, p.end, -1});
    }
}

void merge(const Plan& part, const std::vector<int>& index, Plan& whole) {
    for (auto p : part.placements) {
        p.job = index[static_cast<std::size_t>(p.job)];
        whole.placements[static_cast<std::size_t>(p.job)] = std::move(p);
    }
    whole.cost.late += part.cost.late, whole.cost.rent += part.cost.rent, whole.cost.energy += part.cost.energy;
    whole.cost.moves += part.cost.moves, whole.cost.hard += part.cost.hard;
    whole.unplaced += part.unplaced;
    whole.seconds += part.seconds, whole.first_plan_s += part.first_plan_s;
}

}  // namespace

Plan plan_apart(const Snapshot& snapshot, const PlanOptions& options) {
    PlanOptions half = options;
    half.time_ms = options.time_ms / 2;
    Plan whole;
    whole.placements.resize(snapshot.jobs.size());
    std::vector<int> large_index, small_index;
    Snapshot large = only(snapshot, false, large_index), small = only(snapshot, true, small_index);
    Plan first = make_plan(large, half);
    hold_placed(large, first, small);
    merge(first, large_index, whole);
    merge(make_plan(small, half), small_index, whole);
    if (options.improve) {
        BoundOptions bound;
        bound.incumbent = whole.cost.total();
        for (const auto& p : whole.placements) bound.horizon = std::max(bound.horizon, p.end);
        whole.bound = std::min(lagrangian_bound(snapshot, bound).bound, whole.cost.total());
    }
    return whole;
}

}  // namespace squall::sim
