// SPDX-License-Identifier: GPL-3.0-or-later
// From a Schedule that holds the fixed load to Shops: free times of every node, jobs with what list scheduling needs.
#include <algorithm>
#include <numeric>

#include "src/core/cost.h"
#include "src/core/find.h"
#include "src/core/shop_detail.h"

namespace squall {
namespace {

class Builder {
  public:
    Builder(const Schedule& base, Tick cut, int pool_nodes)
        : base_(base), snapshot_(base.snapshot()), cut_(cut), pool_nodes_(std::max(1, pool_nodes)) {}

    Shops build() {
        out_.shop_of_node.assign(snapshot_.nodes.size(), -1);
        group_classes();
        for (int n = 0; n < static_cast<int>(snapshot_.nodes.size()); ++n)
            if (base_.usable(n)) add_node(n);
        for (int j = 0; j < static_cast<int>(snapshot_.jobs.size()); ++j)
            if (!base_.fixed(j) && !snapshot_.jobs[static_cast<std::size_t>(j)].configs.empty()) add_job(j);
        for (auto& shop : out_.shops)
            for (std::size_t f = 0; f < shop.floors.size(); ++f)
                shop.initial.floors[f].kind_used.assign(shop.floors[f].kinds.size(), 0);
        return std::move(out_);
    }

  private:
    Tick tick(Seconds at) const { return static_cast<Tick>(std::min<Seconds>(at - snapshot_.now, kNever)); }

    // Classes that a capacity group joins compete for its slots and share a shop.
    void group_classes() {
        std::vector<int> root(snapshot_.classes.size());
        std::iota(root.begin(), root.end(), 0);
        auto find = [&](int c) {
            while (root[c] != c) c = root[c];
            return c;
        };
        for (const auto& group : snapshot_.groups)
            for (int c : group.class_ids) root[find(c)] = find(group.class_ids.front());
        pools_.assign(root.size(), {});
        std::vector<int> shop_of_root(root.size(), -1);
        for (int c = 0; c < static_cast<int>(root.size()); ++c) {
            int& shop = shop_of_root[find(c)];
            bool alone = std::count_if(root.begin(), root.end(), [&](int o) { return find(o) == find(c); }) == 1;
            bool grouped = std::any_of(snapshot_.groups.begin(), snapshot_.groups.end(), [&](const auto& g) {
                return std::count(g.class_ids.begin(), g.class_ids.end(), c) > 0;
            });
            int pools = alone && !grouped ? pools_for(c) : 1;
            if (shop < 0) {
                shop = static_cast<int>(out_.shops.size());
                out_.shops.resize(out_.shops.size() + static_cast<std::size_t>(pools));
            }
            auto floor = make_floor(c);
            for (int p = 0; p < pools; ++p) {
                auto& to = out_.shops[shop + p];
                pools_[c].push_back({shop + p, static_cast<int>(to.floors.size()), 0});
                to.floors.push_back(floor);
                to.initial.floors.emplace_back();
            }
        }
        for (const auto& group : snapshot_.groups) {
            if (group.class_ids.empty()) continue;
            auto& shop = out_.shops[pools_[group.class_ids.front()].front().shop];
            // Groups that overlap are left to the exact evaluation; the tightest one is kept here.
            bool whole = group.class_ids.size() == shop.floors.size();
            if (!whole || (shop.slots >= 0 && shop.slots <= group.max_nodes)) continue;
            shop.slots = group.max_nodes;
            shop.initial.slots.assign(static_cast<std::size_t>(std::max(0, group.max_nodes)), 0);
        }
    }

    // When a node's first GPU is free for good, as a tick.
    Tick opens(int n) const {
        const NodePlan* plan = base_.touched(n);
        return plan ? tick(plan->tail(1)) : tick(std::max(snapshot_.now, snapshot_.nodes[n].ready_at));
    }

    // As many as leave each pool enough nodes for the widest configuration.
    int pools_for(int class_id) const {
        int nodes = 0, widest = 1;
        for (int n = 0; n < static_cast<int>(snapshot_.nodes.size()); ++n)
            nodes += snapshot_.nodes[n].class_id == class_id && base_.usable(n) && opens(n) < cut_;
        for (const auto& job : snapshot_.jobs)
            for (const auto& c : job.configs)
                if (c.class_id == class_id) widest = std::max(widest, c.nodes);
        return std::max(1, nodes / std::max(pool_nodes_, 2 * widest));
    }

