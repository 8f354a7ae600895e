// SPDX-License-Identifier: GPL-3.0-or-later
// What became of a finished job: see outcome.h.
#include "src/squalld/outcome.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "src/core/billing.h"
#include "src/core/configs.h"
#include "src/core/tariff.h"
#include "src/slurm/gres.h"

namespace squall {
namespace {

std::vector<std::string> names_of(const std::string& comma_list) {
    std::vector<std::string> names;
    std::stringstream in(comma_list);
    for (std::string name; std::getline(in, name, ',');) names.push_back(name);
    return names;
}

// What it ran on: the first node's class and how much of each node.
struct Place {
    const NodeClass* node_class = nullptr;
    std::vector<std::string> nodes;
    Config config;
};

std::optional<Place> place_of(const OutcomeInput& input) {
    Place place;
    for (const slurm::Allocation& allocation : input.view.raw->allocations) {
        place.nodes.push_back(allocation.node);
        for (const Node& node : input.snapshot.nodes)
            if (!place.node_class && node.name == allocation.node) {
                place.config.class_id = node.class_id;
                place.node_class = &input.snapshot.classes[static_cast<std::size_t>(node.class_id)];
            }
    }
    if (!place.node_class) return std::nullopt;
    std::vector<slurm::Gres> gres = slurm::parse_gres(input.view.raw->gres_total);
    place.config.nodes = static_cast<int>(place.nodes.size());
    place.config.gpus = slurm::count_of(gres, "gpu") / place.config.nodes;
    place.config.shards = slurm::count_of(gres, "shard");
    return place;
}

bool serves(const Lease& lease, const std::string& node, const OutcomeRow& row) {
    return lease.node == node && lease.launched_at > 0 && lease.launched_at <= row.end &&
           (lease.closed_at == 0 || lease.closed_at >= row.start);
}

Micro rent_of(const OutcomeInput& input, const OutcomeRow& row, const std::string& node, const NodeClass& node_class) {
    auto lease =
        std::find_if(input.leases.rbegin(), input.leases.rend(), [&](const Lease& l) { return serves(l, node, row); });
    Seconds launched = lease == input.leases.rend() ? row.start : lease->launched_at;
    Seconds paid_to = launched;
    for (const OutcomeRow& other : input.earlier) {
        std::vector<std::string> nodes = names_of(other.nodes);
        if (!std::count(nodes.begin(), nodes.end(), node) || other.end <= launched) continue;
        paid_to =
            std::max(paid_to, other.end + std::min(node_class.release_s, std::max<Seconds>(0, row.start - other.end)));
    }
    Seconds end = row.end + node_class.release_s;
    auto cost_to = [&](Seconds at) {
        return lease_cost(node_class.price_micro_h, node_class.billing_step_s, node_class.billing_min_s, launched, at);
    };
    if (paid_to == launched) return cost_to(end);
    return std::max<Micro>(0, cost_to(end) - cost_to(std::min(paid_to, end)));
}

Micro energy_of(const OutcomeInput& input, const OutcomeRow& row, const Place& place) {
    const NodeClass& node_class = *place.node_class;
    auto cost_of = [&](int gpus) {
        return energy_cost(node_class, billed_watts(node_class, gpus), row.start, row.end, input.snapshot.utc_offset_s);
    };
    if (place.config.shards > 0) return cost_of(1) * place.config.shards / std::max(1, node_class.shards_per_gpu);
    return cost_of(place.config.gpus) * place.config.nodes;
}

Micro lateness(const OutcomeInput& input, const OutcomeRow& row) {
    if (!row.due || row.end <= *row.due) return 0;
    const PartitionConf* partition = input.conf.partition(input.view.original.partition);
    Micro per_hour = input.view.comment.request.late_micro_h.value_or(partition ? partition->late_micro_h : 0);
    return cost_of_time(per_hour, row.end - *row.due);
}

void copy_prediction(const std::optional<DecisionRow>& release, OutcomeRow& row) {
    if (!release) return;
    row.planned_start = release->start;
    row.planned_end = release->end;
    row.planned_late = release->late;
    row.planned_rent = release->rent;
    row.planned_energy = release->energy;
}

}  // namespace

std::optional<OutcomeRow> price_outcome(const OutcomeInput& input) {
    const slurm::RawJob& raw = *input.view.raw;
    if (raw.start_at <= 0 || raw.end_at < raw.start_at) return std::nullopt;
    std::optional<Place> place = place_of(input);
    if (!place) return std::nullopt;
    const Request& request = input.view.comment.request;
    OutcomeRow row;
    row.job_id = input.view.key.first;
    row.submit_at = input.view.key.second;
    row.slurm_state = slurm::to_string(raw.state);
    row.start = raw.start_at;
    row.end = raw.end_at;
    row.due = request.due ? request.due : raw.deadline_at;
    row.class_name = place->node_class->name;
    row.config = describe_config(*place->node_class, place->config);
    row.nodes = fmt::format("{}", fmt::join(place->nodes, ","));
    row.rented = place->node_class->rented;
    row.shared_gpu = place->config.shards > 0;
    row.node_count = place->config.nodes;
    row.late = lateness(input, row);
    for (const std::string& node : place->nodes)
        if (row.rented) row.rent += rent_of(input, row, node, *place->node_class);
    if (!row.rented) row.energy = energy_of(input, row, *place);
    copy_prediction(input.release, row);
    return row;
}

}  // namespace squall
