// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/core/amount.h"
#include "src/core/configs.h"
#include "src/core/find.h"

namespace squall {
namespace {

// HH:MM:SS of the site's day, with the number of days ahead where it is not today.
std::string clock_time(const Snapshot& snapshot, Seconds at) {
    Seconds local = at + snapshot.utc_offset_s, today = (snapshot.now + snapshot.utc_offset_s) / kDay;
    Seconds s = ((local % kDay) + kDay) % kDay, days = local / kDay - today;
    auto text = fmt::format("{:02}:{:02}:{:02}", s / kHour, s % kHour / 60, s % 60);
    return days == 0 ? text : fmt::format("{} ({:+} d)", text, days);
}

std::string lateness(const Snapshot& snapshot, const Job& job, Seconds end) {
    if (!job.due) return fmt::format("done {}", clock_time(snapshot, end));
    Seconds slack = *job.due - end;
    if (slack >= 0) return fmt::format("done {}, {} before due", clock_time(snapshot, end), format_duration(slack));
    return fmt::format("done {}, {} late", clock_time(snapshot, end), format_duration(-slack));
}

std::string cost_words(const Cost& cost) {
    std::string text;
    auto add = [&](Micro amount, const char* what) {
        if (amount > 0) text += fmt::format("{}{} {}", text.empty() ? "" : " + ", format_amount(amount), what);
    };
    add(cost.late, "lateness");
    add(cost.rent, "rent");
    add(cost.energy, "energy");
    add(cost.hard, "missed hard due date");
    return text.empty() ? "at no cost" : "for " + text;
}

// The cheapest spot on the other side (rented for a local placement and the other way round), or "".
std::string alternative(const Schedule& schedule, const Placement& p) {
    const auto& snapshot = schedule.snapshot();
    const auto& job = snapshot.jobs[p.job];
    bool rented = snapshot.classes[job.configs[p.config].class_id].rented;
    if (job.burst != Burst::automatic)
        return rented ? "; the job asked for rented nodes only" : "; the job asked never to be rented for";
    std::optional<Found> best;
    for (int c = 0; c < static_cast<int>(job.configs.size()); ++c) {
        if (snapshot.classes[job.configs[c].class_id].rented == rented || !config_allowed(schedule, p.job, c)) continue;
        auto found = find_spot(schedule, p.job, c, {});
        if (found && (!best || found->score < best->score)) best = std::move(found);
    }
    if (!best) return rented ? "; no local node can take it" : "";
    const auto& config = job.configs[best->spot.config];
    return fmt::format("; {} {} would be {} at a cost of {}", rented ? "waiting for" : "renting",
                       describe_config(snapshot.classes[config.class_id], config),
                       lateness(snapshot, job, best->spot.end), format_amount(best->spot.total()));
}

std::string reason_unplaced(const Schedule& schedule, const Job& job) {
    if (job.configs.empty()) return "no node class can run what it asks for";
    bool any = false;
    for (int c = 0; c < static_cast<int>(job.configs.size()); ++c) {
        bool rented = schedule.snapshot().classes[job.configs[c].class_id].rented;
        any |= job.burst == Burst::automatic || rented == (job.burst == Burst::only);
    }
    if (!any) return "its burst policy leaves no node class that can run it";
    if (job.max_cost_micro)
        return fmt::format("no configuration fits within its maximum cost of {} or the site's budgets",
                           format_amount(*job.max_cost_micro));
    return "no configuration fits the nodes in service and the site's budgets";
}

std::string sentence(const Schedule& schedule, const Placement& p, bool look) {
    const auto& snapshot = schedule.snapshot();
    const auto& job = snapshot.jobs[p.job];
    if (p.config < 0) return reason_unplaced(schedule, job);
    const auto& config = job.configs[p.config];
    const auto& c = snapshot.classes[config.class_id];
    auto what = fmt::format("{}{} {} {}", c.rented ? "rented " : "", describe_config(c, config),
                            job.running ? "since" : "from", clock_time(snapshot, p.start));
    auto text = fmt::format("{}: {} {}", what, lateness(snapshot, job, p.end), cost_words(p.cost));
    return look && !job.running ? text + alternative(schedule, p) : text;
}

}  // namespace

void explain(const Schedule& schedule, Plan& plan, int limit) {
    std::vector<int> order(plan.placements.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return plan.placements[a].start < plan.placements[b].start; });
    int looked = 0;
    for (int i : order) plan.placements[i].why = sentence(schedule, plan.placements[i], looked++ < limit);
}

}  // namespace squall