    FloorFacts make_floor(int class_id) const {
        FloorFacts floor(snapshot_, class_id);
        const auto& spec = snapshot_.classes[class_id];
        floor.boots = spec.rented;
        for (const auto& node : snapshot_.nodes)
            if (node.class_id == class_id && node.state == NodeState::powered_down) floor.boots = true;
        for (const auto& job : snapshot_.jobs)
            for (const auto& c : job.configs)
                if (c.class_id == class_id)
                    floor.tight = floor.tight || needs_more(spec, c.cpus, spec.cpus, c) ||
                                  needs_more(spec, c.mem_mb, spec.mem_mb, c);
        for (const auto& hold : snapshot_.holds)
            if (snapshot_.nodes[hold.node].class_id == class_id && hold.gpus == 0 && hold.shards == 0)
                floor.tight = true;
        if (!floor.facts.meter.free() && spec.tariff.size() == 1)
            for (int busy = 0; busy <= spec.gpus; ++busy)
                floor.rate.push_back(static_cast<double>(floor.facts.meter.cost(busy, 0, kDay)) * 1e-6 / kDay);
        return floor;
    }

    // More of it for each GPU than the node has for each GPU.
    static bool needs_more(const NodeClass& spec, std::int64_t want, std::int64_t has, const Config& config) {
        if (want == 0 || has == 0) return false;
        auto shards = std::max(1, spec.shards_per_gpu);
        auto units = config.shards > 0 ? config.shards : config.gpus * shards;
        return want * spec.gpus * shards > has * std::max(1, units);
    }

    // Nodes go to their class's pools in turn; those that are taken until the cut only where it has no others.
    void add_node(int n) {
        const auto& node = snapshot_.nodes[n];
        auto& pools = pools_[node.class_id];
        auto pool = std::min_element(pools.begin(), pools.end(),
                                     [](const auto& a, const auto& b) { return a.nodes < b.nodes; });
        if (opens(n) >= cut_ && base_.touched(n)) return;
        ++pool->nodes;
        out_.shop_of_node[n] = pool->shop;
        auto& shop = out_.shops[pool->shop];
        auto& facts = shop.floors[pool->floor];
        if (const NodePlan* plan = base_.touched(n)) return add_windows(shop, pool->floor, n, *plan);
        bool waits = node.state == NodeState::unavailable || node.state == NodeState::booting;
        Tick open = waits ? std::max<Tick>(0, tick(node.ready_at)) : 0;
        bool rented = snapshot_.classes[node.class_id].rented;
        bool up = rented ? node.state == NodeState::up || node.state == NodeState::booting
                         : node.state != NodeState::powered_down;
        Tick leased = tick(node.leased_at.value_or(snapshot_.now));
        for (auto& kind : facts.kinds)
            if (kind.open == open && kind.up == up && kind.leased == leased) return kind.nodes.push_back(n);
        facts.kinds.push_back({open, leased, up, {n}});
    }

    // The node's load falls until something begins on it that is fixed later: there one window closes and the next
    // one opens.
    void add_windows(Shop& shop, int f, int n, const NodePlan& plan) {
        auto events = gpu_events(plan.items());
        std::vector<Seconds> rises{kForever};
        for (const auto& [at, change] : events)
            if (change > 0 && at > snapshot_.now) rises.push_back(at);
        std::sort(rises.begin(), rises.end());
        Seconds open = std::max(snapshot_.now, plan.open_at());
        for (Seconds close : rises) {
            if (close > open) add_window(shop, f, n, plan, open, close);
            open = std::max(open, close);
        }
    }

    // When each of `units` is free, ascending. Load that was given may be more than there is: the latest ends count.
    template <typename Time>
    static void keep_latest(std::vector<Time>& ends, int units, Time open) {
        std::sort(ends.begin(), ends.end(), std::greater<>());
        ends.resize(static_cast<std::size_t>(units), open);
        std::reverse(ends.begin(), ends.end());
    }

    void add_window(Shop& shop, int f, int n, const NodePlan& plan, Seconds open, Seconds close) {
        auto& facts = shop.floors[f];
        const auto& spec = *facts.facts.spec;
        std::vector<Seconds> ends;  // of GPUs busy at `open`, shared ones once
        std::vector<std::pair<int, Seconds>> shared;
        for (const auto& item : plan.items()) {
            if (item.start > open || item.end <= open) continue;
            if (item.shards == 0) ends.insert(ends.end(), static_cast<std::size_t>(item.gpus), item.end);
            if (item.shards == 0) continue;
            auto at =
                std::find_if(shared.begin(), shared.end(), [&](const auto& s) { return s.first == item.gpu_index; });
            if (at == shared.end())
                shared.emplace_back(item.gpu_index, item.end);
            else
                at->second = std::max(at->second, item.end);
        }
        for (const auto& [label, end] : shared) ends.push_back(end);
        keep_latest(ends, spec.gpus, open);
        std::erase_if(shared, [&](const auto& s) { return !std::binary_search(ends.begin(), ends.end(), s.second); });
        if (tick(ends.front()) >= std::min(cut_, tick(close))) return;
        auto& floor = shop.initial.floors[f];
        Window window;
        window.node = n;
        window.close = tick(close);
        facts.closing = facts.closing || window.close < kNever;
        if (plan.boots())
            take_lease(shop, facts, plan, window);
        else if (facts.boots)
            window.up_until = kNever;
        window.sharing = static_cast<int>(shared.size());
        int index = static_cast<int>(floor.windows.size());
        for (Seconds end : ends) floor.free.push_back(tick(end));
        for (const auto& [label, end] : shared) add_shared(floor, spec, plan, index, label, open);
        for (const auto& item : plan.items())
            if (facts.tight && item.start <= open && item.end > open && (item.cpus > 0 || item.mem_mb > 0))
                floor.held.push_back({index, item.cpus, item.mem_mb, tick(item.end)});
        floor.windows.push_back(window);
    }

