// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "src/core/check_node.h"

namespace squall {
namespace {

class Checker {
  public:
    Checker(const Snapshot& snapshot, const Plan& plan)
        : snapshot_(snapshot), plan_(plan), uses_(snapshot.nodes.size()) {}

    std::vector<std::string> run() {
        if (plan_.placements.size() != snapshot_.jobs.size()) {
            say("{} placements for {} jobs", plan_.placements.size(), snapshot_.jobs.size());
            return out_;
        }
        take_fixed();
        for (std::size_t j = 0; j < snapshot_.jobs.size(); ++j)
            if (plan_.placements[j].config >= 0 && well_formed(static_cast<int>(j))) take(static_cast<int>(j));
        if (!out_.empty()) return out_;
        for (std::size_t n = 0; n < uses_.size(); ++n) check_capacity(snapshot_, static_cast<int>(n), uses_[n], out_);
        for (std::size_t j = 0; j < snapshot_.jobs.size(); ++j)
            if (plan_.placements[j].config >= 0) check_times(static_cast<int>(j));
        check_caps();
        check_costs();
        return out_;
    }

  private:
    template <typename... Args>
    void say(fmt::format_string<Args...> text, Args&&... args) {
        out_.push_back(fmt::format(text, std::forward<Args>(args)...));
    }
    const NodeClass& class_of(int node) const { return snapshot_.classes[snapshot_.nodes[node].class_id]; }

    void take_fixed() {
        for (const auto& hold : snapshot_.holds) {
            if (hold.job >= 0) continue;
            Seconds end = hold.end <= snapshot_.now ? snapshot_.now + 60 : hold.end;
            uses_[hold.node].push_back({std::min(hold.start, hold.end), end, hold.gpus, hold.shards,
                                        hold.shards > 0 ? std::max(0, hold.gpu_index) : -1, hold.cpus, hold.mem_mb, 0,
                                        false, true});
        }
    }

    bool well_formed(int j) {
        const auto& p = plan_.placements[j];
        const auto& job = snapshot_.jobs[j];
        if (p.job != j || p.job_id != job.id) return say("job {}: placement is for job {}", job.id, p.job_id), false;
        if (p.config >= static_cast<int>(job.configs.size()))
            return say("job {}: no configuration {}", job.id, p.config), false;
        const auto& config = job.configs[p.config];
        if (static_cast<int>(p.nodes.size()) != config.nodes)
            return say("job {}: {} nodes, its configuration takes {}", job.id, p.nodes.size(), config.nodes), false;
        auto nodes = p.nodes;
        std::sort(nodes.begin(), nodes.end());
        if (std::adjacent_find(nodes.begin(), nodes.end()) != nodes.end())
            return say("job {}: a node twice", job.id), false;
        for (int n : nodes) {
            if (n < 0 || n >= static_cast<int>(snapshot_.nodes.size()))
                return say("job {}: no node {}", job.id, n), false;
            if (snapshot_.nodes[n].class_id != config.class_id)
                return say("job {}: {} is not of class {}", job.id, snapshot_.nodes[n].name,
                           snapshot_.classes[config.class_id].name),
                       false;
        }
        return true;
    }

    void take(int j) {
        const auto& p = plan_.placements[j];
        const auto& job = snapshot_.jobs[j];
        const auto& config = job.configs[p.config];
        for (int n : p.nodes)
            uses_[n].push_back({p.start, p.end, config.gpus, config.shards, config.shards > 0 ? p.gpu_index : -1,
                                config.cpus, config.mem_mb, job.id, !job.running, job.running || kept_pin(j)});
    }

    // Released to Slurm already and left where it was.
    bool kept_pin(int j) const {
        const auto& job = snapshot_.jobs[j];
        return job.pinned_config == plan_.placements[j].config && job.pinned_nodes == plan_.placements[j].nodes;
    }

    void check_times(int j) {
        const auto& p = plan_.placements[j];
        const auto& job = snapshot_.jobs[j];
        const auto& config = job.configs[p.config];
        const auto& c = snapshot_.classes[config.class_id];
        if (job.running) {
            if (p.config != job.running->config || p.nodes != job.running->nodes)
                say("job {}: it is running and would be moved", job.id);
            return;
        }
        bool pinned = kept_pin(j);
        if (!pinned && p.start < std::max(snapshot_.now, job.release))
            say("job {}: starts at {}, before {}", job.id, p.start, std::max(snapshot_.now, job.release));
        if (!pinned && job.burst != Burst::automatic && c.rented != (job.burst == Burst::only))
            say("job {}: class {} is against its burst policy", job.id, c.name);
        Seconds ready = p.start;
        for (int n : p.nodes) {
            const auto& node = snapshot_.nodes[n];
            bool waits = node.state == NodeState::booting || node.state == NodeState::unavailable;
            if (waits && node.ready_at > p.start && !pinned)
                say("job {}: {} is not usable before {}", job.id, node.name, node.ready_at);
            for (const auto& use : uses_[n])
                if (use.job_id == job.id) ready = std::max(ready, p.start + boot_for(snapshot_, n, uses_[n], use));
        }
        auto work = (static_cast<__int128>(config.run_s) * job.remaining_ppm + 999999) / 1000000;
        Seconds least = ready + std::max<Seconds>(1, job.stage_in_s + static_cast<Seconds>(work));
        if (p.end < least) say("job {}: ends at {}, cannot before {}", job.id, p.end, least);
    }

