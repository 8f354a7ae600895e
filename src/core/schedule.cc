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
      placed_at_(snapshot.jobs.size(), 0),
      committed_(snapshot.budgets.size(), 0),
      unplaced_(static_cast<int>(snapshot.jobs.size())) {
    for (int c = 0; c < static_cast<int>(snapshot.classes.size()); ++c) {
        facts_.emplace_back(snapshot, c);
        indices_.emplace_back(snapshot.classes[c].gpus);
    }
    for (std::size_t g = 0; g < snapshot.groups.size(); ++g)
        for (int c : snapshot.groups[g].class_ids) groups_of_[c].push_back(static_cast<int>(g));
    make_blanks();
    choose_usable();
    take_fixed_load();
    take_running();
    take_pinned();
}

// Nodes beyond the class's cap are left out: those in use are kept first, then those promised to a released job, then
// those that are up. What runs on a node that is left out stays there, but nothing new goes to it.
void Schedule::choose_usable() {
    const auto& nodes = snapshot_->nodes;
    std::vector<int> rank(nodes.size(), 3), left(snapshot_->classes.size(), INT32_MAX);
    for (std::size_t c = 0; c < left.size(); ++c)
        if (snapshot_->classes[c].max_nodes > 0) left[c] = snapshot_->classes[c].max_nodes;
    for (std::size_t n = 0; n < nodes.size(); ++n)
        if (nodes[n].state != NodeState::powered_down) rank[n] = 2;
    for (const auto& job : snapshot_->jobs)
        for (int n : job.pinned_nodes) rank[n] = 1;
    for (const auto& hold : snapshot_->holds) rank[hold.node] = 0;
    usable_.assign(nodes.size(), false);
    for (int r = 0; r <= 3; ++r)
        for (std::size_t n = 0; n < nodes.size(); ++n)
            if (rank[n] == r && nodes[n].ready_at < kForever && left[nodes[n].class_id] > 0) {
                --left[nodes[n].class_id];
                usable_[n] = true;
            }
    // Taken from the back, so the first node of the file is offered first.
    for (int n = static_cast<int>(nodes.size()) - 1; n >= 0; --n)
        if (usable_[n]) indices_[nodes[n].class_id].add_untouched(kind_of(n), n);
}

ClassIndex::Kind Schedule::kind_of(int node) const {
    const auto& n = snapshot_->nodes[node];
    bool waits = n.state == NodeState::unavailable || n.state == NodeState::booting;
    return {n.state, waits ? std::max(snapshot_->now, n.ready_at) : snapshot_->now, n.leased_at.value_or(-1)};
}

void Schedule::make_blanks() {
    for (int n = 0; n < static_cast<int>(snapshot_->nodes.size()); ++n) {
        const auto& node = snapshot_->nodes[n];
        auto [at, added] = alike_.try_emplace({node.class_id, kind_of(n)}, facts_[node.class_id], node);
        blanks_.push_back(&at->second);
    }
}

NodePlan& Schedule::touch(int node) {
    if (!plans_[node]) {
        int c = snapshot_->nodes[node].class_id;
        plans_[node] = std::make_unique<NodePlan>(*blanks_[node]);
        if (usable_[node]) {
            indices_[c].touch(kind_of(node), node);
            indices_[c].enter(node, *plans_[node]);
        }
        for (int g : groups_of_[c]) group_nodes_[g].push_back(node);
    }
    return *plans_[node];
}