    void take_lease(Shop& shop, const FloorFacts& facts, const NodePlan& plan, Window& window) const {
        for (const auto& item : plan.items()) {
            window.last = std::max({window.last, Tick{0}, tick(item.start)});
            window.up_at = std::max(window.up_at, tick(item.ready));
        }
        if (!facts.facts.spec->rented) {
            window.up_until = kNever;
            return;
        }
        auto leases = plan.leases();
        if (leases.empty()) return;
        window.launch = tick(leases.back().launch);
        window.up_until = tick(leases.back().release);
        window.rent = shop_detail::rent_of(facts, window.launch, window.up_until);
        if (shop.slots <= 0) return;
        auto slot = std::min_element(shop.initial.slots.begin(), shop.initial.slots.end());
        window.slot = static_cast<int>(slot - shop.initial.slots.begin());
        *slot = window.up_until;
    }

    void add_shared(Floor& floor, const NodeClass& spec, const NodePlan& plan, int window, int label,
                    Seconds open) const {
        std::vector<Tick> ends;
        for (const auto& item : plan.items())
            if (item.shards > 0 && item.gpu_index == label && item.start <= open && item.end > open)
                ends.insert(ends.end(), static_cast<std::size_t>(item.shards), tick(item.end));
        keep_latest(ends, spec.shards_per_gpu, tick(open));
        floor.shared.push_back({window, label});
        floor.shard_free.insert(floor.shard_free.end(), ends.begin(), ends.end());
    }

    void add_job(int j) {
        const auto& job = snapshot_.jobs[j];
        ShopJob out;
        out.job = j;
        out.ready = tick(std::max(job.release, snapshot_.now));
        if (job.due) out.due = tick(*job.due);
        if (job.due) out.late_per_s = static_cast<double>(job.late_micro_h) / kHour;
        if (job.due && job.due_is_hard) out.hard_penalty = static_cast<double>(snapshot_.hard_due_penalty_micro);
        for (int c = 0; c < static_cast<int>(job.configs.size()); ++c) {
            const auto& config = job.configs[c];
            Seconds run_s = run_length(job, config), start = std::max(job.release, snapshot_.now);
            if (!config_allowed(base_, j, c) || run_s >= kNever) continue;
            const auto& spec = snapshot_.classes[config.class_id];
            if (config.gpus > spec.gpus || config.shards > spec.shards_per_gpu) continue;
            if (job.max_cost_micro && standalone_cost(snapshot_, job, c, start, start + run_s) > *job.max_cost_micro)
                continue;
            ShopConfig to;
            to.config = c;
            to.nodes = config.nodes, to.gpus = config.gpus, to.shards = config.shards;
            to.cpus = config.cpus, to.mem_mb = config.mem_mb;
            to.run_s = static_cast<Tick>(run_s);
            to.least = out.late_cost(out.ready + to.run_s);
            to.first = static_cast<int>(out.configs.size());
            for (const auto& pool : pools_[config.class_id]) {
                to.shop = pool.shop, to.floor = pool.floor;
                if (config.nodes <= pool.nodes) out.configs.push_back(to);
            }
            to.pools = static_cast<int>(out.configs.size()) - to.first;
            for (int i = to.first; i < static_cast<int>(out.configs.size()); ++i) out.configs[i].pools = to.pools;
        }
        if (!out.configs.empty()) out_.jobs.push_back(std::move(out));
    }

    const Schedule& base_;
    const Snapshot& snapshot_;
    Tick cut_;
    int pool_nodes_;
    struct Pool {
        int shop, floor, nodes;
    };
    std::vector<std::vector<Pool>> pools_;  // by class
    Shops out_;
};

}  // namespace

Shops make_shops(const Schedule& base, Tick cut, int pool_nodes) { return Builder(base, cut, pool_nodes).build(); }

}  // namespace squall
