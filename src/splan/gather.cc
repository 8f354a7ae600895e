// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/splan/gather.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "src/core/tariff.h"
#include "src/slurm/gres.h"
#include "src/slurm/topology.h"

namespace squall::splan {
namespace {

// GPUs in use of one node: whole ones, and those that are shared.
struct NodeUse {
    int whole = 0;
    std::set<int> shared;
};

std::map<std::string, NodeUse> use_by_node(const slurm::Cluster& cluster) {
    std::map<std::string, NodeUse> use;
    for (const auto& job : cluster.jobs)
        for (const auto& allocation : job.allocations)
            for (const auto& gres : slurm::parse_gres(allocation.gres)) {
                if (gres.name == "gpu") use[allocation.node].whole += gres.count;
                if (gres.name != "shard") continue;
                auto& shared = use[allocation.node].shared;
                if (gres.indices.empty()) shared.insert(0);
                shared.insert(gres.indices.begin(), gres.indices.end());
            }
    return use;
}

Micro cost_now(const NodeClass& c, const Node& node, const NodeUse& use, Seconds now, Seconds utc_offset_s) {
    bool on = node.state == NodeState::up || node.state == NodeState::booting;
    if (c.rented) return on ? c.price_micro_h : 0;
    int busy = use.whole + static_cast<int>(use.shared.size());
    int watts = busy > 0 ? billed_watts(c, busy) : (c.power_down && on ? c.idle_watts : 0);
    return c.tariff.empty() ? 0 : energy_cost(c, watts, now, now + 1, utc_offset_s) * kHour;
}

std::vector<ClassRow> class_rows(const slurm::Cluster& cluster, const Conf& conf, const std::vector<Lease>& leases,
                                 Seconds now) {
    auto topology = slurm::make_topology(conf, cluster, {}, leases, {}, now);
    auto use = use_by_node(cluster);
    time_t time = now;
    tm local{};
    localtime_r(&time, &local);
    std::vector<ClassRow> rows;
    for (const auto& node : topology.nodes) {
        const auto& c = topology.classes[node.class_id];
        auto row = std::find_if(rows.begin(), rows.end(), [&](const ClassRow& r) { return r.name == c.name; });
        if (row == rows.end()) row = rows.insert(rows.end(), ClassRow{c.name, c.gpu_type, c.rented});
        ++row->nodes;
        row->up += node.state == NodeState::up;
        row->booting += node.state == NodeState::booting;
        row->unavailable += node.state == NodeState::unavailable;
        row->gpus += c.gpus;
        const auto& used = use[node.name];
        row->gpus_used += used.whole + static_cast<int>(used.shared.size());
        row->gpus_shared += static_cast<int>(used.shared.size());
        row->cost_micro_h += cost_now(c, node, used, now, local.tm_gmtoff);
    }
    return rows;
}

std::int64_t number(const std::map<std::string, std::string>& plan, const char* key) {
    auto at = plan.find(key);
    return at == plan.end() ? 0 : std::atoll(at->second.c_str());
}

std::string word(const std::map<std::string, std::string>& plan, const char* key) {
    auto at = plan.find(key);
    return at == plan.end() ? "" : at->second;
}

JobLine job_line(const slurm::RawJob& raw, const AdminComment& comment) {
    JobLine job;
    job.id = raw.id;
    job.name = raw.name, job.user = raw.user, job.account = raw.account, job.partition = raw.shape.partition;
    job.slurm_state = slurm::to_string(raw.state);
    job.finished = slurm::is_finished(raw.state);
    job.request = comment.request;
    job.due = comment.request.due;
    const auto& plan = comment.plan;
    job.submit_at = number(plan, "submit") != 0 ? number(plan, "submit") : raw.submit_at;
    job.state = job.finished ? "done" : word(plan, "state");
    if (raw.state == slurm::JobState::running) job.state = "running";
    if (raw.state == slurm::JobState::pending) job.reason = raw.reason;
    auto time_of = [](std::int64_t t) { return t != 0 ? std::optional<Seconds>(t) : std::nullopt; };
    job.start = time_of(number(plan, "start")), job.end = time_of(number(plan, "end"));
    if (job.finished || raw.state == slurm::JobState::running) job.start = time_of(raw.start_at);
    if (job.finished) job.end = time_of(raw.end_at);
    job.config = word(plan, "config"), job.nodes = word(plan, "nodes"), job.where = word(plan, "where");
    job.cost = number(plan, "cost"), job.late = number(plan, "late");
    job.rent = number(plan, "rent"), job.energy = number(plan, "energy");
    job.why = word(plan, "why");
    return job;
}

// What a finished job really cost, where the ledger knows it.
void settle(JobLine& job, const std::vector<OutcomeRow>& outcomes) {
    for (const auto& o : outcomes) {
        if (o.job_id != job.id || o.submit_at != job.submit_at) continue;
        job.late = o.late, job.rent = o.rent, job.energy = o.energy;
        job.cost = o.late + o.rent + o.energy;
        job.config = o.config, job.nodes = o.nodes, job.where = o.rented ? "rented" : "local";
    }
}

}  // namespace

View make_view(const slurm::Cluster& cluster, const Conf* conf, Ledger* ledger, const std::string& no_ledger_why,
               Seconds now) {
    View view;
    view.now = now;
    if (conf) view.currency = conf->currency;
    view.no_ledger_why = no_ledger_why;
    if (ledger) {
        view.has_ledger = true;
        view.cycle = ledger->last_cycle();
        view.outcomes = ledger->outcomes();
        view.leases = ledger->leases();
        for (const auto& job : ledger->jobs()) view.account_of[job.job_id] = job.account;
    }
    view.classes = class_rows(cluster, conf ? *conf : Conf{}, view.leases, now);
    for (const auto& raw : cluster.jobs) {
        auto comment = parse_admin_comment(raw.admin_comment);
        if (!comment) {
            view.other_jobs += !slurm::is_finished(raw.state);
            continue;
        }
        view.jobs.push_back(job_line(raw, *comment));
        settle(view.jobs.back(), view.outcomes);
    }
    std::sort(view.jobs.begin(), view.jobs.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    return view;
}

}  // namespace squall::splan
