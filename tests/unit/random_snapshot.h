// SPDX-License-Identifier: GPL-3.0-or-later
// Random scheduling problems for property tests: local and rented classes, shares, CPUs and memory, unmanaged jobs,
// reservations, drained nodes, running and released jobs, capacity groups, budgets. The same seed gives the same
// problem.
#pragma once
#include <algorithm>
#include <random>
#include <string>

#include "src/core/model.h"

namespace squall {

class RandomProblem {
  public:
    explicit RandomProblem(unsigned seed) : random_(seed) {}

    Snapshot make(int max_nodes, int max_jobs, bool extras) {
        Snapshot s;
        s.now = 1000000 + pick(0, 86400);
        s.utc_offset_s = 3600 * pick(-3, 3);
        int classes = pick(1, 3);
        for (int c = 0; c < classes; ++c) s.classes.push_back(node_class(c));
        for (int c = 0; c < classes; ++c)
            for (int n = pick(1, std::max(1, max_nodes / classes)); n > 0; --n) s.nodes.push_back(node(s, c));
        if (extras) add_holds(s);
        int jobs = pick(1, max_jobs);
        for (int j = 0; j < jobs; ++j) s.jobs.push_back(job(s, j));
        if (extras) add_limits(s);
        if (extras) add_running(s);
        return s;
    }

  private:
    int pick(int least, int most) {
        return least + static_cast<int>(random_() % static_cast<unsigned>(most - least + 1));
    }
    bool chance(int percent) { return pick(1, 100) <= percent; }

    NodeClass node_class(int index) {
        NodeClass c;
        c.name = "class" + std::to_string(index);
        c.gpus = pick(1, 4);
        c.shards_per_gpu = chance(60) ? 4 : 0;
        if (chance(30)) c.cpus = 8, c.mem_mb = 64000;
        c.rented = index > 0 && chance(50);
        if (c.rented) {
            c.price_micro_h = pick(1, 10) * 1000000;
            c.billing_step_s = chance(50) ? 60 : 1;
            c.billing_min_s = chance(50) ? 600 : 0;
            c.boot_s = pick(0, 300);
            c.release_s = pick(0, 300);
        } else {
            c.idle_watts = pick(0, 300);
            for (int g = 1; g <= c.gpus; ++g) c.busy_watts.push_back(c.idle_watts + g * pick(80, 120));
            std::sort(c.busy_watts.begin(), c.busy_watts.end());
            c.tariff.push_back({0, 100000});
            if (chance(50)) c.tariff.push_back({7 * kHour, 300000});
            c.power_down = chance(50);
            c.pue_milli = 1300;
            c.boot_s = 60;
        }
        return c;
    }

    Node node(const Snapshot& s, int class_id) {
        Node n;
        n.class_id = class_id;
        n.name = "n" + std::to_string(s.nodes.size());
        if (s.classes[class_id].rented) {
            n.state = chance(70) ? NodeState::powered_down : NodeState::up;
            if (n.state == NodeState::up) n.leased_at = s.now - pick(0, 5000);
        } else if (chance(15)) {
            n.state = chance(40) ? NodeState::powered_down : chance(60) ? NodeState::booting : NodeState::unavailable;
            if (n.state == NodeState::booting) n.ready_at = s.now + pick(1, 300);
            if (n.state == NodeState::unavailable) n.ready_at = chance(50) ? kForever : s.now + pick(1, 9000);
        }
        return n;
    }

    void add_holds(Snapshot& s) {
        for (int n = 0; n < static_cast<int>(s.nodes.size()); ++n)
            if (s.nodes[n].state == NodeState::up && chance(30)) {
                Hold hold;
                hold.node = n;
                hold.gpus = pick(1, s.classes[s.nodes[n].class_id].gpus);
                hold.start = s.now - pick(0, 1000);
                hold.end = std::max(hold.start + 1, s.now + pick(-50, 20000));
                if (chance(20)) hold.start = s.now + pick(0, 9000), hold.end = hold.start + pick(1, 9000);
                s.holds.push_back(hold);
            }
    }

    // GPUs of a node that nothing holds now.
    static int free_now(const Snapshot& s, int node) {
        int free = s.classes[s.nodes[node].class_id].gpus;
        for (const auto& hold : s.holds)
            if (hold.node == node && hold.start <= s.now) free -= hold.gpus + (hold.shards > 0 ? 1 : 0);
        return free;
    }

