// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/sim/from_ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>

#include "src/core/conf.h"
#include "src/core/configs.h"
#include "src/core/instance_json.h"
#include "src/core/ledger.h"
#include "src/slurm/shape.h"

namespace squall::sim {
namespace {

// Does the second dump show the same machines, so that its jobs' indices mean the same?
bool same_machines(const Snapshot& a, const Snapshot& b) {
    auto same_name = [](const auto& x, const auto& y) { return x.name == y.name; };
    return std::equal(a.classes.begin(), a.classes.end(), b.classes.begin(), b.classes.end(), same_name) &&
           std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), same_name);
}

// An idle cluster: nothing runs, nothing is leased; nodes that are out of service stay so.
void make_idle(Snapshot& s) {
    s.jobs.clear();
    s.budgets.clear();
    std::erase_if(s.holds, [](const Hold& hold) { return hold.job >= 0; });
    for (auto& node : s.nodes) {
        node.leased_at.reset();
        bool rented = s.classes[node.class_id].rented;
        if (node.state == NodeState::unavailable && node.ready_at >= kForever && !rented) continue;
        node.state = rented ? NodeState::powered_down : NodeState::up;
        node.ready_at = 0;
    }
}

class Importer {
  public:
    explicit Importer(const FromLedgerOptions& options) : options_(options) {}

    FromLedgerResult run() {
        for (const auto& path : options_.clusters)
            if (!read_dump(path)) return std::move(result_);
        if (!options_.conf.empty()) {
            auto read = read_conf(options_.conf);
            if (!read.errors.empty()) return fail(read.errors.front());
            conf_ = std::move(read.conf);
        }
        make_idle(result_.snapshot);
        try {
            auto ledger = Ledger::open_read_only(options_.ledger);
            for (auto& row : ledger.outcomes()) outcomes_.emplace(std::pair(row.job_id, row.submit_at), row);
            for (const auto& row : ledger.jobs()) add_job(row);
        } catch (const LedgerError& error) {
            return fail(error.what());
        }
        auto& s = result_.snapshot;
        if (s.jobs.empty()) return fail(options_.ledger + ": no job in it can be planned");
        s.now = s.jobs.front().release;
        for (const auto& job : s.jobs) s.now = std::min(s.now, job.release);
        return std::move(result_);
    }

  private:
    FromLedgerResult fail(std::string error) {
        result_.error = std::move(error);
        return std::move(result_);
    }

    bool read_dump(const std::string& path) {
        std::ifstream in(path);
        if (!in) return result_.error = path + ": cannot be read", false;
        auto read = snapshot_from_json({std::istreambuf_iterator<char>(in), {}}, path);
        if (!read.error.empty()) return result_.error = read.error, false;
        if (dumps_++ == 0) result_.snapshot = read.snapshot;
        if (!same_machines(result_.snapshot, read.snapshot))
            return result_.error = fmt::format("{}: other nodes or classes than {}; give dumps of one cluster", path,
                                               options_.clusters.front()),
                   false;
        for (auto& job : read.snapshot.jobs) {
            auto& known = planned_[job.id];
            // A pending job still has every configuration; a running one may have only its own.
            if (!known || (known->running && !job.running)) known = std::move(job);
        }
        return true;
    }

    void add_job(const JobRow& row) {
        auto outcome = outcomes_.find({row.job_id, row.submit_at});
        bool ran = outcome != outcomes_.end() && outcome->second.end > outcome->second.start;
        auto dumped = planned_.find(row.job_id);
        std::optional<Job> job;
        if (dumped != planned_.end() && !dumped->second->configs.empty())
            job = *dumped->second;
        else
            job = rebuild(row, ran ? &outcome->second : nullptr);
        if (!job) return;
        job->release = std::max(row.submit_at, job->release);
        job->running.reset();
        job->pinned_config.reset();
        job->pinned_nodes.clear();
        job->remaining_ppm = 1000000;
        result_.snapshot.jobs.push_back(std::move(*job));
    }

    void leave_out(const JobRow& row, const std::string& why) {
        result_.notes.push_back(fmt::format("job {} is left out: {}", row.job_id, why));
    }

    std::optional<Job> rebuild(const JobRow& row, const OutcomeRow* outcome) {
        Request request;
        if (auto error = parse_words(request, row.request, 0); !error.empty())
            return leave_out(row, error), std::nullopt;
        auto original = slurm::original_from_json(row.asked);
        if (!original) return leave_out(row, "its shape as asked is not in the ledger"), std::nullopt;
        const auto& shape = original->shape;
        slurm::RawJob raw;
        raw.cpus_per_task = std::max(1, shape.cpus / std::max(1, shape.tasks));
        auto asked = slurm::read_asked(raw, shape, false);
        const auto* partition = conf_.partition(row.partition);
        Job job;
        job.id = row.job_id;
        job.name = row.name, job.user = row.user, job.account = row.account, job.partition = row.partition;
        job.release = std::max(row.submit_at, original->begin_at.value_or(0));
        job.due = request.due;
        job.due_is_hard = request.hard;
        job.late_micro_h = request.late_micro_h.value_or(partition ? partition->late_micro_h : 0);
        job.max_cost_micro = request.max_cost_micro;
        job.burst = request.burst;
        auto made =
            make_configs(request, asked, result_.snapshot.classes, usable(partition), runtimes(request, outcome));
        if (made.configs.empty()) return leave_out(row, made.why_none), std::nullopt;
        job.configs = std::move(made.configs);
        return job;
    }

    // Local classes first; rented ones where the partition may burst.
    std::vector<ClassUse> usable(const PartitionConf* partition) const {
        const auto& s = result_.snapshot;
        std::vector<int> nodes(s.classes.size(), 0);
        for (const auto& node : s.nodes) ++nodes[node.class_id];
        std::vector<ClassUse> uses;
        for (bool rented : {false, true})
            for (int c = 0; c < static_cast<int>(s.classes.size()); ++c)
                if (s.classes[c].rented == rented && (!rented || (partition && !partition->burst_to.empty())))
                    uses.push_back({c, nodes[c]});
        return uses;
    }

    // As asked, else of the profile, else as long as it really took.
    RuntimeModel runtimes(const Request& request, const OutcomeRow* outcome) const {
        RuntimeModel model;
        model.scaling_pct = conf_.scaling_pct;
        model.entries = request.runtimes;
        for (const auto& profile : conf_.profiles)
            if (model.entries.empty() && profile.name == request.profile) model.entries = profile.runtimes;
        if (model.entries.empty() && outcome) model.time_limit_s = outcome->end - outcome->start;
        return model;
    }

    const FromLedgerOptions& options_;
    FromLedgerResult result_;
    Conf conf_;
    int dumps_ = 0;
    std::map<std::uint32_t, std::optional<Job>> planned_;
    std::map<std::pair<std::uint32_t, Seconds>, OutcomeRow> outcomes_;
};

}  // namespace

FromLedgerResult from_ledger(const FromLedgerOptions& options) { return Importer(options).run(); }

}  // namespace squall::sim
