// SPDX-License-Identifier: GPL-3.0-or-later
// What choosing a place (shop_pick.cc) and taking it (shop.cc) have in common. For those and shop_build.cc only.
#pragma once
#include <algorithm>

#include "src/core/billing.h"
#include "src/core/shop.h"

namespace squall::shop_detail {

// The row of free times of one window.
inline Tick* row_of(Floor& floor, const FloorFacts& facts, int window) {
    return floor.free.data() + static_cast<std::ptrdiff_t>(window) * facts.facts.spec->gpus;
}
inline const Tick* row_of(const Floor& floor, const FloorFacts& facts, int window) {
    return floor.free.data() + static_cast<std::ptrdiff_t>(window) * facts.facts.spec->gpus;
}

// Micro: rent of a lease, less what is owed by now.
inline double rent_of(const FloorFacts& facts, Tick launch, Tick release) {
    const auto& c = *facts.facts.spec;
    auto until = [&](Tick end) { return lease_cost(c.price_micro_h, c.billing_step_s, c.billing_min_s, launch, end); };
    return static_cast<double>(until(release) - (launch < 0 ? until(0) : 0));
}

// A window, or what the next node of a kind would be.
inline Window view(const FloorFacts& facts, const Floor& floor, int window, int kind) {
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
inline Tick ready_from(const FloorFacts& facts, const Window& window, Tick start) {
    if (facts.boots && start > window.up_until) return start + static_cast<Tick>(facts.facts.spec->boot_s);
    return std::max(start, window.up_at);
}

}  // namespace squall::shop_detail
