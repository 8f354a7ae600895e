// SPDX-License-Identifier: GPL-3.0-or-later
// What of the cluster makes a new plan worth while: see fingerprint.h.
#include "src/squalld/fingerprint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

namespace squall {

std::string fingerprint(const slurm::Cluster& cluster) {
    std::string text;
    auto out = std::back_inserter(text);
    for (const slurm::RawJob& job : cluster.jobs) {
        fmt::format_to(out, "j{}:{}:{}{}{}{}:{}:{}:{}:{}", job.id, static_cast<int>(job.state), job.completing,
                       job.configuring, job.held, job.dependent, job.submit_at, job.restarts,
                       job.time_limit_s.value_or(-1), job.deadline_at.value_or(0));
        for (const slurm::Allocation& allocation : job.allocations)
            fmt::format_to(out, "@{}={}", allocation.node, allocation.gres);
        // The request in front of the bar is the user's, the plan part behind it is ours.
        fmt::format_to(out, "#{}", job.admin_comment.substr(0, job.admin_comment.find(" | ")));
        const slurm::JobShape& shape = job.shape;
        fmt::format_to(out, "~{}/{}/{}/{}/{}/{}\n", shape.partition, shape.tres_per_job, shape.tres_per_node,
                       shape.tres_per_task, job.features, job.exc_nodes);
    }
    for (const slurm::RawNode& node : cluster.nodes)
        fmt::format_to(out, "n{}:{}{}{}{}{}:{}{}{}{}:{}:{}\n", node.name, node.down, node.drained, node.failing,
                       node.maintenance, node.not_responding, node.powered_down, node.powering_up, node.powering_down,
                       node.rebooting, node.gres, node.features);
    for (const slurm::RawPartition& partition : cluster.partitions)
        fmt::format_to(out, "p{}:{}:{}:{}\n", partition.name, partition.starts_jobs, partition.max_time_s.value_or(-1),
                       fmt::join(partition.nodes, ","));
    for (const slurm::RawReservation& reservation : cluster.reservations)
        fmt::format_to(out, "r{}:{}:{}:{}\n", reservation.name, reservation.start_at, reservation.end_at,
                       fmt::join(reservation.nodes, ","));
    return text;
}

}  // namespace squall