    using Leased = std::vector<std::pair<Seconds, int>>;  // (time, change in leased nodes)

    // By class; `given`: only what runs, is released or is not Squall's.
    std::vector<Leased> leased(bool given) const {
        std::vector<Leased> events(snapshot_.classes.size());
        for (std::size_t n = 0; n < uses_.size(); ++n) {
            auto uses = uses_[n];
            if (given) std::erase_if(uses, [](const CheckedUse& use) { return !use.given; });
            for (const auto& lease : checked_leases(snapshot_, static_cast<int>(n), uses)) {
                auto& list = events[snapshot_.nodes[n].class_id];
                list.emplace_back(lease.launch, 1);
                list.emplace_back(lease.release, -1);
            }
        }
        return events;
    }

    void check_caps() {
        auto events = leased(false), given = leased(true);
        for (std::size_t c = 0; c < events.size(); ++c)
            if (snapshot_.classes[c].rented && snapshot_.classes[c].max_nodes > 0)
                check_cap("class " + snapshot_.classes[c].name, events[c], given[c], snapshot_.classes[c].max_nodes);
        for (const auto& group : snapshot_.groups) {
            Leased all, fixed;
            for (int c : group.class_ids) {
                all.insert(all.end(), events[c].begin(), events[c].end());
                fixed.insert(fixed.end(), given[c].begin(), given[c].end());
            }
            check_cap("group " + group.name, all, fixed, group.max_nodes);
        }
    }

    // A cap that was lowered under what runs already is not the plan's fault, but the plan must add nothing there.
    void check_cap(const std::string& what, const Leased& events, const Leased& given, int cap) {
        auto count = [](const Leased& list, Seconds at) {
            int used = 0;
            for (const auto& [when, change] : list)
                if (when <= at) used += change;
            return used;
        };
        for (const auto& [at, change] : events) {
            if (change < 0) continue;
            int used = count(events, at);
            if (used > std::max(cap, count(given, at)))
                return say("{} at {}: {} nodes used of {}", what, at, used, cap);
        }
    }

    void check_costs() {
        Cost sum, true_cost;
        for (std::size_t j = 0; j < snapshot_.jobs.size(); ++j) {
            const auto& p = plan_.placements[j];
            const auto& job = snapshot_.jobs[j];
            sum.late += p.cost.late, sum.rent += p.cost.rent, sum.energy += p.cost.energy, sum.hard += p.cost.hard;
            if (p.config < 0 || !job.due || p.end <= *job.due) continue;
            true_cost.late += cost_of_time(job.late_micro_h, p.end - *job.due);
            if (job.due_is_hard) true_cost.hard += snapshot_.hard_due_penalty_micro;
        }
        for (std::size_t n = 0; n < uses_.size(); ++n) {
            int node = static_cast<int>(n);
            if (class_of(node).rented)
                true_cost.rent += checked_rent(snapshot_, node, uses_[n]);
            else
                true_cost.energy += checked_energy(snapshot_, node, uses_[n]);
        }
        compare("lateness", plan_.cost.late, sum.late, true_cost.late, 0);
        compare("hard due dates", plan_.cost.hard, sum.hard, true_cost.hard, 0);
        compare("rent", plan_.cost.rent, sum.rent, true_cost.rent, 0);
        // Energy is rounded up at each change of load; two ways of stepping differ by a micro a step.
        Micro steps = 0;
        for (const auto& uses : uses_) steps += 8 * static_cast<Micro>(uses.size() * uses.size()) + 8;
        compare("energy", plan_.cost.energy, sum.energy, true_cost.energy, steps);
        check_budgets(true_cost.rent);
    }

    void compare(const char* what, Micro total, Micro shares, Micro truth, Micro tolerance) {
        if (total != shares) say("{}: shares sum to {}, the plan says {}", what, shares, total);
        if (std::llabs(total - truth) > tolerance) say("{}: costs {}, the plan says {}", what, truth, total);
    }

    void check_budgets(Micro rent) {
        for (const auto& budget : snapshot_.budgets) {
            Micro fixed = rent_before(budget.until, true), all = rent_before(budget.until, false);
            if (all > fixed && all > budget.left_micro)
                say("budget until {}: {} of {} micro", budget.until, std::min(all, rent), budget.left_micro);
        }
    }

    // Rent of leases that begin before `until`, of running and released jobs alone or of all.
    Micro rent_before(Seconds until, bool given_only) const {
        Micro sum = 0;
        for (std::size_t n = 0; n < uses_.size(); ++n) {
            if (!class_of(static_cast<int>(n)).rented) continue;
            std::vector<CheckedUse> uses;
            for (const auto& use : uses_[n])
                if (use.start < until && (!given_only || use.given)) uses.push_back(use);
            sum += checked_rent(snapshot_, static_cast<int>(n), uses);
        }
        return sum;
    }

    const Snapshot& snapshot_;
    const Plan& plan_;
    std::vector<std::vector<CheckedUse>> uses_;
    std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> check_plan(const Snapshot& snapshot, const Plan& plan) {
    return Checker(snapshot, plan).run();
}

}  // namespace squall
