// SPDX-License-Identifier: GPL-3.0-or-later
// Which nodes a pending job may use: see eligibility.h.
#include "src/slurm/eligibility.h"

#include <algorithm>
#include <sstream>

namespace squall::slurm {
namespace {

std::vector<std::string> words(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::stringstream in(text);
    for (std::string part; std::getline(in, part, separator);)
        if (!part.empty()) parts.push_back(part);
    return parts;
}

// Can a job of this time limit start in this partition at all?
bool takes(const RawPartition& partition, const RawJob& job) {
    if (!partition.starts_jobs) return false;
    return !partition.max_time_s || !job.time_limit_s || *job.time_limit_s <= *partition.max_time_s;
}

std::vector<const RawPartition*> asked_partitions(const RawJob& job, const JobShape& shape, const Cluster& cluster) {
    std::vector<const RawPartition*> found;
    for (const std::string& name : words(shape.partition, ','))
        if (const RawPartition* partition = cluster.partition(name); partition && takes(*partition, job))
            found.push_back(partition);
    return found;
}

std::vector<const RawPartition*> burst_partitions(const RawJob& job, const JobShape& shape, const Conf& conf,
                                                  const Cluster& cluster) {
    std::vector<const RawPartition*> found;
    for (const std::string& name : words(shape.partition, ',')) {
        const PartitionConf* partition_conf = conf.partition(name);
        if (!partition_conf || partition_conf->burst_to.empty()) continue;
        const RawPartition* partition = cluster.partition(partition_conf->burst_to);
        if (partition && takes(*partition, job)) found.push_back(partition);
    }
    return found;
}

void keep_if(std::set<std::string>& nodes, auto&& wanted) {
    std::erase_if(nodes, [&](const std::string& node) { return !wanted(node); });
}

}  // namespace

std::optional<bool> features_match(const std::string& constraint, const std::string& node_features) {
    if (constraint.find_first_of("[]()*") != std::string::npos) return std::nullopt;
    bool any = constraint.find('|') != std::string::npos;
    bool all = constraint.find_first_of("&,") != std::string::npos;
    if (any && all) return std::nullopt;
    std::vector<std::string> have = words(node_features, ',');
    auto has = [&](const std::string& feature) { return std::count(have.begin(), have.end(), feature) > 0; };
    if (any) {
        std::vector<std::string> wanted = words(constraint, '|');
        return std::any_of(wanted.begin(), wanted.end(), has);
    }
    std::vector<std::string> wanted = words(constraint, constraint.find('&') != std::string::npos ? '&' : ',');
    return std::all_of(wanted.begin(), wanted.end(), has);
}

Eligibility eligible_nodes(const RawJob& job, const JobShape& shape, const Request& request, const Conf& conf,
                           const Cluster& cluster, const std::set<std::string>& rented) {
    Eligibility result;
    for (const RawPartition* partition : asked_partitions(job, shape, cluster))
        result.nodes.insert(partition->nodes.begin(), partition->nodes.end());
    if (request.burst != Burst::never)
        for (const RawPartition* partition : burst_partitions(job, shape, conf, cluster))
            result.nodes.insert(partition->nodes.begin(), partition->nodes.end());
    if (request.burst == Burst::never) keep_if(result.nodes, [&](const std::string& n) { return !rented.count(n); });
    if (request.burst == Burst::only) keep_if(result.nodes, [&](const std::string& n) { return rented.count(n) > 0; });

    if (!job.features.empty()) {
        if (!features_match(job.features, "")) {
            result.understood = false;
        } else {
            keep_if(result.nodes, [&](const std::string& name) {
                const RawNode* node = cluster.node(name);
                return node && features_match(job.features, node->features).value_or(false);
            });
        }
    }
    for (const std::string& name : host_names(job.exc_nodes)) result.nodes.erase(name);
    // -w names nodes that must be among the job's: when they are all of them, nothing else is left to choose.
    std::vector<std::string> required = host_names(shape.req_nodes);
    if (!required.empty()) {
        if (static_cast<int>(required.size()) >= shape.min_nodes)
            keep_if(result.nodes,
                    [&](const std::string& n) { return std::count(required.begin(), required.end(), n) > 0; });
        result.understood = false;
    }
    if (job.contiguous || job.switches) result.understood = false;
    return result;
}

std::string partition_for(const RawJob& job, const JobShape& shape, const Conf& conf, const Cluster& cluster,
                          const std::vector<std::string>& nodes) {
    auto holds_all = [&](const RawPartition* partition) {
        return std::all_of(nodes.begin(), nodes.end(), [&](const std::string& node) {
            return std::count(partition->nodes.begin(), partition->nodes.end(), node) > 0;
        });
    };
    for (const RawPartition* partition : asked_partitions(job, shape, cluster))
        if (holds_all(partition)) return partition->name;
    for (const RawPartition* partition : burst_partitions(job, shape, conf, cluster))
        if (holds_all(partition)) return partition->name;
    return "";
}

}  // namespace squall::slurm
