// SPDX-License-Identifier: GPL-3.0-or-later
// Node updates through libslurm: see node_control.h.
#include "src/slurm/node_control.h"

#include <fmt/format.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "src/slurm/convert.h"

namespace squall::slurm {
namespace {

// libslurm takes char* but only reads it.
char* in(const std::string& text) { return const_cast<char*>(text.c_str()); }

Reply send(update_node_msg_t& message) {
    errno = 0;
    if (slurm_update_node(&message) == SLURM_SUCCESS) return {};
    return failure(fmt::format("node {}", message.node_names).c_str());
}

Reply set_state(const std::string& node, std::uint32_t state, const std::string& reason) {
    update_node_msg_t message;
    slurm_init_update_node_msg(&message);
    message.node_names = in(node);
    message.node_state = state;
    if (!reason.empty()) {
        message.reason = in(reason);
        message.reason_uid = getuid();
    }
    return send(message);
}

}  // namespace

NodeControl::NodeControl() { slurm_init(nullptr); }
NodeControl::~NodeControl() { slurm_fini(); }

Reply NodeControl::refresh(std::vector<RawNode>& nodes) {
    node_info_msg_t* message = nullptr;
    errno = 0;
    if (slurm_load_node(nodes_at_, &message, SHOW_ALL | SHOW_DETAIL) != SLURM_SUCCESS)
        return errno == SLURM_NO_CHANGE_IN_DATA ? Reply{} : failure("cannot load nodes");
    std::unique_ptr<node_info_msg_t, void (*)(node_info_msg_t*)> owned(message, slurm_free_node_info_msg);
    nodes_at_ = message->last_update;
    nodes.clear();
    for (std::uint32_t i = 0; i < message->record_count; i++)
        if (message->node_array[i].name) nodes.push_back(convert_node(message->node_array[i]));
    return {};
}

Reply NodeControl::set_address(const std::string& node, const std::string& address, const std::string& host) {
    update_node_msg_t message;
    slurm_init_update_node_msg(&message);
    message.node_names = in(node);
    message.node_addr = in(address);
    if (!host.empty()) message.node_hostname = in(host);
    char nothing[] = "";
    message.reason = nothing;
    return send(message);
}

Reply NodeControl::power_down_force(const std::string& node, const std::string& reason) {
    return set_state(node, NODE_STATE_POWER_DOWN | NODE_STATE_POWERED_DOWN, reason);
}

Reply NodeControl::set_down(const std::string& node, const std::string& reason) {
    return set_state(node, NODE_STATE_DOWN, reason);
}

Reply NodeControl::resume(const std::string& node) { return set_state(node, NODE_RESUME, ""); }

}  // namespace squall::slurm
