// SPDX-License-Identifier: GPL-3.0-or-later
// Taking what shop_pick.cc has chosen: GPUs, shards, CPUs and memory, leases, and what they cost.
#include "src/core/shop.h"

#include <algorithm>

#include "src/core/shop_detail.h"

namespace squall {

using namespace shop_detail;

namespace {

// Takes `count` of `size` units that are free by `start`, those that were free latest, until `end`.
void take_units(Tick* free, int size, Tick start, Tick end, int count) {
    int next = static_cast<int>(std::upper_bound(free, free + size, start) - free), write = next - count;
    while (next < size && free[next] < end) free[write++] = free[next++];
    std::fill(free + write, free + write + count, end);
}

// One unit's end moves from `old_end` to `end`.
void extend_unit(Tick* free, int size, Tick old_end, Tick end) {
    int at = static_cast<int>(std::lower_bound(free, free + size, old_end) - free);
    for (; at + 1 < size && free[at + 1] < end; ++at) free[at] = free[at + 1];
    free[at] = end;
}

double energy(const FloorFacts& facts, int before, int after, Tick from, Tick to) {
    if (!facts.rate.empty())
        return (facts.rate[static_cast<std::size_t>(after)] - facts.rate[static_cast<std::size_t>(before)]) *
               static_cast<double>(to - from);
    Seconds now = facts.facts.now;
    return static_cast<double>(facts.facts.meter.more(before, after, now + from, now + to)) * 1e-6;
}

// What `gpus` more busy GPUs add over [start, end) to a node whose GPUs are free from these times on.
double added_energy(const FloorFacts& facts, const Tick* free, int gpus, Tick start, Tick end) {
    if (facts.facts.meter.free()) return 0;
    int size = facts.facts.spec->gpus, next = 0;
    while (next < size && free[next] <= start) ++next;
    double sum = 0;
    while (start < end) {
        Tick stop = next < size ? std::min(free[next], end) : end;
        int busy = std::min(size - next, size - gpus);
        sum += energy(facts, busy, busy + gpus, start, stop);
        start = stop;
        while (next < size && free[next] <= start) ++next;
    }
    return sum;
}

// GPUs that were shared and now belong to whole jobs are shared no more.
void forget_shared(Floor& floor, const FloorFacts& facts, int window) {
    int size = facts.facts.spec->gpus, shards = facts.facts.spec->shards_per_gpu;
    const Tick* free = row_of(floor, facts, window);
    for (int i = static_cast<int>(floor.shared.size()) - 1; i >= 0; --i) {
        if (floor.shared[i].window != window) continue;
        Tick last = floor.shard_free[static_cast<std::size_t>((i + 1) * shards - 1)];
        auto same = std::equal_range(free, free + size, last);
        int others = 0;
        for (int k = 0; k < i; ++k)
            others += floor.shared[k].window == window &&
                      floor.shard_free[static_cast<std::size_t>((k + 1) * shards - 1)] == last;
        if (same.second - same.first > others) continue;
        floor.shared[i] = floor.shared.back();
        std::copy_n(floor.shard_free.end() - shards, shards, floor.shard_free.begin() + i * shards);
        floor.shared.pop_back();
        floor.shard_free.resize(floor.shard_free.size() - static_cast<std::size_t>(shards));
        --floor.windows[window].sharing;
    }
}

}  // namespace

int Shop::open_window(ShopState& state, int floor_index, const Pick& pick) const {
    if (pick.window >= 0) return pick.window;
    const auto& facts = floors[static_cast<std::size_t>(floor_index)];
    auto& floor = state.floors[static_cast<std::size_t>(floor_index)];
    const auto& kind = facts.kinds[static_cast<std::size_t>(pick.kind)];
    Window window = view(facts, floor, -1, pick.kind);
    window.node = kind.nodes[static_cast<std::size_t>(floor.kind_used[static_cast<std::size_t>(pick.kind)]++)];
    floor.windows.push_back(window);
    floor.free.insert(floor.free.end(), static_cast<std::size_t>(facts.facts.spec->gpus), kind.open);
    return static_cast<int>(floor.windows.size()) - 1;
}

void Shop::lease(ShopState& state, const FloorFacts& facts, Window& window, const Appended& out) const {
    const auto& spec = *facts.facts.spec;
    window.last = out.start;
    if (!spec.rented) {
        if (out.start > window.up_until) window.up_at = out.ready;
        window.up_until = kNever;
        return;
    }
    if (out.start > window.up_until) {
        window.launch = out.start;
        window.up_at = out.ready;
        window.rent = 0;
        window.up_until = -1;
        window.slot = -1;
    }
    window.up_until = std::max(window.up_until, out.end + static_cast<Tick>(spec.release_s));
    window.rent = rent_of(facts, window.launch, window.up_until);
    if (slots < 0) return;
    if (window.slot < 0)
        window.slot = static_cast<int>(std::min_element(state.slots.begin(), state.slots.end()) - state.slots.begin());
    state.slots[static_cast<std::size_t>(window.slot)] = window.up_until;
}

// The lease of a node that boots and its rent, CPUs and memory: what large and small jobs take alike.
void Shop::book(ShopState& state, const ShopConfig& config, int index, Appended& out) const {
    const auto& facts = floors[static_cast<std::size_t>(config.floor)];
    auto& floor = state.floors[static_cast<std::size_t>(config.floor)];
    auto& window = floor.windows[static_cast<std::size_t>(index)];
    double rent = out.start <= window.up_until ? window.rent : 0;
    if (facts.boots) lease(state, facts, window, out);
    if (facts.facts.spec->rented) out.nodes_cost += window.rent - rent;
    if (facts.tight) floor.held.push_back({index, config.cpus, config.mem_mb, out.end});
    out.nodes.push_back(window.node);
}

// Books whole GPUs and adds their cost. out has start, ready and end.
void Shop::take(ShopState& state, const ShopConfig& config, int index, Appended& out) const {
    const auto& facts = floors[static_cast<std::size_t>(config.floor)];
    auto& floor = state.floors[static_cast<std::size_t>(config.floor)];
    Tick* free = row_of(floor, facts, index);
    int gpus = std::max(1, config.gpus);
    if (!facts.facts.spec->rented) out.nodes_cost += added_energy(facts, free, gpus, out.start, out.end);
    take_units(free, facts.facts.spec->gpus, out.start, out.end, gpus);
    book(state, config, index, out);
    if (floor.windows[static_cast<std::size_t>(index)].sharing > 0) forget_shared(floor, facts, index);
}

bool Shop::append_single(ShopState& state, const ShopJob& job, const ShopConfig& config, Appended& out) const {
    Pick best = best_window(state, job, config);
    if (!best.found()) return false;
    out.start = best.start, out.ready = best.ready, out.end = best.end;
    take(state, config, open_window(state, config.floor, best), out);
    return true;
}

bool Shop::append_several(ShopState& state, const ShopJob& job, const ShopConfig& config, Appended& out) const {
    const auto& facts = floors[static_cast<std::size_t>(config.floor)];
    const auto& floor = state.floors[static_cast<std::size_t>(config.floor)];
    static thread_local std::vector<Pick> picks;
    Tick start = 0;
    if (!gather_several(state, job, config, picks, start)) return false;
    auto count = static_cast<std::size_t>(config.nodes);
    // Of those that are free by then, the tightest fits.
    auto end = std::partition(picks.begin(), picks.end(), [&](const Pick& p) { return p.start <= start; });
    std::partial_sort(picks.begin(), picks.begin() + static_cast<std::ptrdiff_t>(count), end,
                      [](const Pick& a, const Pick& b) {
                          if ((a.window >= 0) != (b.window >= 0)) return a.window >= 0;
                          if (a.fit != b.fit) return a.fit > b.fit;
                          return a.next_fit != b.next_fit ? a.next_fit > b.next_fit : a.window < b.window;
                      });
    Tick ready = start;
    for (std::size_t i = 0; i < count; ++i)
        ready = std::max(ready, ready_from(facts, view(facts, floor, picks[i].window, picks[i].kind), start));
    for (std::size_t i = 0; i < count; ++i)
        if (ready + config.run_s > view(facts, floor, picks[i].window, picks[i].kind).close) return false;
    out.start = start, out.ready = ready, out.end = ready + config.run_s;
    for (std::size_t i = 0; i < count; ++i) take(state, config, open_window(state, config.floor, picks[i]), out);
    std::sort(out.nodes.begin(), out.nodes.end());
    return true;
}

bool Shop::append_shared(ShopState& state, const ShopJob& job, const ShopConfig& config, Appended& out) const {
    const auto& facts = floors[static_cast<std::size_t>(config.floor)];
    auto& floor = state.floors[static_cast<std::size_t>(config.floor)];
    int shards = facts.facts.spec->shards_per_gpu;
    auto [best, start] = best_shared(state, job, config);
    Pick fresh = best_window(state, job, config);
    if (best < 0 && !fresh.found()) return false;
    // On a GPU that is shared already it costs less and leaves more free, but may come later.
    if (best < 0 || (fresh.found() && job.late_cost(start + config.run_s) > job.late_cost(fresh.end) + 1)) {
        out.start = fresh.start, out.ready = fresh.ready, out.end = fresh.end;
        int index = open_window(state, config.floor, fresh);
        take(state, config, index, out);
        ++floor.windows[static_cast<std::size_t>(index)].sharing;
        out.label = floor.next_label++;
        floor.shared.push_back({index, out.label});
        std::size_t rest = floor.shard_free.size();
        floor.shard_free.resize(rest + static_cast<std::size_t>(shards), out.start);
        std::fill(floor.shard_free.end() - config.shards, floor.shard_free.end(), out.end);
        return true;
    }
    out.start = out.ready = start, out.end = start + config.run_s;
    out.label = floor.shared[static_cast<std::size_t>(best)].label;
    int index = floor.shared[static_cast<std::size_t>(best)].window;
    Tick* on_gpu = floor.shard_free.data() + static_cast<std::ptrdiff_t>(best) * shards;
    Tick was = on_gpu[shards - 1];
    take_units(on_gpu, shards, out.start, out.end, config.shards);
    Tick* free = row_of(floor, facts, index);
    if (out.end > was) {
        if (!facts.facts.spec->rented)
            out.nodes_cost += added_energy(facts, free, 1, std::max(was, out.start), out.end);
        extend_unit(free, facts.facts.spec->gpus, was, out.end);
    }
    book(state, config, index, out);
    return true;
}

bool Shop::append(ShopState& state, const ShopJob& job, const ShopConfig& config, Appended& out) const {
    out.nodes.clear();
    out.nodes_cost = 0;
    out.label = -1;
    bool fits = config.nodes > 1    ? append_several(state, job, config, out)
                : config.shards > 0 ? append_shared(state, job, config, out)
                                    : append_single(state, job, config, out);
    if (fits) out.late = job.late_cost(out.end);
    return fits;
}

}  // namespace squall
