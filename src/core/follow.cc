// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/follow.h"

#include <algorithm>
#include <unordered_map>

#include "src/core/construct.h"

namespace squall {
namespace {

constexpr int kMaxPasses = 4;

Seconds sum_of_ends(const Schedule& schedule, const std::vector<std::pair<int, Spot>>& spots) {
    Seconds sum = 0;
    for (const auto& [j, spot] : spots)
        if (schedule.spot(j)) sum += schedule.spot(j)->end;
    return sum;
}

void put_back(Schedule& schedule, int job, const Spot* same) {
    auto found = same ? find_same(schedule, job, *same) : std::nullopt;
    if (!found) found = find_best(schedule, job, {});
    if (found) schedule.place(job, found->spot);
}

// One job out and in again; false, with nothing changed, where that gains nothing.
bool resettle(Schedule& schedule, int job) {
    Score before = schedule.score();
    std::vector<std::pair<int, Spot>> old;
    for (int j : schedule.dependents(job)) old.emplace_back(j, *schedule.spot(j));
    sort_by_start(old);
    Seconds ends = sum_of_ends(schedule, old);
    schedule.eject(job);
    for (const auto& [j, spot] : old) put_back(schedule, j, j == job ? nullptr : &spot);
    Score after = schedule.score();
    if (after < before || (after == before && sum_of_ends(schedule, old) < ends)) return true;
    for (const auto& [j, spot] : old)
        if (schedule.spot(j)) schedule.eject(j);
    place_all(schedule, old);
    return false;
}

}  // namespace

void follow(Schedule& schedule, const Plan& previous) {
    std::unordered_map<std::uint32_t, const Placement*> last;
    for (const auto& p : previous.placements)
        if (p.config >= 0) last[p.job_id] = &p;
    std::vector<std::pair<int, Spot>> known;
    for (int j = 0; j < static_cast<int>(schedule.snapshot().jobs.size()); ++j) {
        if (schedule.spot(j)) continue;
        auto was = last.find(schedule.snapshot().jobs[j].id);
        if (was == last.end()) continue;
        Spot spot;
        spot.config = was->second->config;
        spot.start = was->second->start;
        spot.nodes = was->second->nodes;
        spot.gpu_index = was->second->gpu_index;
        known.emplace_back(j, std::move(spot));
    }
    sort_by_start(known);
    for (const auto& [j, spot] : known)
        if (auto found = find_same(schedule, j, spot)) schedule.place(j, found->spot);
    place_in_order(schedule, order_by_pressure(schedule), {}, [] { return false; });
}

void settle(Schedule& schedule, const std::function<bool()>& stop) {
    for (int pass = 0; pass < kMaxPasses; ++pass) {
        std::vector<std::pair<int, Spot>> order;
        for (int j = 0; j < static_cast<int>(schedule.snapshot().jobs.size()); ++j)
            if (schedule.spot(j) && !schedule.fixed(j)) order.emplace_back(j, *schedule.spot(j));
        sort_by_start(order);
        bool changed = false;
        for (const auto& [j, spot] : order) {
            if (stop()) return;
            if (schedule.spot(j)) changed |= resettle(schedule, j);
        }
        if (!changed) return;
    }
}

bool worth_changing(const Score& followed, const Score& fresh, double moved) {
    if (fresh.unplaced != followed.unplaced) return fresh.unplaced < followed.unplaced;
    double gain = static_cast<double>(followed.cost - fresh.cost);
    return gain > static_cast<double>(followed.cost) * (0.001 + 0.02 * moved);
}

}  // namespace squall
