// SPDX-License-Identifier: GPL-3.0-or-later
// Holds of running jobs and reservations: see holds.h.
#include "src/slurm/holds.h"

#include <algorithm>
#include <set>

#include "src/slurm/gres.h"

namespace squall::slurm {
namespace {

constexpr Seconds kCompleting = 5;  // an epilog is on its way; the next cycle sees whether it is over
constexpr Seconds kPastLimit = 60;  // Slurm kills within its grace time

const NodeClass& class_of(const Topology& topology, int node) {
    return topology.classes[static_cast<std::size_t>(topology.nodes[static_cast<std::size_t>(node)].class_id)];
}

// Shards are held on one or several GPUs of the node: one hold for each of them.
void add_shards(const Gres& gres, Hold hold, std::vector<Hold>& holds) {
    std::vector<int> indices = gres.indices.empty() ? std::vector<int>{-1} : gres.indices;
    int left = gres.count;
    for (std::size_t i = 0; i < indices.size() && left > 0; i++) {
        int on_others = static_cast<int>(indices.size() - i);
        int held = (left + on_others - 1) / on_others;
        if (indices[i] >= 0 && !gres.per_index.empty()) held = gres.per_index[static_cast<std::size_t>(indices[i])];
        hold.shards = std::min(held, left);
        hold.gpu_index = indices[i];
        left -= hold.shards;
        holds.push_back(hold);
        hold.cpus = 0, hold.mem_mb = 0;  // counted once
    }
}

// Whole GPUs taken on a node at `at`: held ones and those that hold shards.
int gpus_taken(const std::vector<Hold>& holds, int node, Seconds at) {
    int gpus = 0;
    std::set<int> sharing;
    for (const Hold& hold : holds) {
        if (hold.node != node || at < hold.start || at >= hold.end) continue;
        gpus += hold.gpus;
        if (hold.shards > 0) sharing.insert(hold.gpu_index);
    }
    return gpus + static_cast<int>(sharing.size());
}

}  // namespace

Seconds unmanaged_end(const RawJob& job, Seconds now) {
    if (job.completing) return now + kCompleting;
    if (!job.time_limit_s || job.end_at <= 0) return kForever;
    return std::max(job.end_at, now + kPastLimit);
}

void add_job_holds(const RawJob& job, int snapshot_job, Seconds start, Seconds end, const Topology& topology,
                   std::vector<Hold>& holds) {
    if (job.allocations.empty()) return;
    TresTotals totals = parse_totals(job.tres_alloc);
    int nodes = static_cast<int>(job.allocations.size());
    for (const Allocation& allocation : job.allocations) {
        auto at = topology.node_index.find(allocation.node);
        if (at == topology.node_index.end()) continue;
        const NodeClass& node_class = class_of(topology, at->second);
        Hold hold;
        hold.node = at->second;
        hold.job = snapshot_job;
        hold.start = start;
        hold.end = end;
        hold.cpus = (totals.cpus + nodes - 1) / nodes;
        if (node_class.mem_mb > 0) hold.mem_mb = (totals.mem_mb + nodes - 1) / nodes;
        std::vector<Gres> gres = parse_gres(allocation.gres);
        hold.gpus = count_of(gres, "gpu");
        bool shares = std::any_of(gres.begin(), gres.end(), [](const Gres& g) { return g.name == "shard"; });
        if (hold.gpus > 0 || !shares) holds.push_back(hold);
        if (hold.gpus > 0) hold.cpus = 0, hold.mem_mb = 0;
        hold.gpus = 0;
        for (const Gres& entry : gres)
            if (entry.name == "shard") add_shards(entry, hold, holds);
    }
}

void add_reservation_holds(const std::vector<RawReservation>& reservations, Seconds now, const Topology& topology,
                           std::vector<Hold>& holds) {
    for (const RawReservation& reservation : reservations) {
        if (reservation.end_at <= now) continue;
        for (const std::string& name : reservation.nodes) {
            auto at = topology.node_index.find(name);
            if (at == topology.node_index.end()) continue;
            Seconds from = std::max(reservation.start_at, now);
            std::set<Seconds> cuts = {from, reservation.end_at};
            for (const Hold& hold : holds)
                if (hold.node == at->second)
                    for (Seconds cut : {hold.start, hold.end})
                        if (cut > from && cut < reservation.end_at) cuts.insert(cut);
            std::vector<Hold> rest;
            for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
                Hold hold;
                hold.node = at->second;
                hold.start = *cut;
                hold.end = *std::next(cut);
                hold.gpus = class_of(topology, at->second).gpus - gpus_taken(holds, at->second, *cut);
                if (hold.gpus > 0) rest.push_back(hold);
            }
            holds.insert(holds.end(), rest.begin(), rest.end());
        }
    }
}

}  // namespace squall::slurm
