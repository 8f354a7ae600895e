// SPDX-License-Identifier: GPL-3.0-or-later
// Slurm, squall.conf and ledger → Snapshot: see reader.h.
#include "src/slurm/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "src/slurm/eligibility.h"
#include "src/slurm/gres.h"
#include "src/slurm/holds.h"
#include "src/slurm/topology.h"

namespace squall::slurm {
namespace {

std::optional<Seconds> epoch_word(const AdminComment& comment, const char* key) {
    auto at = comment.plan.find(key);
    if (at == comment.plan.end()) return std::nullopt;
    Seconds value = 0;
    const char* end = at->second.data() + at->second.size();
    auto [stop, error] = std::from_chars(at->second.data(), end, value);
    if (error != std::errc() || stop != end) return std::nullopt;
    return value;
}

// Slurm may go on showing the last plan's node count of a job that was put back as asked.
bool same_but_node_count(JobShape a, const JobShape& b) {
    a.min_nodes = b.min_nodes;
    return a == b;
}

class Reader {
  public:
    Reader(const Cluster& cluster, const Conf& conf, const Knowledge& knowledge, Seconds now)
        : cluster_(cluster), conf_(conf), knowledge_(knowledge), now_(now) {
        for (const NodeClassConf& class_conf : conf.classes)
            if (class_conf.spec.rented) rented_.insert(class_conf.nodes.begin(), class_conf.nodes.end());
    }

    Reading read(Seconds utc_offset_s) {
        out_.snapshot.now = now_;
        out_.snapshot.utc_offset_s = utc_offset_s;
        sort_jobs();
        std::vector<std::set<std::string>> sets;
        for (Candidate& candidate : pending_) sets.push_back(candidate.eligibility.nodes);
        std::sort(sets.begin(), sets.end());
        sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
        topology_ = make_topology(conf_, cluster_, sets, knowledge_.open_leases, knowledge_.blocks, now_);
        for (Candidate& candidate : running_) add_running(candidate);
        for (Candidate& candidate : pending_) add_pending(candidate);
        for (const RawJob* raw : unmanaged_)
            add_job_holds(*raw, -1, std::min(raw->start_at, now_), unmanaged_end(*raw, now_), topology_,
                          out_.snapshot.holds);
        add_reservation_holds(cluster_.reservations, now_, topology_, out_.snapshot.holds);
        add_budgets();
        out_.snapshot.classes = std::move(topology_.classes);
        out_.snapshot.groups = std::move(topology_.groups);
        out_.snapshot.nodes = std::move(topology_.nodes);
        out_.warnings = std::move(topology_.warnings);
        return std::move(out_);
    }

  private:
    struct Candidate {
        JobView view;
        Eligibility eligibility;
    };

    JobView make_view(const RawJob& raw, AdminComment comment) {
        JobView view;
        view.raw = &raw;
        std::optional<Seconds> first_submit = epoch_word(comment, "submit");
        view.first_sight = !first_submit;
        view.key = {raw.id, first_submit.value_or(raw.submit_at)};
        auto known = knowledge_.originals.find(view.key);
        std::string state = plan_word(comment, "state");
        view.molded = state == "released" || state == "running";
        view.original = known == knowledge_.originals.end() ? raw.shape : known->second.shape;
        view.asked_begin = epoch_word(comment, "begin");
        // A user who changes the comment's words makes job_submit write the plan part anew, without the begin time.
        if (!view.asked_begin && known != knowledge_.originals.end()) view.asked_begin = known->second.begin_at;
        if (!view.molded && !same_but_node_count(raw.shape, view.original)) {
            view.changed_by_user = true;
            view.original = raw.shape;
        }
        view.asked = read_asked(raw, view.original, cluster_.memory_is_consumable);
        view.comment = std::move(comment);
        return view;
    }

