// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/schedule.h"

#include <algorithm>

#include "src/core/billing.h"
#include "src/core/cost.h"

namespace squall {

Seconds run_length(const Job& job, const Config& config) {
    auto left = (static_cast<__int128>(config.run_s) * job.remaining_ppm + 999999) / 1000000;
    return std::max<Seconds>(1, job.stage_in_s + static_cast<Seconds>(left));
}

NodeWant want_of(const Config& config) { return {config.gpus, config.shards, config.cpus, config.mem_mb}; }

Seconds running_end(const Snapshot& snapshot, const Job& job) {
    if (job.running->expected_end > snapshot.now) return job.running->expected_end;
    Seconds so_far = snapshot.now - job.running->start;
    return snapshot.now + std::max<Seconds>(5, so_far / 10);
}

Schedule::Schedule(const Snapshot& snapshot, bool burst)
    : snapshot_(&snapshot),
      burst_(burst),
      plans_(snapshot.nodes.size()),
      groups_of_(snapshot.classes.size()),
      group_nodes_(snapshot.groups.size()),
      spots_(snapshot.jobs.size()),
      fixed_(snapshot.jobs.size(), false),
      unplaced_(static_cast<Micro>(snapshot.jobs.size())) {
    for (const auto& c : snapshot.classes) indices_.emplace_back(c.gpus);
    for (std::size_t g = 0; g < snapshot.groups.size(); ++g)
        for (int c : snapshot.groups[g].class_ids) groups_of_[c].push_back(static_cast<int>(g));
    // Identical nodes beyond the class's cap are left out, those in use first kept; taken from the back, so the
    // first node of the file is offered first.
    std::vector<int> left(snapshot.classes.size(), INT32_MAX);
    for (std::size_t c = 0; c < left.size(); ++c)
        if (snapshot.classes[c].max_nodes > 0) left[c] = snapshot.classes[c].max_nodes;
    std::vector<int> order, kept;
    for (int up : {1, 0})
        for (int n = 0; n < static_cast<int>(snapshot.nodes.size()); ++n)
            if ((snapshot.nodes[n].state == NodeState::powered_down) != (up == 1)) order.push_back(n);
    for (int n : order)
        if (snapshot.nodes[n].ready_at < kForever && left[snapshot.nodes[n].class_id]-- > 0) kept.push_back(n);
    std::sort(kept.rbegin(), kept.rend());
    for (int n : kept) indices_[snapshot.nodes[n].class_id].add_untouched(kind_of(n), n);
    take_fixed_load();
    take_running();
    take_pinned();
}

ClassIndex::Kind Schedule::kind_of(int node) const {
    const auto& n = snapshot_->nodes[node];
    bool waits = n.state == NodeState::unavailable || n.state == NodeState::booting;
    return {n.state, waits ? std::max(snapshot_->now, n.ready_at) : snapshot_->now};
}

NodePlan Schedule::plan_of(int node) const { return plans_[node] ? *plans_[node] : NodePlan(*snapshot_, node); }

NodePlan& Schedule::touch(int node) {
    if (!plans_[node]) {
        int c = snapshot_->nodes[node].class_id;
        indices_[c].touch(kind_of(node), node);
        plans_[node] = std::make_unique<NodePlan>(*snapshot_, node);
        indices_[c].enter(node, *plans_[node]);
        for (int g : groups_of_[c]) group_nodes_[g].push_back(node);
    }
    return *plans_[node];
}

void Schedule::take_fixed_load() {
    for (const auto& hold : snapshot_->holds) {
        if (hold.job >= 0) continue;
        NodeItem item{std::min(hold.start, hold.end),
                      hold.end,
                      hold.start,
                      hold.gpus,
                      hold.shards,
                      hold.gpu_index,
                      hold.cpus,
                      hold.mem_mb,
                      -1};
        // A job past its limit is about to be ended by Slurm.
        if (item.end <= snapshot_->now) item.end = snapshot_->now + 60;
        auto& plan = touch(hold.node);
        indices_[snapshot_->nodes[hold.node].class_id].leave(hold.node, plan);
        if (item.shards > 0 && item.gpu_index < 0) item.gpu_index = 0;
        plan.add(item);
        plan.seal();
        indices_[snapshot_->nodes[hold.node].class_id].enter(hold.node, plan);
    }
}

void Schedule::take_running() {
    for (int j = 0; j < static_cast<int>(snapshot_->jobs.size()); ++j) {
        const auto& job = snapshot_->jobs[j];
        if (!job.running) continue;
        Spot spot;
        spot.config = job.running->config;
        spot.start = std::min(job.running->start, snapshot_->now);
        spot.ready = spot.start;
        spot.end = running_end(*snapshot_, job);
        spot.nodes = job.running->nodes;
        spot.late = late_of(j, spot.end);
        for (const auto& hold : snapshot_->holds)
            if (hold.job == j && hold.shards > 0) spot.gpu_index = std::max(0, hold.gpu_index);
        fixed_[j] = true;
        place(j, spot);
    }
}

void Schedule::take_pinned() {
    for (int j = 0; j < static_cast<int>(snapshot_->jobs.size()); ++j) {
        const auto& job = snapshot_->jobs[j];
        if (job.running || !job.pinned_config || job.pinned_nodes.empty()) continue;
        const auto& config = job.configs[*job.pinned_config];
        Spot spot;
        spot.config = *job.pinned_config;
        spot.start = spot.ready = snapshot_->now;
        spot.nodes = job.pinned_nodes;
        bool fits = true;
        for (int n : spot.nodes) {
            auto plan = plan_of(n);
            const auto& node = snapshot_->nodes[n];
            Seconds opens = node.state == NodeState::booting ? node.ready_at : snapshot_->now;
            if (node.ready_at >= kForever) fits = false;
            spot.ready = std::max({spot.ready, opens, plan.ready_at(snapshot_->now)});
        }
        spot.end = spot.ready + run_length(job, config);
        for (int n : spot.nodes) {
            auto plan = plan_of(n);
            // A node that boots for this very job is its own from now on, though nothing else may start there yet.
            Seconds from = std::max(spot.start, kind_of(n).open_at);
            int label = -1;
            if (fits && plan.earliest(want_of(config), from, spot.end - from, label) != from) fits = false;
            spot.gpu_index = label;
        }
        if (!fits) continue;
        spot.late = late_of(j, spot.end);
        fixed_[j] = true;
        place(j, spot);
    }
}

Micro Schedule::late_of(int job, Seconds end) const {
    const auto& j = snapshot_->jobs[job];
    if (!j.due || end <= *j.due) return 0;
    return cost_of_time(j.late_micro_h, end - *j.due) + (j.due_is_hard ? snapshot_->hard_due_penalty_micro : 0);
}

void Schedule::change_node(int node, Micro before, const NodePlan& plan) {
    Micro change = plan.cost() - before;
    nodes_cost_ += change;
    if (snapshot_->classes[snapshot_->nodes[node].class_id].rented) rent_ += change;
}

void Schedule::place(int job, const Spot& spot) {
    const auto& config = snapshot_->jobs[job].configs[spot.config];
    for (int n : spot.nodes) {
        auto& plan = touch(n);
        auto& index = indices_[snapshot_->nodes[n].class_id];
        index.leave(n, plan);
        Micro before = plan.cost();
        plan.add({spot.start, spot.end, spot.ready, config.gpus, config.shards, spot.gpu_index, config.cpus,
                  config.mem_mb, job});
        change_node(n, before, plan);
        index.enter(n, plan);
    }
    late_ += spot.late;
    --unplaced_;
    spots_[job] = spot;
}

std::vector<int> Schedule::eject(int job) {
    std::vector<int> out{job}, queue{job};
    while (!queue.empty()) {
        int j = queue.back();
        queue.pop_back();
        Spot spot = *spots_[j];
        for (int n : spot.nodes) {
            auto& plan = *plans_[n];
            if (plan.boots())
                for (const auto& item : plan.items())
                    if (item.job >= 0 && !fixed_[item.job] && item.start >= spot.start &&
                        std::find(out.begin(), out.end(), item.job) == out.end())
                        out.push_back(item.job), queue.push_back(item.job);
        }
        for (int n : spot.nodes) {
            auto& plan = *plans_[n];
            auto& index = indices_[snapshot_->nodes[n].class_id];
            index.leave(n, plan);
            Micro before = plan.cost();
            plan.remove_job(j);
            change_node(n, before, plan);
            index.enter(n, plan);
        }
        late_ -= spot.late;
        ++unplaced_;
        spots_[j].reset();
    }
    return out;
}

bool Schedule::affordable(int job, const Spot& spot) const {
    const auto& j = snapshot_->jobs[job];
    const auto& config = j.configs[spot.config];
    const auto& c = snapshot_->classes[config.class_id];
    if (c.rented)
        for (const auto& budget : snapshot_->budgets)
            if (spot.start < budget.until && rent_ + spot.nodes_cost > budget.left_micro) return false;
    if (!j.max_cost_micro) return true;
    return standalone_cost(*snapshot_, j, spot.config, spot.start, spot.end) <= *j.max_cost_micro;
}

bool Schedule::groups_bear(const Spot& spot, int class_id) const {
    for (int g : groups_of_[class_id]) {
        std::vector<std::pair<Seconds, int>> events{{spot.start, 0}};
        for (int n : group_nodes_[g]) {
            auto items = plans_[n]->items();
            if (std::find(spot.nodes.begin(), spot.nodes.end(), n) != spot.nodes.end())
                items.push_back({spot.start, spot.end, spot.ready, 0, 0, -1, 0, 0, -1});
            std::sort(items.begin(), items.end(),
                      [](const NodeItem& a, const NodeItem& b) { return a.start < b.start; });
            for (const auto& span : plans_[n]->leases(items)) {
                events.emplace_back(span.launch, 1);
                events.emplace_back(span.release, -1);
            }
        }
        for (int n : spot.nodes)
            if (!plans_[n]) {
                events.emplace_back(spot.start, 1);
                events.emplace_back(spot.end + snapshot_->classes[class_id].release_s, -1);
            }
        std::sort(events.begin(), events.end());
        int used = 0;
        for (const auto& [at, change] : events)
            if ((used += change) > snapshot_->groups[g].max_nodes) return false;
    }
    return true;
}

std::vector<Seconds> Schedule::group_releases(int class_id, Seconds from) const {
    std::vector<Seconds> times;
    for (int g : groups_of_[class_id])
        for (int n : group_nodes_[g])
            for (const auto& span : plans_[n]->leases(plans_[n]->items()))
                if (span.release > from) times.push_back(span.release);
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    return times;
}

}  // namespace squall
