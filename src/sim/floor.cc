// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/sim/floor.h"

#include <algorithm>

#include "src/core/billing.h"
#include "src/core/tariff.h"

namespace squall::sim {

Floor::Floor(const Snapshot& cluster) : cluster_(cluster) {
    std::size_t classes = cluster_.classes.size();
    for (const auto& c : cluster_.classes) {
        up_by_free_.emplace_back(static_cast<std::size_t>(c.gpus) + 1);
        meters_.emplace_back(c, cluster_.utc_offset_s);
    }
    down_.resize(classes), idle_.resize(classes), sharing_.resize(classes);
    free_gpus_.resize(classes), leased_.resize(classes), total_.resize(classes), groups_of_.resize(classes);
    for (int g = 0; g < static_cast<int>(cluster_.groups.size()); ++g)
        for (int c : cluster_.groups[g].class_ids) groups_of_[c].push_back(g);
    nodes_.resize(cluster_.nodes.size());
    energy_.resize(nodes_.size()), energy_until_.resize(nodes_.size(), cluster_.now);
    for (int n = 0; n < static_cast<int>(nodes_.size()); ++n) {
        const auto& c = cluster_.classes[cluster_.nodes[n].class_id];
        auto& node = nodes_[n];
        node.up = !c.rented;
        node.free_gpus = c.gpus;
        if (c.shards_per_gpu > 0) node.shards.resize(c.gpus);
        ++total_[cluster_.nodes[n].class_id];
        index(n);
    }
}

void Floor::index(int n) {
    int c = cluster_.nodes[n].class_id;
    auto& node = nodes_[n];
    if (node.broken) return;
    if (!node.up) {
        down_[c].insert(n);
        return;
    }
    up_by_free_[c][node.free_gpus].insert(n);
    free_gpus_[c] += node.free_gpus;
    if (node.jobs == 0 && cluster_.classes[c].rented) idle_[c].insert(n);
    int full = cluster_.classes[c].shards_per_gpu;
    if (std::any_of(node.shards.begin(), node.shards.end(), [&](int s) { return s > 0 && s < full; }))
        sharing_[c].insert(n);
}

void Floor::unindex(int n) {
    int c = cluster_.nodes[n].class_id;
    auto& node = nodes_[n];
    if (node.broken) return;
    if (!node.up) {
        down_[c].erase(n);
        return;
    }
    up_by_free_[c][node.free_gpus].erase(n);
    free_gpus_[c] -= node.free_gpus;
    idle_[c].erase(n);
    sharing_[c].erase(n);
}

bool Floor::room(int n, const Config& config) const {
    const auto& node = nodes_[n];
    const auto& c = cluster_.classes[config.class_id];
    if (node.broken) return false;
    if (c.cpus > 0 && node.cpus + config.cpus > c.cpus) return false;
    if (c.mem_mb > 0 && node.mem_mb + config.mem_mb > c.mem_mb) return false;
    return config.shards > 0 ? shard_gpu(n, config.shards) >= 0 : node.free_gpus >= config.gpus;
}

// The fullest GPU that still has room for these shards; a whole free one otherwise; -1: none.
int Floor::shard_gpu(int n, int shards) const {
    const auto& node = nodes_[n];
    int full = cluster_.classes[cluster_.nodes[n].class_id].shards_per_gpu, best = -1, fresh = -1;
    for (int g = 0; g < static_cast<int>(node.shards.size()); ++g) {
        if (node.shards[g] == 0) fresh = fresh < 0 ? g : fresh;
        if (node.shards[g] == 0 || node.shards[g] + shards > full) continue;
        if (best < 0 || node.shards[g] > node.shards[best]) best = g;
    }
    return best >= 0 ? best : node.free_gpus > 0 && shards <= full ? fresh : -1;
}

bool Floor::ever_fits(const Config& config) const {
    const auto& c = cluster_.classes[config.class_id];
    int most = total_[config.class_id];
    if (c.rented && c.max_nodes > 0) most = std::min(most, c.max_nodes);
    for (int g : groups_of_[config.class_id])
        if (c.rented) most = std::min(most, cluster_.groups[g].max_nodes);
    return config.nodes <= most && config.gpus <= c.gpus && config.shards <= c.shards_per_gpu &&
           (c.cpus == 0 || config.cpus <= c.cpus) && (c.mem_mb == 0 || config.mem_mb <= c.mem_mb);
}

int Floor::closable(int class_id, int group) const {
    if (group < 0) return static_cast<int>(idle_[class_id].size());
    int count = 0;
    for (int c : cluster_.groups[group].class_ids) count += static_cast<int>(idle_[c].size());
    return count;
}

bool Floor::may_lease(int class_id, int more) const {
    const auto& c = cluster_.classes[class_id];
    if (c.max_nodes > 0 && leased_[class_id] - closable(class_id, -1) + more > c.max_nodes) return false;
    for (int g : groups_of_[class_id]) {
        int leased = 0;
        for (int other : cluster_.groups[g].class_ids) leased += leased_[other];
        if (leased - closable(class_id, g) + more > cluster_.groups[g].max_nodes) return false;
    }
    return true;
}

std::optional<Place> Floor::find_shared(const Config& config, bool rented_too) const {
    for (int n : sharing_[config.class_id])
        if (room(n, config)) return Place{{n}, shard_gpu(n, config.shards)};
    const auto& buckets = up_by_free_[config.class_id];
    for (std::size_t free = 1; free < buckets.size(); ++free)
        for (int n : buckets[free])
            if (room(n, config)) return Place{{n}, shard_gpu(n, config.shards)};
    if (!rented_too || !may_lease(config.class_id, 1)) return {};
    for (int n : down_[config.class_id])
        if (room(n, config)) return Place{{n}, shard_gpu(n, config.shards)};
    return {};
}

std::optional<Place> Floor::find(const Config& config, bool rented_too) const {
    if (config.shards > 0) return find_shared(config, rented_too);
    const auto& buckets = up_by_free_[config.class_id];
    Place place;
    auto want = static_cast<std::size_t>(config.nodes);
    for (std::size_t free = config.gpus; free < buckets.size(); ++free)
        for (int n : buckets[free]) {
            if (place.nodes.size() == want) break;
            if (room(n, config)) place.nodes.push_back(n);
        }
    if (place.nodes.size() < want && rented_too) {
        int more = static_cast<int>(want - place.nodes.size());
        if (!may_lease(config.class_id, more)) return {};
        for (int n : down_[config.class_id]) {
            if (place.nodes.size() == want) break;
            if (room(n, config)) place.nodes.push_back(n);
        }
    }
    if (place.nodes.size() < want) return {};
    std::sort(place.nodes.begin(), place.nodes.end());
    return place;
}

bool Floor::fits(const Config& config, const Place& place) const {
    if (static_cast<int>(place.nodes.size()) != config.nodes) return false;
    int down = 0;
    for (int n : place.nodes) {
        if (cluster_.nodes[n].class_id != config.class_id || !room(n, config)) return false;
        down += !nodes_[n].up;
    }
    return down == 0 || may_lease(config.class_id, down);
}

// Leases that hold nothing make way for the one that is about to begin.
void Floor::make_room(int class_id, Seconds now) {
    auto full = [&] {
        const auto& c = cluster_.classes[class_id];
        if (c.max_nodes > 0 && leased_[class_id] >= c.max_nodes) return class_id;
        for (int g : groups_of_[class_id]) {
            int leased = 0, idle_class = -1;
            for (int other : cluster_.groups[g].class_ids) {
                leased += leased_[other];
                if (!idle_[other].empty()) idle_class = other;
            }
            if (leased >= cluster_.groups[g].max_nodes) return idle_class;
        }
        return -1;
    };
    for (int c = full(); c >= 0 && !idle_[c].empty(); c = full()) end_lease(*idle_[c].begin(), now);
}

void Floor::lease(int n, Seconds now) {
    int c = cluster_.nodes[n].class_id;
    make_room(c, now);
    unindex(n);
    auto& node = nodes_[n];
    node.up = true;
    node.leased_at = now;
    node.ready_at = now + cluster_.classes[c].boot_s;
    ++node.generation;
    ++leased_[c];
    index(n);
}

Seconds Floor::take(const Config& config, const Place& place, Seconds now) {
    Seconds ready = now;
    // Idle nodes of this very place must not be closed to make room for the others.
    for (bool up : {true, false})
        for (int n : place.nodes) {
            auto& node = nodes_[n];
            if (node.up != up) continue;
            if (!node.up) lease(n, now);
            book_energy(n, now);
            unindex(n);
            node.jobs += 1;
            node.cpus += config.cpus;
            node.mem_mb += config.mem_mb;
            if (config.shards > 0) {
                if (node.shards[place.gpu_index] == 0) --node.free_gpus;
                node.shards[place.gpu_index] += config.shards;
            } else {
                node.free_gpus -= config.gpus;
            }
            index(n);
            ready = std::max(ready, node.ready_at);
        }
    return ready;
}

void Floor::give(const Config& config, const Place& place, Seconds now) {
    for (int n : place.nodes) {
        book_energy(n, now);
        unindex(n);
        auto& node = nodes_[n];
        node.jobs -= 1;
        node.cpus -= config.cpus;
        node.mem_mb -= config.mem_mb;
        if (config.shards > 0) {
            node.shards[place.gpu_index] -= config.shards;
            if (node.shards[place.gpu_index] == 0) ++node.free_gpus;
        } else {
            node.free_gpus += config.gpus;
        }
        if (node.jobs == 0) {
            node.idle_since = now;
            if (cluster_.classes[cluster_.nodes[n].class_id].rented) emptied_.push_back(n);
        }
        index(n);
    }
}

void Floor::end_lease(int n, Seconds now) {
    const auto& c = cluster_.classes[cluster_.nodes[n].class_id];
    unindex(n);
    auto& node = nodes_[n];
    rent_ += lease_cost(c.price_micro_h, c.billing_step_s, c.billing_min_s, node.leased_at, now);
    node.up = false;
    ++node.generation;
    --leased_[cluster_.nodes[n].class_id];
    index(n);
}

void Floor::end_idle_leases(Seconds now) {
    for (int c = 0; c < static_cast<int>(idle_.size()); ++c)
        while (cluster_.classes[c].release_s == 0 && !idle_[c].empty()) end_lease(*idle_[c].begin(), now);
}

void Floor::break_node(int n, Seconds now) {
    if (cluster_.classes[cluster_.nodes[n].class_id].rented && nodes_[n].up) end_lease(n, now);
    unindex(n);
    nodes_[n].broken = true;
    ++nodes_[n].generation;
}

void Floor::repair(int n, Seconds now) {
    nodes_[n].broken = false;
    nodes_[n].ready_at = now;
    ++nodes_[n].generation;
    index(n);
}

void Floor::settle(Seconds now) {
    for (int n = 0; n < static_cast<int>(nodes_.size()); ++n) {
        book_energy(n, now);
        if (cluster_.classes[cluster_.nodes[n].class_id].rented && nodes_[n].up) end_lease(n, now);
    }
}

int Floor::busy(int n) const { return cluster_.classes[cluster_.nodes[n].class_id].gpus - nodes_[n].free_gpus; }

void Floor::book_energy(int n, Seconds now) {
    const auto& meter = meters_[cluster_.nodes[n].class_id];
    if (!meter.free()) energy_[n] += meter.cost(busy(n), energy_until_[n], now);
    energy_until_[n] = now;
}

Micro Floor::energy() const {
    Micro sum = 0;
    for (Pico cost : energy_) sum += to_micro(cost);
    return sum;
}

Micro Floor::price_of(const Config& config, const Place& place, Seconds from, Seconds to) const {
    const auto& c = cluster_.classes[config.class_id];
    auto nodes = static_cast<Micro>(place.nodes.size());
    int gpus = config.shards > 0 ? 1 : config.gpus;
    if (!c.rented) return nodes * energy_cost(c, billed_watts(c, gpus), from, to, cluster_.utc_offset_s);
    Micro rent = nodes * cost_of_time(c.price_micro_h, to - from);
    return config.shards > 0 ? rent * config.shards / std::max(1, c.gpus * c.shards_per_gpu)
                             : rent * gpus / std::max(1, c.gpus);
}

}  // namespace squall::sim