void Schedule::update_index(int node) {
    if (usable_[node]) indices_[snapshot_->nodes[node].class_id].update(node, *plans_[node]);
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
        if (item.shards > 0 && item.gpu_index < 0) item.gpu_index = 0;
        plan.add(item);
        plan.seal();
        update_index(hold.node);
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

namespace {

// A GPU that is shared already where the share fits, else one of its own.
int label_that_fits(const NodePlan& plan, const NodeWant& want, Seconds start, Seconds end) {
    for (int label : plan.labels())
        if (plan.fits(want, start, end, label)) return label;
    return plan.new_label();
}

}  // namespace

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
            const auto& plan = plan_of(n);
            const auto& node = snapshot_->nodes[n];
            Seconds opens = node.state == NodeState::booting ? node.ready_at : snapshot_->now;
            if (node.ready_at >= kForever) fits = false;
            spot.ready = std::max({spot.ready, opens, plan.ready_at(snapshot_->now)});
        }
        spot.end = spot.ready + run_length(job, config);
        for (int n : spot.nodes) {
            const auto& plan = plan_of(n);
            // A node that boots for this very job is its own from now on, though nothing else may start there yet.
            Seconds from = std::max(spot.start, kind_of(n).open_at);
            spot.gpu_index = config.shards > 0 ? label_that_fits(plan, want_of(config), from, spot.end) : -1;
            fits = fits && plan.fits(want_of(config), from, spot.end, spot.gpu_index);
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

void Schedule::change_node(int node, Seconds start, Micro change) {
    nodes_cost_ += change;
    if (!snapshot_->classes[snapshot_->nodes[node].class_id].rented) return;
    for (std::size_t b = 0; b < committed_.size(); ++b)
        if (start < snapshot_->budgets[b].until) committed_[b] += change;
}

void Schedule::place(int job, const Spot& spot) {
    const auto& config = snapshot_->jobs[job].configs[spot.config];
    for (int n : spot.nodes) {
        auto& plan = touch(n);
        Micro before = plan.cost();
        plan.add({spot.start, spot.end, spot.ready, config.gpus, config.shards, spot.gpu_index, config.cpus,
                  config.mem_mb, job});
        change_node(n, spot.start, plan.cost() - before);
        update_index(n);
    }
    late_ += spot.late;
    --unplaced_;
    placed_at_[job] = ++placements_;
    spots_[job] = spot;
}

std::vector<int> Schedule::dependents(int job) const {
    std::vector<int> out{job};
    for (std::size_t i = 0; i < out.size(); ++i) {
        for (int n : spots_[out[i]]->nodes) {
            if (!plans_[n]->boots()) continue;
            for (const auto& item : plans_[n]->items())
                if (item.job >= 0 && !fixed_[item.job] && placed_at_[item.job] > placed_at_[out[i]] &&
                    std::find(out.begin(), out.end(), item.job) == out.end())
                    out.push_back(item.job);
        }
    }
    // Last come, first gone: then each takes away exactly the rent that it brought.
    std::sort(out.begin(), out.end(), [&](int a, int b) { return placed_at_[a] > placed_at_[b]; });
    return out;
}

std::vector<int> Schedule::eject(int job) {
    auto out = dependents(job);
    for (int j : out) {
        const Spot spot = *spots_[j];
        for (int n : spot.nodes) {
            auto& plan = *plans_[n];
            Micro before = plan.cost();
            plan.remove_job(j);
            change_node(n, spot.start, plan.cost() - before);
            update_index(n);
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
    for (std::size_t b = 0; c.rented && b < committed_.size(); ++b) {
        const auto& budget = snapshot_->budgets[b];
        if (spot.start < budget.until && committed_[b] + spot.nodes_cost > budget.left_micro) return false;
    }
    if (!j.max_cost_micro) return true;
    return standalone_cost(*snapshot_, j, spot.config, spot.start, spot.end) <= *j.max_cost_micro;
}

void Schedule::add_leases(int node, const NodeItem* more, LeaseEvents& events) const {
    for (const auto& span : plan_of(node).leases(more)) {
        events.emplace_back(span.launch, 1);
        events.emplace_back(span.release, -1);
    }
}

namespace {

// Does `with` ever lease more nodes than the cap and than `without` does at that time? What runs already may be over a
// cap that was lowered since.
bool exceeds(std::vector<std::pair<Seconds, int>> with, std::vector<std::pair<Seconds, int>> without, int cap) {
    std::sort(with.begin(), with.end());
    std::sort(without.begin(), without.end());
    int used = 0, was = 0;
    auto old = without.begin();
    for (std::size_t i = 0; i < with.size(); ++i) {
        used += with[i].second;
        for (; old != without.end() && old->first <= with[i].first; ++old) was += old->second;
        bool last_of_instant = i + 1 == with.size() || with[i + 1].first != with[i].first;
        if (last_of_instant && used > std::max(cap, was)) return true;
    }
    return false;
}

}  // namespace

bool Schedule::groups_bear(const Spot& spot, int class_id) const {
    for (int g : groups_of_[class_id]) {
        LeaseEvents with, without;
        for (int n : group_nodes_[g]) add_leases(n, nullptr, without);
        for (int n : group_nodes_[g])
            if (std::find(spot.nodes.begin(), spot.nodes.end(), n) == spot.nodes.end()) add_leases(n, nullptr, with);
        NodeItem item{spot.start, spot.end, spot.ready, 0, 0, -1, 0, 0, -1};
        for (int n : spot.nodes) add_leases(n, &item, with);
        if (exceeds(std::move(with), std::move(without), snapshot_->groups[g].max_nodes)) return false;
    }
    return true;
}

std::vector<Seconds> Schedule::group_releases(int class_id, Seconds from) const {
    std::vector<Seconds> times;
    for (int g : groups_of_[class_id])
        for (int n : group_nodes_[g])
            for (const auto& span : plans_[n]->leases())
                if (span.release > from) times.push_back(span.release);
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    return times;
}

void sort_by_start(std::vector<std::pair<int, Spot>>& spots) {
    std::sort(spots.begin(), spots.end(), [](const auto& a, const auto& b) {
        return std::pair(a.second.start, a.first) < std::pair(b.second.start, b.first);
    });
}

void place_all(Schedule& schedule, std::vector<std::pair<int, Spot>> spots) {
    sort_by_start(spots);
    for (const auto& [j, spot] : spots) schedule.place(j, spot);
}

}  // namespace squall
