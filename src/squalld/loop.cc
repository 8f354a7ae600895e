// SPDX-License-Identifier: GPL-3.0-or-later
// squalld's loop: see loop.h.
#include "src/squalld/loop.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "src/core/check.h"
#include "src/core/hedge.h"
#include "src/core/planner.h"
#include "src/squalld/fingerprint.h"
#include "src/squalld/outcome.h"

namespace squall {
namespace {

using std::chrono::milliseconds;

constexpr Seconds kFirstWait = 10, kLongestWait = 300;  // back-off of a job Slurm refuses or does not start
constexpr std::size_t kMostErrors = 5;                  // lines logged of a plan that does not hold

Seconds clock_now() { return std::time(nullptr); }

Seconds utc_offset(Seconds now) {
    std::time_t clock = now;
    tm local{};
    localtime_r(&clock, &local);
    return local.tm_gmtoff;
}

Seconds back_off(int times) {
    Seconds wait = kFirstWait;
    for (int i = 1; i < times && wait < kLongestWait; i++) wait *= 2;
    return std::min(wait, kLongestWait);
}

std::string money(Micro micro, const Conf& conf) {
    return fmt::format("{:.2f} {}", static_cast<double>(micro) / 1e6, conf.currency);
}

}  // namespace

// What a job without a weight counts for once it is old.
static Micro least_late_cost(const Conf& conf) {
    Micro least = 0;
    for (const auto& partition : conf.partitions)
        if (partition.late_micro_h > 0 && (least == 0 || partition.late_micro_h < least))
            least = partition.late_micro_h;
    return least > 0 ? least : 1000000;
}

slurm::Reading read_now(const slurm::Cluster& cluster, const Conf& conf, Keeper& keeper) {
    Seconds now = clock_now();
    slurm::Reading reading =
        slurm::read_cluster(cluster, keeper.with_facts(conf), keeper.knowledge(now), now, utc_offset(now));
    hedge(reading.snapshot, {conf.quantile_pct, conf.aging_s, least_late_cost(conf)});
    return reading;
}

Loop::Loop(Conf conf, slurm::Client& client, Daemon& daemon)
    : conf_(std::move(conf)),
      client_(client),
      daemon_(daemon),
      keeper_(conf_.ledger_path(), conditions_),
      options_(slurm::apply_options(conf_, client.gres_prefix())) {}

void Loop::run(std::optional<Conf> (*reload)(const Conf& old)) {
    bool poked = true;
    while (!daemon_.stopping()) {
        if (refresh() && (poked || due(clock_now()) || fingerprint(cluster_) != seen_)) plan_cycle();
        Wake wake = daemon_.wait(milliseconds(conf_.poll_ms));
        if (wake.stop) break;
        poked = wake.poked || wake.reload;
        if (!wake.reload) continue;
        if (auto fresh = reload(conf_)) {
            conf_ = std::move(*fresh);
            options_ = slurm::apply_options(conf_, client_.gres_prefix());
        }
    }
    log_info("stopping; parked jobs stay parked until their begin times");
}

bool Loop::refresh() {
    slurm::Reply reply = client_.refresh(cluster_, waiting_);
    if (reply) {
        conditions_.clear("slurm", "slurmctld answers again");
        return true;
    }
    conditions_.raise("slurm", fmt::format("{}; asking again every {} ms", reply.message, conf_.poll_ms));
    return false;
}

bool Loop::due(Seconds now) const { return now >= next_due_; }

bool Loop::cycle() { return refresh() && plan_cycle(); }

bool Loop::plan_cycle() {
    seen_ = fingerprint(cluster_);
    forgive_when_something_ended();
    slurm::Reading reading = read_now(cluster_, conf_, keeper_);
    Seconds now = reading.snapshot.now;
    next_due_ = now + std::min(conf_.interval_s, std::max<Seconds>(1, conf_.dead_man_s / 3));
    warn(reading.warnings);
    std::set<slurm::JobKey> alive;
    auto note = [&](const slurm::JobView& view) { alive.insert(view.key); };
    for (const slurm::JobView& view : reading.views) note(view), keeper_.remember(view);
    for (const slurm::LeftOutJob& left : reading.left_out) note(left.view), keeper_.remember(left.view);
    for (const slurm::JobView& view : reading.finished) note(view);
    delay_stuck(reading, now);
    bool held = plan_and_apply(reading, now);
    record_outcomes(reading);
    keeper_.forget_others(alive);
    std::erase_if(refusals_, [&](const auto& entry) { return !alive.count(entry.first); });
    if (held) confirm();
    return held;
}

// Resources came back: whoever waits after a failed start may try at once.
void Loop::forgive_when_something_ended() {
    std::set<std::uint32_t> holding;
    for (const slurm::RawJob& job : cluster_.jobs)
        if (!job.allocations.empty() && (!slurm::is_finished(job.state) || job.completing)) holding.insert(job.id);
    if (!std::includes(holding.begin(), holding.end(), holding_.begin(), holding_.end())) keeper_.forget_waits();
    holding_ = std::move(holding);
}

bool Loop::plan_and_apply(const slurm::Reading& reading, Seconds now) {
    std::optional<Plan> plan = make(reading.snapshot);
    if (!plan || !holds(reading.snapshot, *plan)) return false;
    std::vector<slurm::Action> actions = slurm::diff_plan(reading, *plan, conf_, cluster_, options_);
    int updates = apply(actions, now);
    set_timers(reading, *plan, actions, now);
    record_cycle(reading, *plan, updates, now);
    last_plan_ = std::move(*plan);
    return true;
}

std::optional<Plan> Loop::make(const Snapshot& snapshot) {
    PlanOptions options;
    options.time_ms = conf_.plan_time_ms;
    options.threads = conf_.threads;
    options.seed = conf_.seed;
    try {
        Plan plan = make_plan(snapshot, options, &last_plan_);
        conditions_.clear("planner", "the planner works again");
        return plan;
    } catch (const std::exception& error) {
        conditions_.raise("planner", fmt::format("the planner failed: {}; jobs keep their begin times and start as "
                                                 "asked; squalld --dump-snapshot writes what it was given",
                                                 error.what()));
        return std::nullopt;
    }
}

bool Loop::holds(const Snapshot& snapshot, const Plan& plan) {
    std::vector<std::string> errors = check_plan(snapshot, plan);
    if (errors.empty()) {
        conditions_.clear("check", "plans hold again");
        return true;
    }
    if (conditions_.raise("check",
                          "a plan did not pass its check and nothing of it is applied; jobs keep their begin "
                          "times and start as asked"))
        for (std::size_t i = 0; i < std::min(errors.size(), kMostErrors); i++) log_error("plan: {}", errors[i]);
    return false;
}

// Released, and Slurm has not started it: somebody else was faster, or a limit holds it back. It waits, longer each
// time, and leaves its place to others.
void Loop::delay_stuck(slurm::Reading& reading, Seconds now) {
    for (std::size_t i = 0; i < reading.views.size(); i++) {
        const slurm::JobView& view = reading.views[i];
        Job& job = reading.snapshot.jobs[i];
        if (job.running) refusals_.erase(view.key);
        if (!view.stuck) continue;
        Seconds wait = back_off(++refusals_[view.key]);
        keeper_.wait_until(view.key, now + wait);
        job.release = std::max(job.release, now + wait);
        log_info("job {}: released, but Slurm did not start it ({}); parked again for {} s", job.id,
                 view.raw->reason.empty() ? "no reason given" : view.raw->reason, wait);
    }
}

int Loop::apply(const std::vector<slurm::Action>& actions, Seconds now) {
    int sent = 0;
    for (const slurm::Action& action : actions) {
        std::string what = fmt::format("{} job {}", slurm::to_string(action.kind), action.update.id);
        if (!action.decision.config.empty())
            what += fmt::format(": {} on {}", action.decision.config, action.decision.nodes);
        if (conf_.dry_run) {
            conditions_.raise(fmt::format("dry run {}", action.update.id), "DryRun: would " + what, LogLevel::info);
            continue;
        }
        slurm::Reply reply = client_.update_job(action.update);
        if (reply) {
            sent++;
            conditions_.clear(fmt::format("job {}", action.update.id));
            log_at(action.kind == slurm::ActionKind::release || action.kind == slurm::ActionKind::give_up
                       ? LogLevel::info
                       : LogLevel::debug,
                   "{}; {}", what, action.decision.why);
            if (!action.decision.state.empty()) keeper_.record(action.decision);
        } else if (reply.failure == slurm::Failure::unreachable) {
            conditions_.raise("slurm", reply.message);
            break;  // the next cycle sends what is left
        } else if (reply.failure == slurm::Failure::refused) {
            refused(action, reply, now);
        }
    }
    return sent;
}

void Loop::refused(const slurm::Action& action, const slurm::Reply& reply, Seconds now) {
    Seconds wait = back_off(++refusals_[action.key]);
    keeper_.wait_until(action.key, now + wait);
    conditions_.raise(
        fmt::format("job {}", action.update.id),
        fmt::format("{}: Slurm refused to {} it ({} on {}); it is planned again, each time later", reply.message,
                    slurm::to_string(action.kind), action.decision.config, action.decision.nodes));
}

void Loop::set_timers(const slurm::Reading& reading, const Plan& plan, const std::vector<slurm::Action>& actions,
                      Seconds now) {
    auto at = [&](Seconds when) {
        if (when > now) next_due_ = std::min(next_due_, when);
    };
    for (std::size_t i = 0; i < reading.views.size(); i++) {
        const slurm::JobView& view = reading.views[i];
        const Placement& placement = plan.placements[i];
        if (placement.config >= 0 && !reading.snapshot.jobs[i].running) at(placement.start);
        if (!reading.snapshot.jobs[i].running) at(view.raw->begin_at - 2 * options_.guard_s + 1);
    }
    waiting_ = false;
    // Whether Slurm starts what was released is looked at in every poll.
    for (const slurm::JobView& view : reading.views) waiting_ = waiting_ || view.released;
    for (const slurm::Action& action : actions) waiting_ = waiting_ || action.kind == slurm::ActionKind::release;
    if (waiting_) at(now + slurm::kStuckResources);
    for (const slurm::LeftOutJob& left : reading.left_out) at(left.view.raw->begin_at - 2 * options_.guard_s + 1);
}

void Loop::record_outcomes(const slurm::Reading& reading) {
    for (const slurm::JobView& view : reading.finished) {
        if (keeper_.has_outcome(view.key)) continue;
        OutcomeInput input{.view = view,
                           .conf = conf_,
                           .snapshot = reading.snapshot,
                           .release = keeper_.release_of(view.key),
                           .leases = keeper_.leases(),
                           .earlier = keeper_.outcomes()};
        if (auto outcome = price_outcome(input)) keeper_.record(*outcome);
    }
}

void Loop::record_cycle(const slurm::Reading& reading, const Plan& plan, int updates, Seconds now) {
    CycleRow row{.at = now,
                 .jobs = static_cast<int>(plan.placements.size()),
                 .placed = 0,
                 .starts = 0,
                 .cost = plan.cost.total(),
                 .bound = plan.bound,
                 .plan_ms = static_cast<std::int64_t>(plan.seconds * 1000),
                 .note = plan.refine_note};
    for (std::size_t i = 0; i < plan.placements.size(); i++) {
        if (plan.placements[i].config >= 0) row.placed++;
        if (plan.placements[i].starts_now(now) && !reading.snapshot.jobs[i].running) row.starts++;
    }
    keeper_.record(row);
    log_at(updates > 0 ? LogLevel::info : LogLevel::debug,
           "planned {} of {} jobs, {} to start now, cost {}, bound {}, {} ms, {} updates", row.placed, row.jobs,
           row.starts, money(row.cost, conf_), money(row.bound, conf_), row.plan_ms, updates);
}

void Loop::warn(const std::vector<std::string>& warnings) {
    std::set<std::string> now(warnings.begin(), warnings.end());
    for (const std::string& text : now)
        if (!warned_.count(text)) log_warning("{}", text);
    warned_ = std::move(now);
}

// The plugin's dead-man switch reads this file's time.
void Loop::confirm() {
    std::string path = conf_.state_dir + "/confirmed";
    Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    if (file && futimens(file.get(), nullptr) == 0) {
        conditions_.clear("confirm");
        return;
    }
    conditions_.raise("confirm", fmt::format("{}: {}; the dead-man switch will release every parked job", path,
                                             std::strerror(errno)));
}

}  // namespace squall