    void sort_jobs() {
        for (const RawJob& raw : cluster_.jobs) {
            bool holds = !raw.allocations.empty() &&
                         (raw.state == JobState::running || raw.state == JobState::suspended || raw.completing);
            auto comment = parse_admin_comment(raw.admin_comment);
            if (comment && raw.state == JobState::running) {
                running_.push_back({make_view(raw, std::move(*comment)), {}});
                continue;
            }
            if (holds) unmanaged_.push_back(&raw);
            if (!comment) continue;
            if (raw.state == JobState::pending && !raw.completing)
                sort_pending(raw, std::move(*comment));
            else if (is_finished(raw.state) && !raw.completing)
                out_.finished.push_back(make_view(raw, std::move(*comment)));
        }
    }

    void sort_pending(const RawJob& raw, AdminComment comment) {
        Candidate candidate{make_view(raw, std::move(comment)), {}};
        std::string hopeless = cannot_plan(raw);
        if (!hopeless.empty()) return leave_out(std::move(candidate.view), LeftOut::give_up, hopeless);
        if (raw.held) return leave_out(std::move(candidate.view), LeftOut::held, "held: " + raw.reason);
        if (raw.dependent)
            return leave_out(std::move(candidate.view), LeftOut::dependent,
                             "waits for its dependency " + raw.dependency);
        candidate.eligibility =
            eligible_nodes(raw, candidate.view.original, candidate.view.comment.request, conf_, cluster_, rented_);
        candidate.view.pin_nodes = candidate.eligibility.understood;
        if (!candidate.eligibility.understood) candidate.view.asked.rigid = true;
        pending_.push_back(std::move(candidate));
    }

    static std::string cannot_plan(const RawJob& raw) {
        if (!raw.array_tasks.empty() || raw.array_job_id != 0) return "job arrays are left to Slurm";
        if (raw.het_job_id != 0) return "heterogeneous jobs are left to Slurm";
        if (!raw.reservation.empty()) return "jobs in a reservation are left to Slurm";
        return "";
    }

    void leave_out(JobView view, LeftOut why, std::string reason) {
        out_.left_out.push_back({std::move(view), why, std::move(reason)});
    }

    Job base_job(const JobView& view) const {
        const RawJob& raw = *view.raw;
        const Request& request = view.comment.request;
        Job job;
        job.id = raw.id;
        job.name = raw.name;
        job.user = raw.user;
        job.account = raw.account;
        job.partition = view.original.partition;
        job.release = std::max(view.key.second, view.asked_begin.value_or(0));
        if (raw.restarts > 0 && raw.state == JobState::pending)
            job.release = std::max(job.release, raw.submit_at + kRevoked);
        job.due = request.due ? request.due : raw.deadline_at;
        job.due_is_hard = request.due ? request.hard : raw.deadline_at.has_value();
        job.late_micro_h = request.late_micro_h.value_or(0);
        const PartitionConf* partition = conf_.partition(view.original.partition);
        if (!request.late_micro_h && partition) job.late_micro_h = partition->late_micro_h;
        job.time_limit_s = raw.time_limit_s.value_or(0);
        job.checkpointable = request.checkpointable;
        job.restart_s = request.checkpoint_s;
        job.max_cost_micro = request.max_cost_micro;
        job.burst = request.burst;
        return job;
    }

    RuntimeModel runtime_model(const JobView& view) const {
        RuntimeModel model;
        model.entries = view.comment.request.runtimes;
        model.scaling_pct = conf_.scaling_pct;
        model.time_limit_s = view.raw->time_limit_s.value_or(0);
        for (const ProfileConf& profile : conf_.profiles)
            if (model.entries.empty() && profile.name == view.comment.request.profile) model.entries = profile.runtimes;
        return model;
    }

    // The classes all of whose nodes the job may use: local before rented.
    std::vector<ClassUse> usable_classes(const std::set<std::string>& nodes) const {
        std::vector<ClassUse> usable;
        for (bool rented : {false, true}) {
            for (std::size_t id = 0; id < topology_.classes.size(); id++) {
                if (topology_.classes[id].rented != rented) continue;
                ClassUse use{static_cast<int>(id), 0};
                for (const Node& node : topology_.nodes)
                    if (node.class_id == use.class_id && nodes.count(node.name)) use.nodes++;
                if (use.nodes > 0) usable.push_back(use);
            }
        }
        return usable;
    }

