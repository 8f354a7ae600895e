// SPDX-License-Identifier: GPL-3.0-or-later
// The end of a lease: Slurm is told if it does not know, the instance is terminated, and only when the cloud's list has
// been without it is the lease closed. Part of LeaseMachine (lease_machine.h).
#include <fmt/format.h>

#include <algorithm>

#include "cloud/lease_machine.h"

namespace squall::cloud {
namespace {

constexpr Seconds kLongestRetryS = 10;  // it costs money while it lives

}  // namespace

void LeaseMachine::step_draining(Lease& lease) {
    bool told = tell_slurm(lease);
    if (lease.launched_at == 0) {
        if (told) book_.close(lease);
        return;
    }
    if (!terminate(lease)) return;
    // Without an id there is nothing to terminate yet: the lists will show whether there ever was an instance.
    if (!lease.instance_id.empty()) lease.released_at = now_;
    sightings_.start_over(lease);
    book_.move(lease, LeaseState::terminating, "");
}

void LeaseMachine::step_terminating(Lease& lease) {
    bool told = tell_slurm(lease);
    if (auto instance = sightings_.instance(lease); instance && instance->state != InstanceState::gone) {
        if (lease.instance_id.empty()) {
            lease.instance_id = instance->id;
            book_.save(lease);
        }
        // Told once more, even one that is stopping already: an order may get lost, and the call is idempotent.
        if (terminate(lease) && lease.released_at == 0) {
            lease.released_at = now_;
            book_.save(lease);
        }
        return;
    }
    if (told && (sightings_.death(lease) || is_absent(lease))) book_.close(lease);
}

// True when the cloud has taken the order, or there is nothing to order.
bool LeaseMachine::terminate(Lease& lease) {
    if (now_ < memory_[lease.id].next_try) return false;
    Driver* driver = fleet_.driver_for(lease.driver);
    std::string key = "terminate " + name_of(lease);
    if (!driver) {
        conditions_.raise(key,
                          fmt::format("lease {}: no NodeClass has Driver={} any more, so its instance {} cannot be "
                                      "terminated and may cost money; put the class back into squall.conf",
                                      name_of(lease), lease.driver, lease.instance_id));
        return false;
    }
    if (lease.instance_id.empty()) return true;
    Error error = driver->terminate(lease.instance_id);
    later(lease, kLongestRetryS);
    if (!error) {
        conditions_.clear(key);
        return true;
    }
    conditions_.raise(key, fmt::format("lease {}: instance {} cannot be terminated, tried again: {}: {}",
                                       name_of(lease), lease.instance_id, to_string(error.kind), error.message));
    return false;
}

// True when Slurm knows that the node is not coming, or is gone.
bool LeaseMachine::tell_slurm(Lease& lease) {
    if (!lease.tell_slurm) return true;
    bool resumed_again = std::any_of(open_.begin(), open_.end(), [&](const Lease& other) {
        return other.node == lease.node && other.generation > lease.generation;
    });
    if (!resumed_again) {
        if (!nodes_known_) return false;
        std::string key = "give up " + lease.node, error = give_up_in_slurm(lease.node, lease.reason);
        if (!error.empty()) {
            conditions_.raise(key, fmt::format("node {} cannot be powered down: {}", lease.node, error));
            return false;
        }
        conditions_.clear(key);
    }
    lease.tell_slurm = false;
    book_.save(lease);
    return true;
}

std::string LeaseMachine::give_up_in_slurm(const std::string& name, const std::string& reason) {
    const SlurmNode& node = slurm_node(name);
    if (node.powered_down || node.powering_down) return "";
    std::string text = kReasonPrefix + reason;
    if (!node.powering_up) {
        // Its slurmd is gone: a forced power-down alone would wait for it to clean up its jobs.
        if (std::string error = tools_.slurm.set_down(name, text); !error.empty()) return error;
    }
    return tools_.slurm.power_down_force(name, text);
}

}  // namespace squall::cloud
