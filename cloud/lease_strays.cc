// SPDX-License-Identifier: GPL-3.0-or-later
// What belongs to no lease: instances that cost money for nobody, nodes that Slurm waits for in vain, and nodes that
// are DOWN since their instance died. Part of LeaseMachine (lease_machine.h).
#include <fmt/format.h>

#include <algorithm>

#include "cloud/lease_machine.h"

namespace squall::cloud {
namespace {

bool begins_with(const std::string& text, const std::string& part) { return text.compare(0, part.size(), part) == 0; }

// Set by us, or by slurmctld when a node did not come up in time.
bool our_reason(const std::string& reason) {
    return begins_with(reason, kReasonPrefix) || begins_with(reason, "ResumeTimeout reached");
}

}  // namespace

void LeaseMachine::end_orphans() {
    for (const Sightings::Stranger& orphan : sightings_.orphans(fleet_, now_)) {
        Error error = orphan.driver->terminate(orphan.instance.id);
        std::string key = "orphan " + orphan.instance.id;
        conditions_.raise(key,
                          fmt::format("instance {} of node {} (generation {}) has no lease: {}", orphan.instance.id,
                                      orphan.instance.node, orphan.instance.generation,
                                      error ? "cannot be terminated: " + error.message : "terminated"),
                          LogLevel::warning);
    }
}

// A rented node that Slurm holds for up or coming, with no lease behind it: its resume got lost, or the ledger did.
void LeaseMachine::end_strays() {
    if (!nodes_known_ || !tools_.ledger.pending_power_requests().empty()) return;
    for (const std::string& name : fleet_.nodes()) {
        const SlurmNode& node = slurm_node(name);
        if (!node.cloud || node.powered_down || node.powering_down || has_open_lease(name)) {
            stray_since_.erase(name);
            continue;
        }
        Seconds since = stray_since_.emplace(name, now_).first->second;
        if (now_ - since < tools_.patience_s) continue;
        std::string key = "stray " + name, error = give_up_in_slurm(name, "no lease is behind this node");
        conditions_.raise(key,
                          fmt::format("node {} is up or coming in Slurm for {} s without a lease: {}", name,
                                      now_ - since, error.empty() ? "powered down" : error),
                          LogLevel::warning);
        if (error.empty()) stray_since_.erase(name);
    }
}

// Slurm leaves such a node DOWN for ever. One that is blocked stays so until the block ends.
void LeaseMachine::return_nodes() {
    if (!nodes_known_) return;
    for (const std::string& name : fleet_.nodes()) {
        const SlurmNode& node = slurm_node(name);
        if (!node.powered_down || !node.down || !our_reason(node.reason) || has_open_lease(name)) continue;
        if (auto block = tools_.ledger.block(name); block && block->until > now_) continue;
        std::string key = "return " + name, error = tools_.slurm.resume(name);
        if (!error.empty()) {
            conditions_.raise(key, fmt::format("node {} cannot be made usable again: {}", name, error));
        } else if (!conditions_.clear(key, fmt::format("node {} is usable again", name))) {
            log_info("node {} is usable again (it was DOWN: {})", name, node.reason);
        }
    }
}

}  // namespace squall::cloud
