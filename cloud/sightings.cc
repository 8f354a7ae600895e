// SPDX-License-Identifier: GPL-3.0-or-later
// Matching lists and leases: see sightings.h.
#include "cloud/sightings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace squall::cloud {
namespace {

// By its tags, and by its id once the lease knows it.
bool belongs_to(const Instance& instance, const Lease& lease) {
    return lease.launched_at != 0 && instance.node == lease.node && instance.generation == lease.generation &&
           (lease.instance_id.empty() || lease.instance_id == instance.id);
}

bool is_busy(const Lease& lease) { return lease.state != LeaseState::ready; }

}  // namespace

void Sightings::refresh(const Fleet& fleet, const std::vector<Lease>& leases, Seconds now) {
    bool busy = !strangers_.empty() || std::any_of(leases.begin(), leases.end(), is_busy);
    for (Driver* driver : fleet.drivers())
        if (ask(*driver, busy, now)) match(*driver, fleet, leases, now);
    // A lease that is over is not asked about again.
    for (auto at = sights_.begin(); at != sights_.end();) {
        bool open = std::any_of(leases.begin(), leases.end(), [&](const Lease& one) { return one.id == at->first; });
        at = open ? std::next(at) : sights_.erase(at);
    }
}

bool Sightings::ask(Driver& driver, bool busy, Seconds now) {
    auto asked = asked_at_.find(&driver);
    if (asked != asked_at_.end() && now < asked->second + driver.list_every_s(busy) && now >= asked->second)
        return false;
    asked_at_[&driver] = now;
    ListResult list = driver.list();
    std::string key = "list " + driver.name();
    if (list.error)
        conditions_.raise(key, fmt::format("driver {}: cannot list instances: {}: {}", driver.name(),
                                           to_string(list.error.kind), list.error.message));
    else
        conditions_.clear(key, fmt::format("driver {}: listing instances works again", driver.name()));
    lists_[&driver] = std::move(list);
    return true;
}

void Sightings::match(Driver& driver, const Fleet& fleet, const std::vector<Lease>& leases, Seconds now) {
    const ListResult& list = lists_[&driver];
    std::set<std::string> known;
    for (const Lease& lease : leases) {
        if (fleet.driver_for(lease.driver) != &driver) continue;
        Sight& sight = sights_[lease.id];
        auto at = std::find_if(list.instances.begin(), list.instances.end(),
                               [&](const Instance& one) { return belongs_to(one, lease); });
        if (at != list.instances.end()) {
            sight = {*at, 0, std::nullopt, true};
        } else {
            sight = {std::nullopt, list.error ? 0 : sight.absences + 1, std::nullopt, sight.seen};
        }
        for (const Instance& one : list.ended)
            if (!lease.instance_id.empty() && one.id == lease.instance_id) sight.death = one.reason;
    }
    for (const Instance& instance : list.instances) {
        bool ours =
            std::any_of(leases.begin(), leases.end(), [&](const Lease& lease) { return belongs_to(instance, lease); });
        if (ours || instance.state == InstanceState::gone) continue;
        known.insert(instance.id);
        Stranger& stranger = strangers_[instance.id];
        if (stranger.times == 0) stranger = {&driver, instance, now, 0};
        stranger.instance = instance;
        if (!list.error) stranger.times++;
    }
    if (list.error) return;
    for (auto at = strangers_.begin(); at != strangers_.end();)
        at = at->second.driver == &driver && !known.count(at->first) ? strangers_.erase(at) : std::next(at);
}

std::optional<Instance> Sightings::instance(const Lease& lease) const {
    auto at = sights_.find(lease.id);
    return at == sights_.end() ? std::nullopt : at->second.instance;
}

int Sightings::absences(const Lease& lease) const {
    auto at = sights_.find(lease.id);
    return at == sights_.end() ? 0 : at->second.absences;
}

std::optional<std::string> Sightings::death(const Lease& lease) const {
    auto at = sights_.find(lease.id);
    return at == sights_.end() ? std::nullopt : at->second.death;
}

bool Sightings::was_seen(const Lease& lease) const {
    auto at = sights_.find(lease.id);
    return at != sights_.end() && at->second.seen;
}

std::vector<Sightings::Stranger> Sightings::orphans(const Fleet& fleet, Seconds now) const {
    std::vector<Stranger> found;
    for (const auto& [id, stranger] : strangers_)
        if (stranger.times >= 2 && now - stranger.since >= fleet.orphan_age_s()) found.push_back(stranger);
    return found;
}

void Sightings::forget_drivers() {
    lists_.clear();
    asked_at_.clear();
    strangers_.clear();
}

}  // namespace squall::cloud
