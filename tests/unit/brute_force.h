// SPDX-License-Identifier: GPL-3.0-or-later
// The cheapest plan of a tiny problem by trying everything: every order of starts, configuration, set of nodes and a
// rich set of start times, cut off only where what is placed already costs too much. Written against the model and the
// checker's node arithmetic, sharing nothing with the planner. Leaves out caps, budgets and limits of jobs: clear them
// first. For jobs that do not run yet.
#pragma once
#include <algorithm>
#include <set>
#include <vector>

#include "src/core/check_node.h"

namespace squall {

class BruteForce {
  public:
    // Looks for plans that cost less than `cutoff`.
    BruteForce(const Snapshot& snapshot, Micro cutoff)
        : s_(snapshot), best_(cutoff), uses_(snapshot.nodes.size()), node_cost_(snapshot.nodes.size(), 0) {
        for (const auto& hold : s_.holds) {
            Seconds end = hold.end;
            if (hold.job >= 0) end = running_until(s_.jobs[hold.job]);
            if (hold.job < 0 && end <= s_.now) end = s_.now + 60;
            std::uint32_t id = hold.job >= 0 ? s_.jobs[hold.job].id : 0;
            int label = hold.shards > 0 ? std::max(0, hold.gpu_index) : -1;
            uses_[hold.node].push_back(
                {hold.start, end, hold.gpus, hold.shards, label, hold.cpus, hold.mem_mb, id, false, true});
        }
        for (std::size_t j = 0; j < s_.jobs.size(); ++j) {
            const auto& job = s_.jobs[j];
            if (job.running)
                late_ += lateness(job, running_until(job));
            else if (placeable(job))
                waiting_.push_back(static_cast<int>(j));
        }
        for (std::size_t n = 0; n < uses_.size(); ++n) reprice(static_cast<int>(n));
    }

    // The least cost, or the cutoff where nothing costs less.
    Micro solve() {
        place_next(s_.now);
        return best_;
    }
    int placeable_jobs() const { return static_cast<int>(waiting_.size()); }
    long tried() const { return tried_; }

  private:
    Seconds running_until(const Job& job) const {
        Seconds end = job.running->expected_end, so_far = s_.now - job.running->start;
        return end > s_.now ? end : s_.now + std::max<Seconds>(5, so_far / 10);
    }
    Micro lateness(const Job& job, Seconds end) const {
        if (!job.due || end <= *job.due) return 0;
        return cost_of_time(job.late_micro_h, end - *job.due) + (job.due_is_hard ? s_.hard_due_penalty_micro : 0);
    }
    static Seconds length(const Job& job, const Config& config) {
        auto left = (static_cast<__int128>(config.run_s) * job.remaining_ppm + 999999) / 1000000;
        return std::max<Seconds>(1, job.stage_in_s + static_cast<Seconds>(left));
    }
    bool allowed(const Job& job, const Config& config) const {
        bool rented = s_.classes[config.class_id].rented;
        return job.burst == Burst::automatic || rented == (job.burst == Burst::only);
    }
    bool in_service(int node) const { return s_.nodes[node].ready_at < kForever; }
    bool placeable(const Job& job) const {
        for (const auto& config : job.configs) {
            const auto& c = s_.classes[config.class_id];
            int nodes = 0;
            for (std::size_t n = 0; n < s_.nodes.size(); ++n)
                nodes += s_.nodes[n].class_id == config.class_id && in_service(static_cast<int>(n));
            bool fits = config.gpus <= c.gpus && (c.cpus == 0 || config.cpus <= c.cpus) &&
                        (c.mem_mb == 0 || config.mem_mb <= c.mem_mb);
            if (allowed(job, config) && nodes >= config.nodes && fits) return true;
        }
        return false;
    }
    Seconds opens(int node) const {
        const auto& n = s_.nodes[node];
        bool waits = n.state == NodeState::booting || n.state == NodeState::unavailable;
        return waits ? std::max(s_.now, n.ready_at) : s_.now;
    }

    void reprice(int node) {
        bool rented = s_.classes[s_.nodes[node].class_id].rented;
        nodes_cost_ -= node_cost_[node];
        node_cost_[node] = rented ? checked_rent(s_, node, uses_[node]) : checked_energy(s_, node, uses_[node]);
        nodes_cost_ += node_cost_[node];
    }

    // What the jobs that still wait must cost in lateness, since nothing may start before `from`.
    Micro least_lateness(Seconds from) const {
        Micro sum = 0;
        for (int j : waiting_) {
            const auto& job = s_.jobs[j];
            Seconds fastest = kForever;
            for (const auto& config : job.configs)
                if (allowed(job, config)) fastest = std::min(fastest, length(job, config));
            sum += lateness(job, std::max(from, job.release) + fastest);
        }
        return sum;
    }

    void place_next(Seconds from) {
        ++tried_;
        if (waiting_.empty()) {
            best_ = std::min(best_, late_ + nodes_cost_);
            return;
        }
        if (late_ + nodes_cost_ + least_lateness(from) >= best_) return;
        for (std::size_t i = 0; i < waiting_.size(); ++i) {
            int j = waiting_[i];
            waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
            for (const auto& config : s_.jobs[j].configs)
                if (allowed(s_.jobs[j], config)) choose_nodes(j, config, {}, 0, std::max(from, s_.jobs[j].release));
            waiting_.insert(waiting_.begin() + static_cast<std::ptrdiff_t>(i), j);
        }
    }

