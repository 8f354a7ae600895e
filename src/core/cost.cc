// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/cost.h"

#include <algorithm>

#include "src/core/billing.h"
#include "src/core/tariff.h"

namespace squall {

Micro standalone_cost(const Snapshot& snapshot, const Job& job, int config_index, Seconds start, Seconds end) {
    const auto& config = job.configs[config_index];
    const auto& c = snapshot.classes[config.class_id];
    if (c.rented)
        return config.nodes * lease_cost(c.price_micro_h, c.billing_step_s, c.billing_min_s, start, end + c.release_s);
    int busy = std::max(1, config.gpus);
    return config.nodes * energy_cost(c, billed_watts(c, busy), start, end, snapshot.utc_offset_s);
}

namespace {

// GPU-seconds × shards per GPU from now on, so that shares of a GPU stay integers.
std::int64_t weight_of(const Snapshot& snapshot, const NodeItem& item, int shards_per_gpu) {
    Seconds time = std::max<Seconds>(1, item.end - std::max(item.start, snapshot.now));
    return time * (item.gpus > 0 ? static_cast<std::int64_t>(item.gpus) * std::max(1, shards_per_gpu) : item.shards);
}

void split_node(const Snapshot& snapshot, const NodePlan& node, const NodeClass& c, Plan& plan) {
    std::int64_t total = 0;
    int last = -1;
    for (const auto& item : node.items())
        if (item.job >= 0) total += weight_of(snapshot, item, c.shards_per_gpu), last = item.job;
    Micro cost = node.cost(), left = cost;
    if (last < 0 || total == 0) return;
    for (const auto& item : node.items()) {
        if (item.job < 0) continue;
        auto share =
            static_cast<Micro>(static_cast<__int128>(cost) * weight_of(snapshot, item, c.shards_per_gpu) / total);
        left -= share;
        auto& to = plan.placements[item.job].cost;
        (c.rented ? to.rent : to.energy) += share;
    }
    auto& to = plan.placements[last].cost;
    (c.rented ? to.rent : to.energy) += left;
}

}  // namespace

Plan to_plan(const Schedule& schedule) {
    const auto& snapshot = schedule.snapshot();
    Plan plan;
    for (int j = 0; j < static_cast<int>(snapshot.jobs.size()); ++j) {
        Placement p;
        p.job = j;
        p.job_id = snapshot.jobs[j].id;
        if (const auto& spot = schedule.spot(j)) {
            const auto& job = snapshot.jobs[j];
            p.config = spot->config;
            p.start = spot->start;
            p.end = spot->end;
            p.nodes = spot->nodes;
            p.gpu_index = spot->gpu_index;
            if (spot->late > 0 && job.due_is_hard) p.cost.hard = snapshot.hard_due_penalty_micro;
            p.cost.late = spot->late - p.cost.hard;
        }
        plan.placements.push_back(std::move(p));
    }
    for (int n = 0; n < static_cast<int>(snapshot.nodes.size()); ++n)
        if (const auto* node = schedule.touched(n))
            split_node(snapshot, *node, snapshot.classes[snapshot.nodes[n].class_id], plan);
    for (const auto& p : plan.placements) {
        plan.unplaced += p.config < 0;
        plan.cost.late += p.cost.late;
        plan.cost.rent += p.cost.rent;
        plan.cost.energy += p.cost.energy;
        plan.cost.hard += p.cost.hard;
    }
    return plan;
}

}  // namespace squall