    void make_job_configs(const JobView& view, const std::vector<ClassUse>& usable, Job& job, std::string* why_none) {
        ConfigsResult made =
            make_configs(view.comment.request, view.asked, topology_.classes, usable, runtime_model(view));
        job.configs = std::move(made.configs);
        *why_none = std::move(made.why_none);
        for (Config& config : job.configs) {
            int threads = topology_.threads_per_core[static_cast<std::size_t>(config.class_id)];
            config.cpus = (config.cpus + threads - 1) / threads * threads;
        }
    }

    // The configuration whose text the AdminComment has; -1 = none.
    int config_by_text(const JobView& view, const Job& job) const {
        std::string text = plan_word(view.comment, "config");
        for (std::size_t i = 0; i < job.configs.size() && !text.empty(); i++)
            if (describe_config(topology_.classes[static_cast<std::size_t>(job.configs[i].class_id)], job.configs[i]) ==
                text)
                return static_cast<int>(i);
        return -1;
    }

    void add_pending(Candidate& candidate) {
        JobView& view = candidate.view;
        Job job = base_job(view);
        std::string why_none;
        make_job_configs(view, usable_classes(candidate.eligibility.nodes), job, &why_none);
        if (job.configs.empty()) return leave_out(std::move(view), LeftOut::give_up, why_none);
        auto wait = knowledge_.not_before.find(view.key);
        if (wait != knowledge_.not_before.end()) job.release = std::max(job.release, wait->second);
        find_pin(view, job);
        out_.snapshot.jobs.push_back(std::move(job));
        out_.views.push_back(std::move(view));
    }

    // Released by us and eligible: Slurm may start it any moment, so its place is taken. A begin time in the future
    // means it was requeued since.
    void find_pin(JobView& view, Job& job) {
        const RawJob& raw = *view.raw;
        if (plan_word(view.comment, "state") != "released" || raw.begin_at > now_) return;
        int config = config_by_text(view, job);
        std::vector<int> nodes = planned_nodes(view);
        view.released = true;
        Seconds since = epoch_word(view.comment, "since").value_or(raw.begin_at);
        Seconds patience = raw.reason == "Resources" ? kStuckResources : kStuckOther;
        view.stuck = now_ - since >= patience || config < 0 || nodes.empty();
        if (view.stuck) return;
        job.pinned_config = config;
        job.pinned_nodes = std::move(nodes);
    }

    std::vector<int> planned_nodes(const JobView& view) const {
        std::vector<int> nodes;
        std::string names = plan_word(view.comment, "nodes");
        for (std::size_t at = 0; at < names.size();) {
            std::size_t comma = std::min(names.find(',', at), names.size());
            auto node = topology_.node_index.find(names.substr(at, comma - at));
            if (node == topology_.node_index.end()) return {};
            nodes.push_back(node->second);
            at = comma + 1;
        }
        return nodes;
    }

    void add_running(Candidate& candidate) {
        JobView& view = candidate.view;
        const RawJob& raw = *view.raw;
        Job job = base_job(view);
        Running running;
        for (const Allocation& allocation : raw.allocations)
            if (auto at = topology_.node_index.find(allocation.node); at != topology_.node_index.end())
                running.nodes.push_back(at->second);
        // On nodes Squall does not know (or none): nothing of it is planned, and what it holds is held by others.
        if (running.nodes.empty()) return unmanaged_.push_back(&raw);
        running.config = running_config(view, running, job);
        running.start = raw.start_at;
        running.expected_end = expected_end(raw, running, job);
        add_job_holds(raw, static_cast<int>(out_.snapshot.jobs.size()), std::min(running.start, now_),
                      running.expected_end, topology_, out_.snapshot.holds);
        job.running = std::move(running);
        out_.snapshot.jobs.push_back(std::move(job));
        out_.views.push_back(std::move(view));
    }

