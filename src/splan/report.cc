// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/splan/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "src/core/amount.h"
#include "src/splan/table.h"

namespace squall::splan {
namespace {

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
