// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/shop.h"

#include <algorithm>

#include "src/core/billing.h"

namespace squall {
namespace {

// The row of free times of one window.
Tick* row_of(Floor& floor, const FloorFacts& facts, int window) {
    return floor.free.data() + static_cast<std::ptrdiff_t>(window) * facts.facts.spec->gpus;
}
const Tick* row_of(const Floor& floor, const FloorFacts& facts, int window) {
    return floor.free.data() + static_cast<std::ptrdiff_t>(window) * facts.facts.spec->gpus;
}

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

double rent_of(const FloorFacts& facts, Tick launch, Tick release) {
    const auto& c = *facts.facts.spec;
    auto until = [&](Tick end) { return lease_cost(c.price_micro_h, c.billing_step_s, c.billing_min_s, launch, end); };
    return static_cast<double>(until(release) - (launch < 0 ? until(0) : 0));
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

// A window, or what the next node of a kind would be.
Window view(const FloorFacts& facts, const Floor& floor, int window, int kind) {
    if (window >= 0) return floor.windows[static_cast<std::size_t>(window)];
    const auto& k = facts.kinds[static_cast<std::size_t>(kind)];
    Window fresh;
    fresh.node = k.nodes.front();
    bool rented = facts.facts.spec->rented;
    fresh.up_until = !k.up ? -1 : rented ? k.open + static_cast<Tick>(facts.facts.spec->release_s) : kNever;
    fresh.launch = k.leased;
    return fresh;
}

// When a job that is allocated the node at `start` can begin to run.
Tick ready_from(const FloorFacts& facts, const Window& window, Tick start) {
    if (facts.boots && start > window.up_until) return start + static_cast<Tick>(facts.facts.spec->boot_s);
    return std::max(start, window.up_at);
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

bool Shop::Pick::better_than(const Pick& other) const {
    if (!other.found()) return true;
    if (cost != other.cost) return cost < other.cost;
    if (end != other.end) return end < other.end;
    if (fit != other.fit) return fit > other.fit;
    return next_fit > other.next_fit;
}

// Earliest time from `from` on at which the node has CPUs and memory for it. Load only falls with time.
Tick Shop::room_at(const Floor& floor, const FloorFacts& facts, const ShopConfig& config, int window, Tick from) const {
    const auto& c = *facts.facts.spec;
    while (true) {
        int cpus = config.cpus;
        std::int64_t mem_mb = config.mem_mb;
        Tick next = kNever;
        for (const auto& held : floor.held) {
            if (held.window != window || held.end <= from) continue;
            cpus += held.cpus;
            mem_mb += held.mem_mb;
            next = std::min(next, held.end);
        }
        bool room = (c.cpus == 0 || config.cpus == 0 || cpus <= c.cpus) &&
                    (c.mem_mb == 0 || config.mem_mb == 0 || mem_mb <= c.mem_mb);
        if (room || next == kNever) return room ? from : kNever;
        from = next;
    }
}

// The capacity group lets no more nodes be leased at once than it has slots.
Tick Shop::slot_from(const ShopState& state, const Window& window, Tick start) const {
    if (slots < 0) return start;
    if (start <= window.up_until) {
        if (window.slot >= 0 && state.slots[static_cast<std::size_t>(window.slot)] == window.up_until) return start;
        start = window.up_until + 1;  // another node has its slot
    }
    return state.slots.empty() ? kNever : std::max(start, *std::min_element(state.slots.begin(), state.slots.end()));
}

Shop::Pick Shop::pick(const ShopState& state, const ShopJob& job, const ShopConfig& config, int window,
                      int kind) const {
    const auto& facts = floors[static_cast<std::size_t>(config.floor)];
    const auto& floor = state.floors[static_cast<std::size_t>(config.floor)];
    int size = facts.facts.spec->gpus, gpus = std::max(1, config.gpus);
    Pick out;
    Window w = view(facts, floor, window, kind);
    Tick free_from = kNever, next_free = kNever;
    if (kind >= 0) {
        free_from = next_free = facts.kinds[static_cast<std::size_t>(kind)].open;
    } else {
        const Tick* free = row_of(floor, facts, window);
        free_from = free[gpus - 1];
        if (gpus < size) next_free = free[gpus];
    }
    Tick start = std::max(job.ready, free_from);
    if (facts.boots) start = slot_from(state, w, std::max(start, w.last));
    if (facts.tight && kind < 0) start = room_at(floor, facts, config, window, start);
    if (start >= kNever) return out;
    out.start = start;
    out.ready = ready_from(facts, w, start);
    out.end = out.ready + config.run_s;
    if (out.end > w.close) return out;
    out.window = window, out.kind = kind;
    out.fit = free_from, out.next_fit = next_free;
    out.cost = job.late_cost(out.end);
    if (facts.facts.spec->rented) {
        Tick release = out.end + static_cast<Tick>(facts.facts.spec->release_s);
        out.cost += start > w.up_until ? rent_of(facts, start, release)
                                       : rent_of(facts, w.launch, std::max(w.up_until, release)) - w.rent;
    }
    return out;
}

namespace {

// Of a floor whose nodes differ only in when they are free: the window that is free earliest, the tightest of those.
int earliest_window(const Floor& floor, const FloorFacts& facts, const ShopJob& job, const ShopConfig& config) {
    int size = facts.facts.spec->gpus, gpus = std::max(1, config.gpus);
    std::size_t count = floor.windows.size();
    const Tick* free = floor.free.data() + gpus - 1;
    Tick start = kNever;
    for (std::size_t i = 0; i < count; ++i) {
        bool closes = facts.closing && std::max(free[i * size], job.ready) + config.run_s > floor.windows[i].close;
        start = std::min(start, closes ? kNever : free[i * size]);
    }
    if (start >= kNever) return -1;
    start = std::max(start, job.ready);
    int at = -1;
    Tick fit = -1, next_fit = -1;
    for (std::size_t i = 0; i < count; ++i) {
        Tick from = free[i * size];
        if (from > start || from < fit) continue;
        if (facts.closing && start + config.run_s > floor.windows[i].close) continue;
        Tick next = gpus < size ? free[i * size + 1] : kNever;
        if (from == fit && next <= next_fit) continue;
        fit = from, next_fit = next, at = static_cast<int>(i);
    }
    return at;
}

}  // namespace

Shop::Pick Shop::best_window(const ShopState& state, const ShopJob& job, const ShopConfig& config) const {
    const auto& facts = floors[static_cast<std::size_t>(config.floor)];
    const auto& floor = state.floors[static_cast<std::size_t>(config.floor)];
    Pick best;
    if (facts.plain()) {
        int at = earliest_window(floor, facts, job, config);
        if (at >= 0) best = pick(state, job, config, at, -1);
    } else {
        for (int i = 0; i < static_cast<int>(floor.windows.size()); ++i) {
            Pick p = pick(state, job, config, i, -1);
            if (p.found() && p.better_than(best)) best = p;
        }
    }
    for (int k = 0; k < static_cast<int>(facts.kinds.size()); ++k) {
        if (floor.kind_used[k] >= static_cast<int>(facts.kinds[k].nodes.size())) continue;
        Pick p = pick(state, job, config, -1, k);
        if (p.found() && (!best.found() || p.cost < best.cost || (p.cost == best.cost && p.end < best.end))) best = p;
    }
    return best;
}

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

// Books GPUs, CPUs and memory, and adds their cost. out has start, ready and end.
void Shop::take(ShopState& state, const ShopConfig& config, int index, Appended& out) const {
    const auto& facts = floors[static_cast<std::size_t>(config.floor)];
    auto& floor = state.floors[static_cast<std::size_t>(config.floor)];
    auto& window = floor.windows[static_cast<std::size_t>(index)];
    Tick* free = row_of(floor, facts, index);
    int size = facts.facts.spec->gpus, gpus = std::max(1, config.gpus);
    double rent = out.start <= window.up_until ? window.rent : 0;
    if (!facts.facts.spec->rented) out.nodes_cost += added_energy(facts, free, gpus, out.start, out.end);
    if (facts.boots) lease(state, facts, window, out);
    if (facts.facts.spec->rented) out.nodes_cost += window.rent - rent;
    take_units(free, size, out.start, out.end, gpus);
    if (facts.tight) floor.held.push_back({index, config.cpus, config.mem_mb, out.end});
    if (window.sharing > 0) forget_shared(floor, facts, index);
    out.nodes.push_back(window.node);
}

bool Shop::append_single(ShopState& state, const ShopJob& job, const ShopConfig& config, Appended& out) const {
    Pick best = best_window(state, job, config);
    if (!best.found()) return false;
    out.start = best.start, out.ready = best.ready, out.end = best.end;
    take(state, config, open_window(state, config.floor, best), out);
    return true;
}

// The windows that a job of several nodes could use, each with when it could start there.
void Shop::gather(const ShopState& state, const ShopJob& job, const ShopConfig& config,
                  std::vector<Pick>& picks) const {
    const auto& facts = floors[static_cast<std::size_t>(config.floor)];
    const auto& floor = state.floors[static_cast<std::size_t>(config.floor)];
    int size = facts.facts.spec->gpus;
    for (int i = 0; i < static_cast<int>(floor.windows.size()); ++i) {
        Pick p;
        if (facts.plain()) {
            const Tick* free = row_of(floor, facts, i);
            p.window = i;
            p.fit = free[config.gpus - 1], p.next_fit = config.gpus < size ? free[config.gpus] : kNever;
            p.start = std::max(job.ready, p.fit);
        } else {
            p = pick(state, job, config, i, -1);
        }
        if (p.found() && p.start < kNever) picks.push_back(p);
    }
    for (int k = 0; k < static_cast<int>(facts.kinds.size()); ++k) {
        int left = static_cast<int>(facts.kinds[k].nodes.size()) - floor.kind_used[k];
        if (left <= 0) continue;
        if (Pick p = pick(state, job, config, -1, k); p.found())
            picks.insert(picks.end(), static_cast<std::size_t>(std::min(left, config.nodes)), p);
    }
}

// Those that are free when enough of them are, the first config.nodes in no order; false where there are too few.
bool Shop::gather_several(const ShopState& state, const ShopJob& job, const ShopConfig& config,
                          std::vector<Pick>& picks, Tick& start) const {
    picks.clear();
    gather(state, job, config, picks);
    auto count = static_cast<std::size_t>(config.nodes);
    if (picks.size() < count || (slots >= 0 && slots < config.nodes)) return false;
    auto last = picks.begin() + static_cast<std::ptrdiff_t>(count) - 1;
    std::nth_element(picks.begin(), last, picks.end(), [](const Pick& a, const Pick& b) { return a.start < b.start; });
    start = last->start;
    if (slots >= 0) {  // all of its nodes need a slot at once
        auto free = state.slots;
        std::sort(free.begin(), free.end());
        start = std::max(start, free[count - 1]);
    }
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

// The GPU that is shared already where it could start earliest, the tightest of those.
Shop::SharedPick Shop::best_shared(const ShopState& state, const ShopJob& job, const ShopConfig& config) const {
    const auto& facts = floors[static_cast<std::size_t>(config.floor)];
    const auto& floor = state.floors[static_cast<std::size_t>(config.floor)];
    int shards = facts.facts.spec->shards_per_gpu;
    SharedPick best;
    Tick fit = -1;
    for (int i = 0; i < static_cast<int>(floor.shared.size()); ++i) {
        Tick free = floor.shard_free[static_cast<std::size_t>(i * shards + config.shards - 1)];
        const auto& window = floor.windows[static_cast<std::size_t>(floor.shared[static_cast<std::size_t>(i)].window)];
        Tick from = std::max({job.ready, free, facts.boots ? window.last : 0, window.up_at});
        if (facts.tight) from = room_at(floor, facts, config, floor.shared[static_cast<std::size_t>(i)].window, from);
        if (from >= kNever || from + config.run_s > window.close || (facts.boots && from > window.up_until)) continue;
        if (from < best.start || (from == best.start && free > fit)) best = {i, from}, fit = free;
    }
    return best;
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
    auto& window = floor.windows[static_cast<std::size_t>(index)];
    Tick* on_gpu = floor.shard_free.data() + static_cast<std::ptrdiff_t>(best) * shards;
    Tick was = on_gpu[shards - 1];
    take_units(on_gpu, shards, out.start, out.end, config.shards);
    double rent = out.start <= window.up_until ? window.rent : 0;
    Tick* free = row_of(floor, facts, index);
    if (out.end > was) {
        if (!facts.facts.spec->rented)
            out.nodes_cost += added_energy(facts, free, 1, std::max(was, out.start), out.end);
        extend_unit(free, facts.facts.spec->gpus, was, out.end);
    }
    if (facts.boots) lease(state, facts, window, out);
    if (facts.facts.spec->rented) out.nodes_cost += window.rent - rent;
    if (facts.tight) floor.held.push_back({index, config.cpus, config.mem_mb, out.end});
    out.nodes.push_back(window.node);
    return true;
}

Tick Shop::earliest_end(const ShopState& state, const ShopJob& job, const ShopConfig& config) const {
    if (config.nodes > 1) {
        static thread_local std::vector<Pick> picks;
        Tick start = 0;
        return gather_several(state, job, config, picks, start) ? start + config.run_s : kNever;
    }
    Tick end = best_window(state, job, config).end;
    if (config.shards == 0) return end;
    SharedPick shared = best_shared(state, job, config);
    return shared.index >= 0 ? std::min(end, shared.start + config.run_s) : end;
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
