// SPDX-License-Identifier: GPL-3.0-or-later
// The hooks' requests become leases and ends of leases, each in the transaction that takes it out of the queue. Called
// by the lease daemon at the start of each tick; one thread. Throws LedgerError.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "cloud/fleet.h"
#include "cloud/lease_book.h"
#include "cloud/slurm_nodes.h"

namespace squall::cloud {

// requests: the pending ones, read before `nodes` were loaded: a node's state is then at least as new as its request.
// nodes: null when Slurm does not answer; a request that needs them then waits, and those behind it.
void take_power_requests(LeaseBook& book, const Fleet& fleet, const std::vector<PowerRequest>& requests,
                         const std::map<std::string, SlurmNode>* nodes);

}  // namespace squall::cloud
