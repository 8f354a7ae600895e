// SPDX-License-Identifier: GPL-3.0-or-later
// The checker's view of one node: everything a plan puts there, swept over time. Shares no code with the planner.
#pragma once
#include <string>
#include <vector>

#include "src/core/plan.h"

namespace squall {

struct CheckedUse {
    Seconds start = 0, end = 0;
    int gpus = 0, shards = 0, gpu_index = -1, cpus = 0;
    std::int64_t mem_mb = 0;
    std::uint32_t job_id = 0;  // 0 = unmanaged
    bool planned = true;       // false: unmanaged or running already, not the plan's fault
    bool given = false;        // unmanaged, running, or released and left where it was: committed already
};

struct CheckedLease {
    Seconds launch = 0, release = 0;
};

// Capacity of GPUs, shares of one GPU, CPUs and memory at every start.
void check_capacity(const Snapshot& snapshot, int node, const std::vector<CheckedUse>& uses,
                    std::vector<std::string>& out);

// When the node must be booted for a use that starts then, given the others there; 0 where it is up.
Seconds boot_for(const Snapshot& snapshot, int node, const std::vector<CheckedUse>& uses, const CheckedUse& use);

// Leases of a rented node and the rent of all uses beyond what unmanaged jobs cost alone.
std::vector<CheckedLease> checked_leases(const Snapshot& snapshot, int node, const std::vector<CheckedUse>& uses);
Micro checked_rent(const Snapshot& snapshot, int node, const std::vector<CheckedUse>& uses);
Micro checked_energy(const Snapshot& snapshot, int node, const std::vector<CheckedUse>& uses);

}  // namespace squall
