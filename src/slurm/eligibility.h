// SPDX-License-Identifier: GPL-3.0-or-later
// Which nodes a pending job may use: its partitions, BurstTo, -C, -w, -x. Pure. Called by the reader.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "src/core/conf.h"
#include "src/slurm/client.h"

namespace squall::slurm {

struct Eligibility {
    std::set<std::string> nodes;
    bool understood = true;  // false: a constraint Slurm will judge; nodes is the roughest guess, do not pin
};

// shape: as asked. rented: names of the nodes of rented classes.
Eligibility eligible_nodes(const RawJob& job, const JobShape& shape, const Request& request, const Conf& conf,
                           const Cluster& cluster, const std::set<std::string>& rented);

// The partition to start the job in so that it may use all of `nodes`: one it asked for, else BurstTo. "" = none.
std::string partition_for(const RawJob& job, const JobShape& shape, const Conf& conf, const Cluster& cluster,
                          const std::vector<std::string>& nodes);

// Does a node with these features satisfy this constraint? Understood: names joined by '&' or ',' (all) or by '|'
// (any). nullopt: anything else (counts, brackets).
std::optional<bool> features_match(const std::string& constraint, const std::string& node_features);

}  // namespace squall::slurm
