// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/sim/solve.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "src/core/check.h"
#include "src/core/json.h"
#include "src/sim/separate.h"

namespace squall::sim {
namespace {

struct Figures {
    Plan plan;
    Micro greedy_cost = 0;
    int greedy_unplaced = 0;
    int local = 0, rented = 0, shared = 0, on_time = 0, due = 0;
    Seconds late_s = 0;
    double peak_rss_mb = 0;
};

double amount(Micro micro) { return static_cast<double>(micro) / 1e6; }

double peak_rss_mb() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
}

void count(const Snapshot& snapshot, Figures& f) {
    for (const auto& p : f.plan.placements) {
        const auto& job = snapshot.jobs[p.job];
        if (p.config < 0) continue;
        const auto& config = job.configs[p.config];
        (snapshot.classes[config.class_id].rented ? f.rented : f.local) += 1;
        f.shared += config.shards > 0;
        if (!job.due) continue;
        ++f.due;
        f.on_time += p.end <= *job.due;
        f.late_s += std::max<Seconds>(0, p.end - *job.due);
    }
}

std::string as_json(const Snapshot& snapshot, const Figures& f, std::size_t errors) {
    const Plan& p = f.plan;
    Json root(json_object());
    auto number = [&](const char* key, double value) { json_object_set_new(root.get(), key, json_real(value)); };
    auto whole = [&](const char* key, json_int_t value) {
        json_object_set_new(root.get(), key, ::json_integer(value));
    };
    number("cost", amount(p.cost.total()));
    number("late", amount(p.cost.late));
    number("rent", amount(p.cost.rent));
    number("energy", amount(p.cost.energy));
    number("hard", amount(p.cost.hard));
    number("bound", amount(p.bound));
    number("gap", p.gap());
    number("greedy_cost", amount(f.greedy_cost));
    number("first_plan_s", p.first_plan_s);
    number("seconds", p.seconds);
    number("peak_rss_mb", f.peak_rss_mb);
    whole("jobs", static_cast<json_int_t>(snapshot.jobs.size()));
    whole("nodes", static_cast<json_int_t>(snapshot.nodes.size()));
    whole("local", f.local);
    whole("rented", f.rented);
    whole("shared", f.shared);
    whole("unplaced", p.unplaced);
    whole("with_due_date", f.due);
    whole("on_time", f.on_time);
    whole("late_s", f.late_s);
    whole("check_errors", static_cast<json_int_t>(errors));
    json_object_set_new(root.get(), "refine", json_string(p.refine_note.c_str()));
    return json_format(root.get(), JSON_COMPACT) + "\n";
}

std::string as_text(const Snapshot& snapshot, const Figures& f) {
    const Plan& p = f.plan;
    std::string text =
        fmt::format("{} jobs on {} nodes: {} local, {} rented, {} on a shared GPU, {} without a place\n",
                    snapshot.jobs.size(), snapshot.nodes.size(), f.local, f.rented, f.shared, p.unplaced);
    text += fmt::format("on time: {} of {}, {} min late in all\n", f.on_time, f.due, f.late_s / 60);
    text += fmt::format("cost: {:.2f} = lateness {:.2f} + rent {:.2f} + energy {:.2f}", amount(p.cost.total()),
                        amount(p.cost.late), amount(p.cost.rent), amount(p.cost.energy));
    if (p.cost.hard > 0) text += fmt::format(" + missed hard due dates {:.2f}", amount(p.cost.hard));
    text += "\n";
    if (p.bound > 0)
        text += fmt::format("bound: {:.2f}, gap {:.2f} %; greedy alone: {:.2f}, gap {:.2f} %\n", amount(p.bound),
                            100 * p.gap(), amount(f.greedy_cost),
                            f.greedy_cost > 0 ? 100 * (1 - amount(p.bound) / amount(f.greedy_cost)) : 0.0);
    text += fmt::format("first plan after {:.4f} s, {:.2f} s in all, {:.0f} MB at most\n", p.first_plan_s, p.seconds,
                        f.peak_rss_mb);
    if (!p.refine_note.empty()) text += "refinement: " + p.refine_note + "\n";
    return text;
}

std::string as_list(const Snapshot& snapshot, const Plan& plan) {
    std::string text;
    for (const auto& p : plan.placements) text += fmt::format("job {}: {}\n", snapshot.jobs[p.job].id, p.why);
    return text;
}

}  // namespace

Report solve(const Snapshot& snapshot, const SolveOptions& options) {
    PlanOptions plain = options.plan;
    plain.improve = plain.refine = false;
    Figures f;
    Plan greedy = make_plan(snapshot, plain);
    f.greedy_cost = greedy.cost.total();
    f.plan = options.fifo          ? fifo_plan(snapshot)
             : options.greedy_only ? greedy
             : options.separate    ? plan_apart(snapshot, options.plan)
                                   : make_plan(snapshot, options.plan);
    f.peak_rss_mb = peak_rss_mb();
    count(snapshot, f);
    Report report;
    report.errors = check_plan(snapshot, f.plan);
    report.text = options.json ? as_json(snapshot, f, report.errors.size()) : as_text(snapshot, f);
    if (options.list) report.text += as_list(snapshot, f.plan);
    return report;
}

}  // namespace squall::sim
