// SPDX-License-Identifier: GPL-3.0-or-later
// The jobs that a ledger knows as a scheduling problem from their first submit on: to plan the same workload again, or
// to price it in plain Slurm order. Nodes and, where they are in it, jobs exactly as planned come from dumps of
// `squalld --dump-snapshot`; other jobs are rebuilt from what the ledger keeps of them.
#pragma once
#include <string>
#include <vector>

#include "src/core/model.h"

namespace squall::sim {

struct FromLedgerOptions {
    std::string ledger;
    std::vector<std::string> clusters;  // dumps of one cluster: same classes and nodes
    std::string conf;                   // "" = no profiles and no default late costs
};

struct FromLedgerResult {
    Snapshot snapshot;
    std::vector<std::string> notes;  // jobs left out, and why
    std::string error;               // "" or what cannot be read
};

FromLedgerResult from_ledger(const FromLedgerOptions& options);

}  // namespace squall::sim
