// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/sim/policies/trial.h"

#include <algorithm>
#include <cmath>

namespace squall::sim {
namespace {

constexpr double kPostponed = 100;

double late_cost(const Job& job, Seconds end) {
    if (!job.due || end <= *job.due) return 0;
    return static_cast<double>(job.late_micro_h) * static_cast<double>(end - *job.due) / 3600;
}

}  // namespace

Trial::Trial(const Control& control) : control_(control), empty_(control.floor()) {
    jobs_ = control.waiting();
    for (int j : control.running()) {
        if (!control.job(j).checkpointable) continue;
        const auto& s = control.state(j);
        empty_.give(control.job(j).configs[s.config], s.place, control.now());
        jobs_.push_back(j);
    }
    std::vector<std::pair<double, int>> pressure;
    for (int j : jobs_) {
        Seconds fastest = kForever;
        for (int c = 0; c < static_cast<int>(control.job(j).configs.size()); ++c)
            fastest = std::min(fastest, control.run_estimate(j, c));
        pressure.emplace_back(-static_cast<double>(control.now() + fastest - control.job(j).due.value_or(kForever)), j);
    }
    std::sort(pressure.begin(), pressure.end());
    for (std::size_t i = 0; i < jobs_.size(); ++i) jobs_[i] = pressure[i].second;
}

Choice Trial::choose(const Floor& floor, int j) const {
    const auto& job = control_.job(j);
    Choice best;
    bool best_in_time = false;
    Micro best_cost = 0;
    Seconds best_end = 0;
    for (int c = 0; c < static_cast<int>(job.configs.size()); ++c) {
        if (!control_.may_use(j, c)) continue;
        Seconds end = control_.now() + control_.run_estimate(j, c);
        bool in_time = !job.due || end <= *job.due;
        Micro cost =
            floor.price_of(job.configs[c], Place{std::vector<int>(job.configs[c].nodes), -1}, control_.now(), end);
        bool better = in_time != best_in_time ? in_time
                      : in_time               ? cost < best_cost || (cost == best_cost && end < best_end)
                                              : end < best_end || (end == best_end && cost < best_cost);
        if (best.config >= 0 && !better) continue;
        auto place = floor.find(job.configs[c]);
        if (!place) continue;
        best = {c, *place};
        best_in_time = in_time, best_cost = cost, best_end = end;
    }
    const auto& s = control_.state(j);
    if (best.config >= 0 && s.phase == Phase::running && s.config == best.config &&
        floor.fits(job.configs[best.config], s.place))
        best.place = s.place;
    return best;
}

std::vector<Assignment> Trial::assign(const std::vector<int>& order) const {
    Floor floor = empty_;
    std::vector<Assignment> plan;
    for (int j : order) {
        Assignment a{j, choose(floor, j)};
        if (a.choice.config >= 0) floor.take(control_.job(j).configs[a.choice.config], a.choice.place, control_.now());
        plan.push_back(std::move(a));
    }
    return plan;
}

double Trial::score(const std::vector<Assignment>& plan) const {
    Seconds next = kForever;
    for (const auto& a : plan)
        if (a.choice.config >= 0) next = std::min(next, control_.run_estimate(a.job, a.choice.config));
    double sum = 0;
    for (const auto& a : plan) {
        const auto& job = control_.job(a.job);
        Seconds best = kForever;
        for (int c = 0; c < static_cast<int>(job.configs.size()); ++c)
            best = std::min(best, control_.run_estimate(a.job, c));
        if (a.choice.config < 0) {
            sum += kPostponed * late_cost(job, control_.now() + next + best);
            continue;
        }
        Seconds run = control_.run_estimate(a.job, a.choice.config);
        const auto& config = job.configs[a.choice.config];
        sum += late_cost(job, control_.now() + run) +
               static_cast<double>(control_.floor().price_of(config, a.choice.place, control_.now(),
                                                             control_.now() + std::min(next, run)));
    }
    return sum;
}

void Trial::apply(Control& control, const std::vector<Assignment>& plan) {
    for (const auto& a : plan)
        if (control.state(a.job).phase == Phase::running) control.stop(a.job);
    // Nodes that are leased already first, so that none of them is closed for one that is not.
    for (bool up : {true, false})
        for (const auto& a : plan) {
            if (a.choice.config < 0 || control.state(a.job).phase != Phase::waiting) continue;
            bool all_up = std::all_of(a.choice.place.nodes.begin(), a.choice.place.nodes.end(),
                                      [&](int n) { return control.floor().node(n).up; });
            if (up && !all_up) continue;
            if (control.floor().fits(control.job(a.job).configs[a.choice.config], a.choice.place))
                control.start(a.job, a.choice.config, a.choice.place);
        }
}

}  // namespace squall::sim
