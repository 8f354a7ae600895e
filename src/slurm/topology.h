// SPDX-License-Identifier: GPL-3.0-or-later
// Slurm's nodes and squall.conf's NodeClass lines → the Snapshot's classes, groups and nodes. Pure. Called by the
// reader.
//
// Nodes of one NodeClass that differ in what Slurm says of them, or in which jobs may use them (partition, features,
// a job's -w or -x), become several classes with the same name and price: a configuration names a class, so every node
// of a class must do. Nodes with GPUs that squall.conf does not name form classes by GPU type, with free energy, unless
// they are cloud nodes: those have no price and are left out. Either is a warning.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "src/core/conf.h"
#include "src/core/ledger.h"
#include "src/slurm/client.h"

namespace squall::slurm {

struct Topology {
    std::vector<NodeClass> classes;
    std::vector<int> threads_per_core;  // by class: CPUs are handed out in these units
    std::vector<CapacityGroup> groups;
    std::vector<Node> nodes;
    std::map<std::string, int> node_index;
    std::vector<std::string> warnings;  // stable texts, to be logged once each
};

// sets: node sets that must not be split across a class boundary, i.e. what each pending job may use.
Topology make_topology(const Conf& conf, const Cluster& cluster, const std::vector<std::set<std::string>>& sets,
                       const std::vector<Lease>& open_leases, const std::vector<Block>& blocks, Seconds now);

}  // namespace squall::slurm
