// SPDX-License-Identifier: GPL-3.0-or-later
// Look-ups in the plain data of client.h.
#include "src/slurm/client.h"

#include <algorithm>

#include "src/core/hostlist.h"

namespace squall::slurm {

const char* to_string(JobState state) {
    switch (state) {
        case JobState::pending:
            return "PENDING";
        case JobState::running:
            return "RUNNING";
        case JobState::suspended:
            return "SUSPENDED";
        case JobState::complete:
            return "COMPLETED";
        case JobState::cancelled:
            return "CANCELLED";
        case JobState::failed:
            return "FAILED";
        case JobState::timeout:
            return "TIMEOUT";
        case JobState::node_fail:
            return "NODE_FAIL";
        case JobState::preempted:
            return "PREEMPTED";
        case JobState::boot_fail:
            return "BOOT_FAIL";
        case JobState::deadline:
            return "DEADLINE";
        case JobState::out_of_memory:
            return "OUT_OF_MEMORY";
        case JobState::other:
            break;
    }
    return "UNKNOWN";
}

bool is_finished(JobState state) {
    return state != JobState::pending && state != JobState::running && state != JobState::suspended &&
           state != JobState::other;
}

std::vector<std::string> host_names(const std::string& hostlist) {
    if (hostlist.empty() || hostlist == "(null)") return {};
    std::string error;
    return expand_hostlist(hostlist, error).value_or(std::vector<std::string>{});
}

const RawNode* Cluster::node(const std::string& name) const {
    auto at = std::find_if(nodes.begin(), nodes.end(), [&](const RawNode& n) { return n.name == name; });
    return at == nodes.end() ? nullptr : &*at;
}

const RawPartition* Cluster::partition(const std::string& name) const {
    auto at = std::find_if(partitions.begin(), partitions.end(), [&](const RawPartition& p) { return p.name == name; });
    return at == partitions.end() ? nullptr : &*at;
}

}  // namespace squall::slurm
