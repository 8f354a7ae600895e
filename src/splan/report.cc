// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/splan/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "src/core/amount.h"
#include "src/core/billing.h"
#include "src/splan/table.h"

namespace squall::splan {
namespace {

Micro cost_so_far(const Lease& lease, Seconds now) {
    if (!lease.open()) return lease.cost;
    if (lease.launched_at == 0) return 0;
    Seconds end = lease.released_at != 0 ? lease.released_at : now;
    return lease_cost(lease.price_micro_h, lease.billing_step_s, lease.billing_min_s, lease.launched_at, end);
}

Seconds start_of(Seconds now, bool month) {
    time_t time = now;
    tm day{};
    localtime_r(&time, &day);
    day.tm_hour = day.tm_min = day.tm_sec = 0;
    day.tm_isdst = -1;
    if (month) day.tm_mday = 1;
    return mktime(&day);
}

std::string money(const View& view, Micro amount) { return format_amount(amount) + " " + view.currency; }

}  // namespace

Report make_report(const View& view) {
    Report r;
    for (const auto& o : view.outcomes) {
        ++r.finished;
        r.late += o.late, r.rent += o.rent, r.energy += o.energy;
        r.planned_late += o.planned_late, r.planned_rent += o.planned_rent, r.planned_energy += o.planned_energy;
        if (o.planned_end != 0) r.end_error_s += std::llabs(o.end - o.planned_end);
        r.shared_gpus += o.shared_gpu;
        r.two_node_jobs += o.node_count == 2;
        if (!o.due) continue;
        ++r.with_due;
        r.on_time += o.slurm_state == "COMPLETED" && o.end <= *o.due;
        r.late_s += std::max<Seconds>(0, o.end - *o.due);
    }
    if (r.finished > 0) r.end_error_s /= r.finished;
    for (const auto& lease : view.leases) {
        r.bursts += lease.ready_at != 0;
        r.open_leases += lease.open();
    }
    return r;
}

std::string report_text(const View& view, const Report& r) {
    std::string out = fmt::format("finished jobs        {}\n", r.finished);
    out += fmt::format("on time              {} of {}, {} late in all\n", r.on_time, r.with_due,
                       format_duration(r.late_s));
    auto line = [&](const char* what, Micro planned, Micro real) {
        out += fmt::format("{:<21}{:>12}   planned {:>12}\n", what, money(view, real), money(view, planned));
    };
    line("energy", r.planned_energy, r.energy);
    line("rent", r.planned_rent, r.rent);
    line("lateness", r.planned_late, r.late);
    line("total", r.planned_energy + r.planned_rent + r.planned_late, r.energy + r.rent + r.late);
    out += fmt::format("ends as planned      within {} on average\n", format_duration(r.end_error_s));
    out += fmt::format("bursts               {} ({} leases open)\n", r.bursts, r.open_leases);
    out += fmt::format("shared GPUs          {}\ntwo-node jobs        {}\n", r.shared_gpus, r.two_node_jobs);
    return out;
}

Spend make_spend(const View& view) {
    Spend s;
    Seconds today = start_of(view.now, false), month = start_of(view.now, true);
    for (const auto& lease : view.leases) {
        Micro cost = cost_so_far(lease, view.now);
        if (lease.launched_at >= today) s.rent_today += cost;
        if (lease.launched_at >= month) s.rent_month += cost;
        if (!lease.open()) continue;
        s.open.push_back(lease);
        if (lease.launched_at != 0) s.per_hour += lease.price_micro_h;
    }
    for (const auto& o : view.outcomes) {
        auto line =
            std::find_if(s.by_class.begin(), s.by_class.end(), [&](const auto& l) { return l.name == o.class_name; });
        if (line == s.by_class.end()) line = s.by_class.insert(s.by_class.end(), {o.class_name});
        line->rent += o.rent, line->energy += o.energy, line->late += o.late;
        ++line->jobs;
    }
    return s;
}

std::string spend_text(const View& view, const Spend& s) {
    auto out = fmt::format("rent today {} · this month {} · now {} an hour\n", money(view, s.rent_today),
                           money(view, s.rent_month), money(view, s.per_hour));
    out += fmt::format("\n{:<16} {:>5} {:>10} {:>10} {:>10}\n", "CLASS", "JOBS", "RENT", "ENERGY", "LATE");
    for (const auto& l : s.by_class)
        out += fmt::format("{:<16} {:>5} {:>10} {:>10} {:>10}\n", printable(l.name), l.jobs, format_amount(l.rent),
                           format_amount(l.energy), format_amount(l.late));
    if (s.open.empty()) return out + "\nno lease is open\n";
    out += fmt::format("\n{:<12} {:>3} {:<12} {:<8} {:>10} {:>10}\n", "NODE", "GEN", "STATE", "SINCE", "PRICE/H",
                       "SO FAR");
    for (const auto& l : s.open)
        out += fmt::format("{:<12} {:>3} {:<12} {:<8} {:>10} {:>10}\n", printable(l.node), l.generation,
                           to_string(l.state), l.launched_at ? format_clock(l.launched_at, view.now) : "-",
                           format_amount(l.price_micro_h), format_amount(cost_so_far(l, view.now)));
    return out;
}

std::string progress_line(const View& view) {
    int running = 0, waiting = 0, done = 0, on_time = 0, bad = 0;
    std::optional<Seconds> next;
    for (const auto& job : view.jobs) {
        if (job.finished) {
            ++done;
            on_time += job.slack() && *job.slack() >= 0 && job.slurm_state == "COMPLETED";
        } else if (job.state == "running") {
            ++running;
        } else {
            ++waiting;
            bad += job.state == "unplaceable";
            if (job.start && *job.start > view.now && (!next || *job.start < *next)) next = job.start;
        }
    }
    auto out = fmt::format("{} jobs: {} running, {} waiting, {} done ({} on time)", view.jobs.size(), running, waiting,
                           done, on_time);
    if (bad > 0) out += fmt::format(", {} that fit nowhere", bad);
    if (view.cycle) {
        out += fmt::format(" · plan costs {}", format_amount(view.cycle->cost));
        if (view.cycle->bound > 0) out += fmt::format(", at least {}", format_amount(view.cycle->bound));
    }
    if (next) out += " · next start " + format_clock(*next, view.now);
    return out;
}

std::string why_text(const View& view, const JobLine& job, const std::vector<DecisionRow>& history) {
    auto out = fmt::format("job {} ({}): {}{}\n", job.id, printable(job.name), printable(job.state),
                           job.due ? ", due " + format_clock(*job.due, view.now) : "");
    auto asked = format_words(job.request);
    if (!asked.empty()) out += "asked:  " + asked + "\n";
    if (history.empty()) return out + "now:    " + (job.why.empty() ? "not planned yet" : printable(job.why)) + "\n";
    for (const auto& d : history)
        out +=
            fmt::format("{}  {:<10} {}\n", format_clock(d.decided_at, view.now), printable(d.state), printable(d.why));
    return out;
}

}  // namespace squall::splan
