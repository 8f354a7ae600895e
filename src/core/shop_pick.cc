// SPDX-License-Identifier: GPL-3.0-or-later
// Where a job would go: the window, windows or shared GPU where it ends cheapest. Changes nothing.
#include <algorithm>

#include "src/core/shop_detail.h"

namespace squall {

using namespace shop_detail;

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

}  // namespace squall
