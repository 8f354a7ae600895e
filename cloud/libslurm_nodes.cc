// SPDX-License-Identifier: GPL-3.0-or-later
// RawNode → SlurmNode: see libslurm_nodes.h.
#include "cloud/libslurm_nodes.h"

namespace squall::cloud {

std::string LibslurmNodes::load(std::map<std::string, SlurmNode>& nodes) {
    slurm::Reply reply = control_.refresh(raw_);
    if (!reply) return reply.message;
    nodes.clear();
    for (const slurm::RawNode& raw : raw_) {
        SlurmNode& node = nodes[raw.name];
        node.cloud = raw.cloud;
        node.powered_down = raw.powered_down;
        node.powering_up = raw.powering_up;
        node.powering_down = raw.powering_down;
        node.down = raw.down;
        node.not_responding = raw.not_responding;
        node.reason = raw.reason;
    }
    return "";
}

std::string LibslurmNodes::set_address(const std::string& node, const std::string& address) {
    return control_.set_address(node, address, "").message;
}

std::string LibslurmNodes::power_down_force(const std::string& node, const std::string& reason) {
    return control_.power_down_force(node, reason).message;
}

std::string LibslurmNodes::set_down(const std::string& node, const std::string& reason) {
    return control_.set_down(node, reason).message;
}

std::string LibslurmNodes::resume(const std::string& node) { return control_.resume(node).message; }

}  // namespace squall::cloud
