// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/check_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace squall {
namespace {

bool active(const CheckedUse& use, Seconds at) { return use.start <= at && at < use.end; }

int busy_gpus(const std::vector<CheckedUse>& uses, Seconds at) {
    int whole = 0;
    std::set<int> shared;
    for (const auto& use : uses) {
        if (!active(use, at)) continue;
        whole += use.gpus;
        if (use.shards > 0) shared.insert(use.gpu_index);
    }
    return whole + static_cast<int>(shared.size());
}

bool was_up(const Node& node) { return node.state == NodeState::up || node.state == NodeState::booting; }

Seconds opens(const Snapshot& snapshot, const Node& node) {
    return node.state == NodeState::up || node.state == NodeState::powered_down ? snapshot.now
                                                                                : std::max(snapshot.now, node.ready_at);
}

Micro billed(const NodeClass& c, Seconds launch, Seconds end) {
    Seconds time = std::max(end - launch, c.billing_min_s);
    Seconds step = std::max<Seconds>(1, c.billing_step_s);
    return cost_of_time(c.price_micro_h, (time + step - 1) / step * step);
}

Micro rent_of(const Snapshot& snapshot, int node, const std::vector<CheckedUse>& uses) {
    const auto& c = snapshot.classes[snapshot.nodes[node].class_id];
    Micro sum = 0;
    for (const auto& lease : checked_leases(snapshot, node, uses))
        sum += billed(c, lease.launch, lease.release) -
               (lease.launch < snapshot.now ? billed(c, lease.launch, snapshot.now) : 0);
    return sum;
}

// Second by second in principle; stepped from event to event, with the tariff looked up for each day and step.
Micro energy_of(const Snapshot& snapshot, int node, const std::vector<CheckedUse>& uses, Seconds last) {
    const auto& c = snapshot.classes[snapshot.nodes[node].class_id];
    if (c.tariff.empty() || c.busy_watts.empty()) return 0;
    std::set<Seconds> moments{snapshot.now};
    for (const auto& use : uses)
        for (Seconds at : {use.start, use.end})
            if (at > snapshot.now && at < last) moments.insert(at);
    Seconds offset = snapshot.utc_offset_s;
    for (Seconds day = (snapshot.now + offset) / kDay - 1; day * kDay - offset < last; ++day)
        for (const auto& step : c.tariff)
            if (Seconds at = day * kDay - offset + step.from_s; at > snapshot.now && at < last && c.tariff.size() > 1)
                moments.insert(at);
    Micro sum = 0;
    Seconds chunk_from = snapshot.now;
    int chunk_watts = -1;
    Micro chunk_price = -1;
    auto flush = [&](Seconds until) {
        if (chunk_watts > 0) {
            auto num = static_cast<__int128>(chunk_watts) * c.pue_milli * (until - chunk_from) * chunk_price;
            auto per = static_cast<__int128>(1000000) * kHour;
            sum += static_cast<Micro>((num + per - 1) / per);
        }
        chunk_from = until;
    };
    for (Seconds at : moments) {
        int n = busy_gpus(uses, at);
        int watts = n == 0 ? 0
                           : c.busy_watts[std::min<std::size_t>(n, c.busy_watts.size()) - 1] -
                                 (c.power_down ? 0 : c.idle_watts);
        Seconds day_s = (((at + offset) % kDay) + kDay) % kDay;
        Micro price = c.tariff.back().price_micro_kwh;
        for (const auto& step : c.tariff)
            if (step.from_s <= day_s) price = step.price_micro_kwh;
        flush(at);
        chunk_watts = std::max(0, watts);
        chunk_price = price;
    }
    flush(last);
    return sum;
}

std::vector<CheckedUse> unmanaged(const std::vector<CheckedUse>& uses) {
    std::vector<CheckedUse> out;
    for (const auto& use : uses)
        if (use.job_id == 0) out.push_back(use);
    return out;
}

}  // namespace

void check_capacity(const Snapshot& snapshot, int node, const std::vector<CheckedUse>& uses,
                    std::vector<std::string>& out) {
    const auto& c = snapshot.classes[snapshot.nodes[node].class_id];
    for (const auto& use : uses) {
        if (!use.planned) continue;
        std::set<Seconds> moments{use.start};
        for (const auto& other : uses)
            if (other.start > use.start && other.start < use.end) moments.insert(other.start);
        for (Seconds at : moments) {
            std::int64_t shards = 0, cpus = 0, mem = 0;
            for (const auto& other : uses) {
                if (!active(other, at)) continue;
                cpus += other.cpus, mem += other.mem_mb;
                if (use.shards > 0 && other.shards > 0 && other.gpu_index == use.gpu_index) shards += other.shards;
            }
            auto over = [&](const char* what, std::int64_t used, std::int64_t has) {
                if (used > has)
                    out.push_back(fmt::format("job {} on {} at {}: {} {} used of {}", use.job_id,
                                              snapshot.nodes[node].name, at, used, what, has));
            };
            over("GPUs", busy_gpus(uses, at), c.gpus);
            if (use.shards > 0) over("shards of a GPU", shards, c.shards_per_gpu);
            if (c.cpus > 0 && use.cpus > 0) over("CPUs", cpus, c.cpus);
            if (c.mem_mb > 0 && use.mem_mb > 0) over("MB", mem, c.mem_mb);
        }
    }
}

Seconds boot_for(const Snapshot& snapshot, int node, const std::vector<CheckedUse>& uses, const CheckedUse& use) {
    const auto& n = snapshot.nodes[node];
    const auto& c = snapshot.classes[n.class_id];
    if (!c.rented && n.state != NodeState::powered_down) return 0;
    bool up = was_up(n);
    Seconds until = up ? opens(snapshot, n) : 0;
    for (const auto& other : uses)
        if (&other != &use && other.start <= use.start && (other.start < use.start || other.job_id < use.job_id))
            up = true, until = std::max(until, other.end);
    return !up || (c.rented && use.start > until + c.release_s) ? c.boot_s : 0;
}

std::vector<CheckedLease> checked_leases(const Snapshot& snapshot, int node, const std::vector<CheckedUse>& uses) {
    const auto& n = snapshot.nodes[node];
    const auto& c = snapshot.classes[n.class_id];
    auto sorted = uses;
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
    std::vector<CheckedLease> leases;
    for (const auto& use : sorted) {
        Seconds release = use.end + c.release_s;
        if (!leases.empty() && use.start <= leases.back().release) {
            leases.back().release = std::max(leases.back().release, release);
        } else {
            bool running = leases.empty() && was_up(n) && use.start <= opens(snapshot, n) + c.release_s;
            leases.push_back({running ? n.leased_at.value_or(snapshot.now) : use.start, release});
        }
    }
    return leases;
}

Micro checked_rent(const Snapshot& snapshot, int node, const std::vector<CheckedUse>& uses) {
    return rent_of(snapshot, node, uses) - rent_of(snapshot, node, unmanaged(uses));
}

Micro checked_energy(const Snapshot& snapshot, int node, const std::vector<CheckedUse>& uses) {
    // After the last job of ours both are the same, and what is not ours may last for ever.
    Seconds last = snapshot.now;
    for (const auto& use : uses)
        if (use.job_id != 0) last = std::max(last, use.end);
    return energy_of(snapshot, node, uses, last) - energy_of(snapshot, node, unmanaged(uses), last);
}

}  // namespace squall
