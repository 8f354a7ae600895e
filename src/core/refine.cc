// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/refine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "src/core/find.h"
#include "src/core/refine_columns.h"

namespace squall {
namespace {

constexpr int kStartsPerConfig = 10;

// The jobs that cost most, and those next to them in time.
std::vector<int> choose_jobs(const Schedule& schedule, int limit) {
    std::vector<std::pair<Micro, int>> by_late;
    for (int j = 0; j < static_cast<int>(schedule.snapshot().jobs.size()); ++j)
        if (schedule.spot(j) && !schedule.fixed(j)) by_late.emplace_back(-schedule.spot(j)->late, j);
    std::sort(by_late.begin(), by_late.end());
    std::vector<int> jobs;
    for (const auto& [late, j] : by_late)
        if (static_cast<int>(jobs.size()) < limit / 2) jobs.push_back(j);
    if (jobs.empty()) return jobs;
    Seconds around = schedule.spot(jobs.front())->start;
    std::vector<std::pair<Seconds, int>> near;
    for (const auto& [late, j] : by_late)
        if (std::find(jobs.begin(), jobs.end(), j) == jobs.end())
            near.emplace_back(std::abs(schedule.spot(j)->start - around), j);
    std::sort(near.begin(), near.end());
    for (const auto& [apart, j] : near)
        if (static_cast<int>(jobs.size()) < limit) jobs.push_back(j);
    return jobs;
}

void add_columns(const Schedule& schedule, RefineProblem& problem, int position, const Spot& old,
                 const std::set<Seconds>& moments) {
    const auto& snapshot = schedule.snapshot();
    int j = problem.jobs[position];
    const auto& job = snapshot.jobs[j];
    for (int c = 0; c < static_cast<int>(job.configs.size()); ++c) {
        if (!config_allowed(schedule, j, c)) continue;
        auto found = find_spot(schedule, j, c, {});
        if (!found) continue;
        const auto& config = job.configs[c];
        const auto& node_class = snapshot.classes[config.class_id];
        auto add = [&](Seconds start, bool incumbent) {
            Seconds shift = start - found->spot.start;
            RefineColumn column{
                position, c,        config.class_id, gpus_of(node_class, config), start, found->spot.end + shift,
                0,        incumbent};
            // The node's cost is the finder's for its own start, an estimate; the schedule has the last word.
            column.cost = static_cast<double>(found->spot.nodes_cost + schedule.late_of(j, column.end));
            problem.columns.push_back(column);
        };
        bool is_old = c == old.config;
        if (is_old) add(old.start, true);
        if (!is_old || old.start != found->spot.start) add(found->spot.start, false);
        int count = 0;
        for (auto at = moments.upper_bound(found->spot.start); at != moments.end() && count < kStartsPerConfig;
             ++at, ++count)
            if (!is_old || *at != old.start) add(*at, false);
    }
}

// Free GPUs of each class at each column start, with the chosen jobs taken out.
void add_capacity(const Schedule& schedule, RefineProblem& problem) {
    const auto& snapshot = schedule.snapshot();
    std::set<std::pair<int, Seconds>> points;
    for (const auto& column : problem.columns) points.emplace(column.class_id, column.start);
    std::vector<std::vector<std::pair<Seconds, int>>> events(snapshot.classes.size());
    std::vector<double> total(snapshot.classes.size(), 0);
    for (int n = 0; n < static_cast<int>(snapshot.nodes.size()); ++n) {
        if (snapshot.nodes[n].ready_at >= kForever) continue;
        int c = snapshot.nodes[n].class_id;
        total[c] += snapshot.classes[c].gpus;
        if (const auto* plan = schedule.touched(n)) {
            auto more = gpu_events(plan->items());
            events[c].insert(events[c].end(), more.begin(), more.end());
        }
    }
    for (auto& list : events) std::sort(list.begin(), list.end());
    for (const auto& [c, at] : points) {
        double used = 0;
        for (const auto& [when, change] : events[c])
            if (when <= at) used += change;
        problem.capacity.push_back({c, at, std::max(0.0, total[c] - used)});
    }
    // The incumbent must stay feasible for the program although classes are coarser than nodes.
    for (auto& row : problem.capacity) {
        double need = 0;
        for (const auto& column : problem.columns)
            if (column.incumbent && column.class_id == row.class_id && column.start <= row.at && row.at < column.end)
                need += column.gpus;
        row.free_gpus = std::max(row.free_gpus, need);
    }
}

std::vector<std::pair<int, Spot>> take_out(Schedule& schedule, const std::vector<int>& jobs) {
    std::vector<std::pair<int, Spot>> all, out;
    for (int j = 0; j < static_cast<int>(schedule.snapshot().jobs.size()); ++j)
        if (schedule.spot(j)) all.emplace_back(j, *schedule.spot(j));
    std::set<int> gone;
    for (int j : jobs)
        if (schedule.spot(j))
            for (int k : schedule.eject(j)) gone.insert(k);
    for (const auto& entry : all)
        if (gone.count(entry.first) > 0) out.push_back(entry);
    return out;
}

// Places every job as the program chose, by start; false: a job did not fit on the real nodes.
bool decode(Schedule& schedule, const RefineProblem& problem, const std::vector<int>& chosen) {
    std::vector<RefineColumn> columns;
    for (int i : chosen) columns.push_back(problem.columns[i]);
    std::sort(columns.begin(), columns.end(),
              [](const auto& a, const auto& b) { return std::pair(a.start, a.job) < std::pair(b.start, b.job); });
    for (const auto& column : columns) {
        FindOptions find;
        find.not_before = column.start;
        auto found = find_spot(schedule, problem.jobs[column.job], column.config, find);
        if (!found) return false;
        schedule.place(problem.jobs[column.job], found->spot);
    }
    return true;
}

}  // namespace

std::string refine(Schedule& schedule, const RefineOptions& options) {
    auto jobs = choose_jobs(schedule, options.max_jobs);
    if (jobs.size() < 2) return "nothing to refine";
    Score before = schedule.score();
    auto old = take_out(schedule, jobs);
    RefineProblem problem;
    std::set<Seconds> moments;
    for (const auto& [j, spot] : old) moments.insert({spot.start, spot.end});
    for (const auto& [j, spot] : old) problem.jobs.push_back(j);
    for (int i = 0; i < static_cast<int>(old.size()); ++i) add_columns(schedule, problem, i, old[i].second, moments);
    add_capacity(schedule, problem);
    auto answer = solve_refinement(problem, options.time_ms, options.mem_mb, options.fault);
    bool complete =
        !answer.chosen.empty() && std::find(answer.chosen.begin(), answer.chosen.end(), -1) == answer.chosen.end();
    bool better = complete && decode(schedule, problem, answer.chosen) && schedule.score() < before;
    std::string size = fmt::format("GLPK over {} jobs and {} columns: ", problem.jobs.size(), problem.columns.size());
    if (better)
        return size +
               fmt::format("{}, saved {:.2f}", answer.note, static_cast<double>(before.cost - schedule.cost()) / 1e6);
    for (int j : problem.jobs)
        if (schedule.spot(j)) schedule.eject(j);
    place_all(schedule, old);
    return size + answer.note + (complete ? ", nothing better" : "");
}

}  // namespace squall
