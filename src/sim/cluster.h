// SPDX-License-Identifier: GPL-3.0-or-later
// The machines a workload is replayed on, where the user names them: squall.conf (GPUs, CPUs and memory of its nodes
// from the slurm.conf beside it), a snapshot that squalld dumped, or plain "16x8:a100".
#pragma once
#include <string>
#include <vector>

#include "src/core/model.h"

namespace squall::sim {

struct ClusterResult {
    Snapshot cluster;   // no jobs, nothing leased
    std::string error;  // names file and line
};
ClusterResult read_cluster(const std::string& path);

// "NODESxGPUS[:TYPE][@PRICE]", with a price per node and hour: rented.
ClusterResult parse_nodes(const std::vector<std::string>& texts);

}  // namespace squall::sim