    std::vector<int> nodes_for(const Snapshot& s, const Config& config, bool up) {
        std::vector<int> nodes;
        for (int n = 0; n < static_cast<int>(s.nodes.size()); ++n) {
            bool usable = s.nodes[n].state == NodeState::up || (!up && s.nodes[n].state != NodeState::unavailable);
            if (s.nodes[n].class_id == config.class_id && usable && free_now(s, n) >= std::max(1, config.gpus))
                nodes.push_back(n);
            if (static_cast<int>(nodes.size()) == config.nodes) return nodes;
        }
        return {};
    }

    // Some jobs run already, some are released to Slurm and wait for their nodes.
    void add_running(Snapshot& s) {
        for (int j = 0; j < static_cast<int>(s.jobs.size()); ++j) {
            auto& job = s.jobs[j];
            if (job.configs.empty() || !chance(25)) continue;
            int c = pick(0, static_cast<int>(job.configs.size()) - 1);
            const auto& config = job.configs[c];
            bool runs = chance(60);
            auto nodes = nodes_for(s, config, runs);
            if (nodes.empty()) continue;
            if (!runs) {
                job.pinned_config = c;
                job.pinned_nodes = nodes;
                continue;
            }
            Seconds start = s.now - pick(0, 3000);
            job.running = Running{c, nodes, start, std::max(start + 1, s.now + pick(-300, 9000))};
            for (int n : nodes)
                s.holds.push_back({n, config.gpus, config.shards, config.shards > 0 ? 0 : -1, config.cpus,
                                   config.mem_mb, start, job.running->expected_end, j});
        }
    }

    Job job(const Snapshot& s, int index) {
        Job j;
        j.id = static_cast<std::uint32_t>(index + 1);
        j.release = s.now - 100 + (chance(20) ? pick(0, 5000) : 0);
        Seconds base = pick(100, 20000);
        bool small = chance(35);
        for (int c = 0; c < static_cast<int>(s.classes.size()); ++c) add_configs(s, j, c, base, small);
        if (chance(85)) {
            j.due = s.now + pick(0, 30000);
            j.late_micro_h = pick(0, 40) * 1000000;
        }
        j.due_is_hard = j.due && chance(10);
        j.stage_in_s = chance(20) ? pick(0, 100) : 0;
        if (chance(15)) j.remaining_ppm = pick(1, 1000000);
        j.burst = chance(80) ? Burst::automatic : chance(70) ? Burst::never : Burst::only;
        return j;
    }

    void add_configs(const Snapshot& s, Job& j, int class_id, Seconds base, bool small) {
        const auto& c = s.classes[class_id];
        auto add = [&](int nodes, int gpus, int shards) {
            Config config;
            config.class_id = class_id;
            config.nodes = nodes;
            config.gpus = gpus;
            config.shards = shards;
            config.run_s = std::max<Seconds>(1, base / std::max(1, nodes * gpus) + pick(0, 50));
            config.run_high_s = config.run_s;
            if (chance(30)) config.cpus = pick(0, 6), config.mem_mb = pick(0, 40) * 1000;
            j.configs.push_back(config);
        };
        if (small) {
            if (c.shards_per_gpu > 0) add(1, 0, pick(1, c.shards_per_gpu));
            return;
        }
        for (int g = 1; g <= c.gpus; g *= 2)
            if (chance(70)) add(1, g, 0);
        if (chance(25)) add(2, c.gpus, 0);
    }

    void add_limits(Snapshot& s) {
        bool any_rented = false;
        for (auto& c : s.classes) {
            any_rented |= c.rented;
            if (c.rented && chance(30)) c.max_nodes = pick(1, 2);
        }
        if (any_rented && chance(20)) {
            CapacityGroup group;
            group.name = "quota";
            for (int c = 0; c < static_cast<int>(s.classes.size()); ++c)
                if (s.classes[c].rented) group.class_ids.push_back(c);
            group.max_nodes = pick(1, 2);
            s.groups.push_back(group);
        }
        if (any_rented && chance(30))
            s.budgets.push_back({pick(0, 20) * INT64_C(1000000), chance(50) ? kForever : s.now + 7200});
        for (auto& j : s.jobs)
            if (chance(20)) j.max_cost_micro = pick(0, 10) * 1000000;
    }

    std::mt19937 random_;
};

}  // namespace squall