    void choose_nodes(int j, const Config& config, std::vector<int> nodes, int next, Seconds from) {
        if (static_cast<int>(nodes.size()) == config.nodes) return choose_start(j, config, nodes, from);
        for (int n = next; n < static_cast<int>(s_.nodes.size()); ++n) {
            if (s_.nodes[n].class_id != config.class_id || !in_service(n)) continue;
            auto more = nodes;
            more.push_back(n);
            choose_nodes(j, config, more, n + 1, from);
        }
    }

    void choose_start(int j, const Config& config, const std::vector<int>& nodes, Seconds from) {
        std::set<Seconds> starts{from};
        Seconds run = length(s_.jobs[j], config);
        for (int n : nodes) {
            starts.insert(std::max(from, opens(n)));
            for (const auto& use : uses_[n]) starts.insert(std::max(from, use.end));
        }
        add_late_starts(starts, config, from, run);
        bool first = true;
        for (Seconds start : starts) {
            bool tight = std::any_of(nodes.begin(), nodes.end(), [&](int n) { return opens(n) > start; });
            if (tight) continue;
            // The first that fits is the left-most; later ones matter only for prices that change and for leases.
            bool fits = place(j, config, nodes, start, first);
            if (fits && first && starts_pay_only_early(config)) return;
            first = first && !fits;
        }
    }

    bool starts_pay_only_early(const Config& config) const {
        const auto& c = s_.classes[config.class_id];
        return !c.rented && c.tariff.size() < 2 && !c.power_down;
    }

    void add_late_starts(std::set<Seconds>& starts, const Config& config, Seconds from, Seconds run) const {
        const auto& c = s_.classes[config.class_id];
        if (c.tariff.size() > 1)
            for (Seconds day = from / kDay - 1; day <= from / kDay + 1; ++day)
                for (const auto& step : c.tariff)
                    for (Seconds at : {day * kDay - s_.utc_offset_s + step.from_s,
                                       day * kDay - s_.utc_offset_s + step.from_s - run})
                        if (at > from) starts.insert(at);
        if (c.rented)
            for (const auto& job : s_.jobs)
                for (Seconds at : {job.release, job.release - run})
                    if (at > from) starts.insert(at);
    }

    bool place(int j, const Config& config, const std::vector<int>& nodes, Seconds start, bool /*first*/) {
        const auto& job = s_.jobs[j];
        int label = -1;
        Seconds ready = start;
        for (int n : nodes) ready = std::max(ready, ready_on(n, start, job.id));
        Seconds end = ready + length(job, config);
        if (config.shards > 0) {
            bool any = false;
            for (int l = 0; l < s_.classes[config.class_id].gpus + 1; ++l) {
                if (!holds(nodes, {start, end, 0, config.shards, l, config.cpus, config.mem_mb, job.id, true, false}))
                    continue;
                any = true;
                commit(job, config, nodes, start, ready, end, l);
            }
            return any;
        }
        if (!holds(nodes, {start, end, config.gpus, 0, label, config.cpus, config.mem_mb, job.id, true, false}))
            return false;
        commit(job, config, nodes, start, ready, end, label);
        return true;
    }

    // Boots end when the node is up for the jobs placed before, too.
    Seconds ready_on(int n, Seconds start, std::uint32_t id) const {
        CheckedUse use{start, start + 1, 0, 0, -1, 0, 0, UINT32_MAX, true, false};
        (void)id;
        Seconds ready = start + boot_for(s_, n, uses_[n], use);
        for (const auto& [node, from, until] : boots_)
            if (node == n && from <= start) ready = std::max(ready, until);
        return ready;
    }

    bool holds(const std::vector<int>& nodes, const CheckedUse& use) const {
        std::vector<std::string> errors;
        for (int n : nodes) {
            auto with = uses_[n];
            with.push_back(use);
            check_capacity(s_, n, with, errors);
        }
        return errors.empty();
    }

    void commit(const Job& job, const Config& config, const std::vector<int>& nodes, Seconds start, Seconds ready,
                Seconds end, int label) {
        Micro late = lateness(job, end);
        late_ += late;
        for (int n : nodes) {
            uses_[n].push_back({start, end, config.gpus, config.shards, label, config.cpus, config.mem_mb, job.id, true,
                                false});
            boots_.push_back({n, start, ready});
            reprice(n);
        }
        place_next(start);
        for (int n : nodes) {
            uses_[n].pop_back();
            boots_.pop_back();
            reprice(n);
        }
        late_ -= late;
    }

    struct Boot {
        int node;
        Seconds from, until;
    };
    const Snapshot& s_;
    Micro best_;
    std::vector<std::vector<CheckedUse>> uses_;
    std::vector<Micro> node_cost_;
    std::vector<Boot> boots_;
    std::vector<int> waiting_;
    Micro late_ = 0, nodes_cost_ = 0;
    long tried_ = 0;
};

}  // namespace squall
