// SPDX-License-Identifier: GPL-3.0-or-later
// The tick and the middle of a lease's life: see lease_machine.h. Its launch is in lease_launch.cc, its end in
// lease_ending.cc, what belongs to no lease in lease_strays.cc.
#include "cloud/lease_machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "cloud/class_facts.h"
#include "cloud/power_queue.h"

namespace squall::cloud {
namespace {

constexpr Seconds kSlurmRetryS = 15;  // libslurm blocks for about 9 s when slurmctld is away; instances cannot wait
constexpr int kAbsencesToBelieve = 2;
constexpr Seconds kFactsEveryS = 10;

}  // namespace

LeaseMachine::LeaseMachine(Tools tools, Fleet fleet)
    : tools_(std::move(tools)),
      fleet_(std::move(fleet)),
      book_(tools_.ledger, fleet_.conf().currency, tools_.changed) {}

void LeaseMachine::reload(Fleet fleet) {
    sightings_.forget_drivers();
    fleet_ = std::move(fleet);
    next_facts_ = 0;
}

// asked: a hook has just run, so slurmctld is there.
void LeaseMachine::load_slurm(bool asked) {
    if (now_ < next_load_ && !asked) return;
    if (fleet_.nodes().empty() && tools_.ledger.open_leases().empty()) return;  // nothing is rented here
    std::string error = tools_.slurm.load(nodes_);
    next_load_ = error.empty() ? 0 : now_ + kSlurmRetryS;
    nodes_known_ = error.empty();
    if (nodes_known_)
        conditions_.clear("slurm", "slurmctld answers again");
    else
        conditions_.raise("slurm", "slurmctld does not answer; leases go on without it: " + error);
}

void LeaseMachine::tick(Seconds now) {
    now_ = now;
    book_.set_now(now);
    std::vector<PowerRequest> requests = tools_.ledger.pending_power_requests();
    load_slurm(!requests.empty());
    take_power_requests(book_, fleet_, requests, nodes_known_ ? &nodes_ : nullptr);
    open_ = tools_.ledger.open_leases();
    sightings_.refresh(fleet_, open_, now);
    for (Lease& lease : open_) {
        if (tools_.stopping()) return;
        step(lease);
    }
    end_orphans();
    end_strays();
    return_nodes();
    tell_planner();
}

// Prices, spot risk and boot times as they are now; written only when they change.
void LeaseMachine::tell_planner() {
    if (now_ < next_facts_ && now_ >= next_facts_ - kFactsEveryS) return;
    next_facts_ = now_ + kFactsEveryS;
    std::vector<ClassFact> facts = make_class_facts(tools_.ledger, fleet_, now_);
    if (facts == tools_.ledger.class_facts()) return;
    tools_.ledger.put_class_facts(facts);
    tools_.changed();
}

void LeaseMachine::step(Lease& lease) {
    LeaseState before = lease.state;
    step_once(lease);
    // An end is acted on at once: it frees jobs and saves money.
    if (lease.state == LeaseState::draining && before != LeaseState::draining) step_once(lease);
    if (!lease.open()) forget(lease);
}

void LeaseMachine::forget(const Lease& lease) {
    memory_.erase(lease.id);
    for (const char* trouble : {"wait ", "launch ", "terminate "}) conditions_.clear(trouble + name_of(lease));
}

void LeaseMachine::step_once(Lease& lease) {
    switch (lease.state) {
        case LeaseState::wanted:
            return step_wanted(lease);
        case LeaseState::launching:
            return step_launching(lease);
        case LeaseState::booting:
            return step_booting(lease);
        case LeaseState::ready:
            return step_ready(lease);
        case LeaseState::draining:
            return step_draining(lease);
        case LeaseState::terminating:
            return step_terminating(lease);
        case LeaseState::closed:
        case LeaseState::failed:
            return;
    }
}

void LeaseMachine::step_booting(Lease& lease) {
    if (auto instance = sightings_.instance(lease)) tell_address(lease, *instance);
    if (lost(lease, false)) return;
    if (nodes_known_ && slurm_node(lease.node).usable()) {
        lease.ready_at = now_;
        forgive(lease);
        return book_.move(lease, LeaseState::ready, fmt::format("up after {} s", now_ - lease.launched_at));
    }
    if (left_by_slurm(lease)) return;
    if (now_ - lease.launched_at <= boot_timeout_s(lease)) return;
    boot_failed(lease, fmt::format("not registered in Slurm {} s after its launch", now_ - lease.launched_at));
}

void LeaseMachine::step_ready(Lease& lease) {
    if (lost(lease, true) || left_by_slurm(lease) || !nodes_known_) return;
    const RentedClass* rented = fleet_.class_named(lease.class_name);
    const SlurmNode& node = slurm_node(lease.node);
    Memory& memory = memory_[lease.id];
    if (!node.down || node.powering_up || node.powering_down) {
        memory.down_since = 0;
        return;
    }
    if (memory.down_since == 0) memory.down_since = now_;
    if (now_ - memory.down_since >= (rented ? rented->dead_s : 120))
        book_.end(lease, fmt::format("DOWN in Slurm for {} s", now_ - memory.down_since), true);
}

void LeaseMachine::tell_address(Lease& lease, const Instance& instance) {
    if (instance.address.empty()) return;
    Memory& memory = memory_[lease.id];
    if (lease.address != instance.address) {
        lease.address = instance.address;
        memory.address_told = false;
        book_.save(lease);
    }
    if (memory.address_told || !nodes_known_) return;
    std::string key = "address " + lease.node, error = tools_.slurm.set_address(lease.node, lease.address);
    memory.address_told = error.empty();
    if (error.empty())
        conditions_.clear(key);
    else
        conditions_.raise(key, fmt::format("NodeAddr={} cannot be set: {}", lease.address, error));
}

// Has the instance died or vanished? Then the lease ends.
bool LeaseMachine::lost(Lease& lease, bool serving) {
    auto instance = sightings_.instance(lease);
    std::string why;
    if (instance && (instance->state == InstanceState::failed || instance->state == InstanceState::gone))
        why = instance->reason.empty() ? "it failed" : instance->reason;
    else if (instance && instance->state == InstanceState::stopping)
        why = instance->reason.empty() ? "something else stopped it" : instance->reason;
    else if (auto death = sightings_.death(lease))
        why = death->empty() ? "it is gone" : *death;
    else if (is_absent(lease))
        why = "it is no longer in the cloud's list";
    if (why.empty()) return false;
    why = fmt::format("the instance died while {}: {}", serving ? "in use" : "booting", why);
    if (!serving) return boot_failed(lease, why), true;
    interrupted(lease, why);
    book_.end(lease, why, true);
    return true;
}

// Two good lists are without it, and the cloud has had the time to show a new one.
bool LeaseMachine::is_absent(const Lease& lease) const {
    if (sightings_.absences(lease) < kAbsencesToBelieve) return false;
    Driver* driver = fleet_.driver_for(lease.driver);
    return sightings_.was_seen(lease) || !driver || now_ - lease.state_at >= driver->settle_s();
}

// Does Slurm hold the node for powered down although no suspend arrived (its hook could not write)? Then nobody would
// ever end this lease.
bool LeaseMachine::left_by_slurm(Lease& lease) {
    Memory& memory = memory_[lease.id];
    if (!nodes_known_ || !slurm_node(lease.node).powered_down) {
        memory.off_since = 0;
        return false;
    }
    if (memory.off_since == 0) memory.off_since = now_;
    if (now_ - memory.off_since < tools_.patience_s) return false;
    book_.end(lease, "Slurm holds the node for powered down", false);
    return true;
}

const SlurmNode& LeaseMachine::slurm_node(const std::string& name) const {
    static const SlurmNode kOff = [] {
        SlurmNode off;
        off.powered_down = true;
        return off;
    }();
    auto at = nodes_.find(name);
    return at == nodes_.end() ? kOff : at->second;
}

bool LeaseMachine::has_open_lease(const std::string& node) const {
    return std::any_of(open_.begin(), open_.end(), [&](const Lease& one) { return one.node == node && one.open(); });
}

Seconds LeaseMachine::boot_timeout_s(const Lease& lease) const {
    const RentedClass* rented = fleet_.class_named(lease.class_name);
    return rented ? rented->boot_timeout_s : RentedClass{}.boot_timeout_s;
}

// Doubling waits between tries of the same call.
void LeaseMachine::later(const Lease& lease, Seconds longest_s) {
    Memory& memory = memory_[lease.id];
    memory.next_try = now_ + std::min<Seconds>(longest_s, Seconds{1} << std::min(memory.tries, 10));
    memory.tries++;
}

}  // namespace squall::cloud