    // What it really runs on, with a run time for it; put first, or the equal one among its configurations.
    int running_config(const JobView& view, const Running& running, Job& job) {
        const RawJob& raw = *view.raw;
        std::vector<Gres> gres = parse_gres(raw.allocations.front().gres);
        TresTotals totals = parse_totals(raw.tres_alloc);
        Config real;
        real.class_id = topology_.nodes[static_cast<std::size_t>(running.nodes.front())].class_id;
        const NodeClass& node_class = topology_.classes[static_cast<std::size_t>(real.class_id)];
        real.nodes = static_cast<int>(running.nodes.size());
        real.gpus = count_of(gres, "gpu");
        real.shards = real.gpus > 0 ? 0 : count_of(gres, "shard");
        real.cpus = (totals.cpus + real.nodes - 1) / real.nodes;
        real.mem_mb = node_class.mem_mb > 0 ? (totals.mem_mb + real.nodes - 1) / real.nodes : 0;
        RuntimeModel model = runtime_model(view);
        int gpus = std::max(1, real.gpus * real.nodes);
        int asked_gpus = std::max(1, view.asked.total_gpus());
        real.run_s = run_time(model, node_class.gpu_type, gpus, asked_gpus).value_or(job.time_limit_s);
        if (real.run_s <= 0) real.run_s = kDay;
        real.run_high_s = model.entries.empty() ? real.run_s : real.run_s + real.run_s / 4;
        if (job.time_limit_s > 0) {
            real.run_s = std::min(real.run_s, job.time_limit_s);
            real.run_high_s = std::min(real.run_high_s, job.time_limit_s);
        }
        job.configs = {real};
        return 0;
    }

    // The mean run from the real start; past it the high quantile; past that a tenth of the run so far, again and
    // again. Never past the time limit while that lies ahead.
    Seconds expected_end(const RawJob& raw, const Running& running, const Job& job) const {
        const Config& config = job.configs[static_cast<std::size_t>(running.config)];
        Seconds begin = running.start;
        if (raw.configuring)
            for (int node : running.nodes)
                begin = std::max({begin, now_, topology_.nodes[static_cast<std::size_t>(node)].ready_at});
        if (begin > now_ + kDay) begin = now_;  // the node went down under it: Slurm will say so soon
        Seconds end = begin + config.run_s;
        if (end <= now_) end = begin + config.run_high_s;
        if (end <= now_) end = now_ + std::max<Seconds>(10, (now_ - begin) / 10);
        if (raw.time_limit_s && raw.end_at > now_ && !raw.configuring) end = std::min(end, raw.end_at);
        return std::max(end, now_ + 1);
    }

    void add_budgets() {
        if (conf_.budget_day_micro > 0)
            out_.snapshot.budgets.push_back(
                {std::max<Micro>(0, conf_.budget_day_micro - knowledge_.rent_today), knowledge_.day_ends_at});
        if (conf_.budget_month_micro > 0)
            out_.snapshot.budgets.push_back(
                {std::max<Micro>(0, conf_.budget_month_micro - knowledge_.rent_this_month), knowledge_.month_ends_at});
    }

    const Cluster& cluster_;
    const Conf& conf_;
    const Knowledge& knowledge_;
    Seconds now_;
    std::set<std::string> rented_;
    std::vector<Candidate> pending_, running_;
    std::vector<const RawJob*> unmanaged_;
    Topology topology_;
    Reading out_;
};

}  // namespace

std::string plan_word(const AdminComment& comment, const char* key) {
    auto at = comment.plan.find(key);
    return at == comment.plan.end() ? "" : at->second;
}

Reading read_cluster(const Cluster& cluster, const Conf& conf, const Knowledge& knowledge, Seconds now,
                     Seconds utc_offset_s) {
    return Reader(cluster, conf, knowledge, now).read(utc_offset_s);
}

}  // namespace squall::slurm
