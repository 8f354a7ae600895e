// SPDX-License-Identifier: GPL-3.0-or-later
// Plan → updates: see applier.h.
#include "src/slurm/applier.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "src/slurm/eligibility.h"

namespace squall::slurm {
namespace {

Seconds number_word(const AdminComment& comment, const char* key) {
    std::string text = plan_word(comment, key);
    Seconds value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

// The plan part of one job as it should read.
struct Words {
    explicit Words(std::string s = "", std::string w = "") : state(std::move(s)), why(std::move(w)) {}
    std::string state, why, config, nodes, where;
    Seconds start = 0, end = 0, since = 0;
    Cost cost;
};

AdminComment make_comment(const JobView& view, const Words& words) {
    AdminComment comment;
    comment.request = view.comment.request;
    auto put = [&](const char* key, const std::string& value) {
        if (!value.empty()) comment.plan[key] = value;
    };
    auto put_number = [&](const char* key, Seconds value) {
        if (value != 0) comment.plan[key] = std::to_string(value);
    };
    put("state", words.state);
    put_number("start", words.start);
    put_number("end", words.end);
    put("config", words.config);
    put("nodes", words.nodes);
    put("where", words.where);
    put_number("cost", words.cost.total());
    put_number("late", words.cost.late);
    put_number("rent", words.cost.rent);
    put_number("energy", words.cost.energy);
    put("why", words.why);
    put_number("since", words.since);
    put_number("submit", view.key.second);
    put_number("begin", view.asked_begin.value_or(0));
    return comment;
}

bool drifted(const AdminComment& old, const char* key, Seconds value, Seconds now) {
    return std::abs(number_word(old, key) - value) > tolerance(value, now);
}

// Is it worth another AdminComment and another line in the ledger?
bool material(const JobView& view, const Words& words, Seconds now) {
    const AdminComment& old = view.comment;
    if (view.first_sight || plan_word(old, "state") != words.state) return true;
    if (plan_word(old, "config") != words.config || plan_word(old, "where") != words.where) return true;
    if (words.state == "released" && plan_word(old, "nodes") != words.nodes) return true;
    if (words.state == "unplaceable" || words.state == "unmanaged") return plan_word(old, "why") != words.why;
    // A running job's cost only becomes what it becomes, and an overrun moves its end in every cycle.
    if (words.state == "running")
        return std::abs(number_word(old, "end") - words.end) > 30 + (words.end - words.start) / 20;
    if (drifted(old, "end", words.end, now)) return true;
    if (drifted(old, "start", words.start, now)) return true;
    Micro cost = words.cost.total(), was = number_word(old, "cost");
    return std::abs(cost - was) > cost / 50 + 10000;
}

class Differ {
  public:
    Differ(const Reading& reading, const Plan& plan, const Conf& conf, const Cluster& cluster,
           const ApplyOptions& options)
        : reading_(reading),
          plan_(plan),
          conf_(conf),
          cluster_(cluster),
          options_(options),
          now_(reading.snapshot.now) {}

    std::vector<Action> diff() {
        for (const LeftOutJob& left : reading_.left_out) add_left_out(left);
        for (std::size_t i = 0; i < reading_.views.size(); i++) add(i);
        std::stable_sort(actions_.begin(), actions_.end(),
                         [](const Action& a, const Action& b) { return a.kind < b.kind; });
        return std::move(actions_);
    }

  private:
    void add(std::size_t i) {
        const JobView& view = reading_.views[i];
        const Job& job = reading_.snapshot.jobs[i];
        const Placement& placement = plan_.placements[i];
        if (job.running) return note(view, running_words(view, job, placement));
        if (placement.config < 0) {
            Words words("unplaceable", placement.why);
            return park(view, words, now_ + options_.park_s);
        }
        Words words = placed_words(job, placement);
        if (!placement.starts_now(now_)) {
            words.state = "planned";
            return park(view, words, placement.start + options_.guard_s);
        }
        if (view.released && !view.stuck && plan_word(view.comment, "config") == words.config &&
            plan_word(view.comment, "nodes") == words.nodes)
            return;  // Slurm has all it needs to start it
        release(view, job, placement, words);
    }

    void add_left_out(const LeftOutJob& left) {
        const JobView& view = left.view;
        if (left.why == LeftOut::give_up) return give_up(view, left.reason);
        Words words("parked", left.reason);
        // A hold of Slurm's own after a failed launch is nobody's wish: it goes back to being planned.
        if (left.why == LeftOut::held && view.raw->launch_failed_held) {
            Action& action = act(ActionKind::park, view, words);
            action.update.unhold = true;
            action.update.begin_at = now_ + options_.park_s;
            restore_shape(view, action);
            return;
        }
        park(view, words, now_ + options_.park_s);
    }

    Action& act(ActionKind kind, const JobView& view, const Words& words) {
        Action action;
        action.kind = kind;
        action.key = view.key;
        action.update.id = view.raw->id;
        action.update.has = view.raw->shape;
        action.update.admin_comment = format_admin_comment(make_comment(view, words));
        action.decision = {.job_id = view.raw->id,
                           .submit_at = view.key.second,
                           .decided_at = now_,
                           .state = words.state,
                           .config = words.config,
                           .nodes = words.nodes,
                           .start = words.start,
                           .end = words.end,
                           .late = words.cost.late,
                           .rent = words.cost.rent,
                           .energy = words.cost.energy,
                           .moves = words.cost.moves,
                           .why = words.why};
        actions_.push_back(std::move(action));
        return actions_.back();
    }

    void note(const JobView& view, const Words& words) {
        if (material(view, words, now_)) act(ActionKind::note, view, words);
    }

    void restore_shape(const JobView& view, Action& action) const {
        if (view.molded && view.raw->shape != view.original) action.update.shape = view.original;
    }

    // Keeps the job from starting before `begin`, in the shape the user asked.
    void park(const JobView& view, const Words& words, Seconds begin) {
        Seconds has = view.raw->begin_at;
        bool soon = has < begin && has - now_ < 2 * options_.guard_s;
        bool far = words.state == "planned" && std::abs(has - begin) > tolerance(begin, now_);
        bool write = material(view, words, now_);
        if (!soon && !far && !view.molded && !write) return;
        Action& action = act(ActionKind::park, view, words);
        if (soon || far || view.molded) action.update.begin_at = begin;
        restore_shape(view, action);
        if (!write) {  // only the begin time moves: neither AdminComment nor ledger hear of it
            action.update.admin_comment.reset();
            action.decision.state.clear();
        }
    }

    void release(const JobView& view, const Job& job, const Placement& placement, Words words) {
        const Config& config = job.configs[static_cast<std::size_t>(placement.config)];
        Target target{.config = &config,
                      .node_class = &reading_.snapshot.classes[static_cast<std::size_t>(config.class_id)],
                      .nodes = node_names(placement),
                      .partition = partition_for(*view.raw, view.original, conf_, cluster_, node_names(placement)),
                      .pin_nodes = view.pin_nodes};
        if (target.partition.empty()) target.partition = view.original.partition;
        words.state = "released";
        words.since = now_;
        Action& action = act(ActionKind::release, view, words);
        action.update.begin_at = now_;
        JobShape shape = mold(view.original, view.asked, target, options_.gres_prefix);
        action.molds = shape != view.original;
        if (shape != view.raw->shape) action.update.shape = shape;
    }

    // Back to Slurm exactly as asked: release_as_asked.
    void give_up(const JobView& view, const std::string& reason) {
        if (plan_word(view.comment, "state") == "unmanaged") return;
        Words words("unmanaged", reason);
        Action& action = act(ActionKind::give_up, view, words);
        action.update.begin_at = std::max(now_, view.asked_begin.value_or(0));
        restore_shape(view, action);
    }

    std::vector<std::string> node_names(const Placement& placement) const {
        std::vector<std::string> names;
        for (int node : placement.nodes) names.push_back(reading_.snapshot.nodes[static_cast<std::size_t>(node)].name);
        std::sort(names.begin(), names.end());
        return names;
    }

    Words placed_words(const Job& job, const Placement& placement) const {
        const Config& config = job.configs[static_cast<std::size_t>(placement.config)];
        const NodeClass& node_class = reading_.snapshot.classes[static_cast<std::size_t>(config.class_id)];
        Words words;
        words.config = describe_config(node_class, config);
        words.nodes = fmt::format("{}", fmt::join(node_names(placement), ","));
        words.where = node_class.rented ? "rented" : "local";
        words.why = placement.why;
        words.start = placement.start;
        words.end = placement.end;
        words.cost = placement.cost;
        return words;
    }

    Words running_words(const JobView& view, const Job& job, const Placement& placement) const {
        Placement real = placement;
        real.config = job.running->config;
        real.nodes = job.running->nodes;
        Words words = placed_words(job, real);
        words.state = "running";
        words.start = job.running->start;
        words.end = job.running->expected_end;
        // What decided is worth keeping; that it runs, everybody sees.
        if (std::string why = plan_word(view.comment, "why"); view.molded && !why.empty()) words.why = why;
        return words;
    }

    const Reading& reading_;
    const Plan& plan_;
    const Conf& conf_;
    const Cluster& cluster_;
    const ApplyOptions& options_;
    Seconds now_;
    std::vector<Action> actions_;
};

}  // namespace

const char* to_string(ActionKind kind) {
    switch (kind) {
        case ActionKind::give_up:
            return "give up";
        case ActionKind::park:
            return "park";
        case ActionKind::release:
            return "release";
        case ActionKind::note:
            break;
    }
    return "note";
}

Seconds tolerance(Seconds at, Seconds now) { return 5 + std::max<Seconds>(0, at - now) / 50; }

ApplyOptions apply_options(const Conf& conf, const std::string& gres_prefix) {
    ApplyOptions options;
    options.guard_s = std::max<Seconds>(5, (3 * conf.poll_ms + 2 * conf.plan_time_ms + 2999) / 1000);
    options.park_s = std::max(conf.park_s, 4 * options.guard_s);
    options.gres_prefix = gres_prefix;
    return options;
}

std::vector<Action> diff_plan(const Reading& reading, const Plan& plan, const Conf& conf, const Cluster& cluster,
                              const ApplyOptions& options) {
    return Differ(reading, plan, conf, cluster, options).diff();
}

}  // namespace squall::slurm
