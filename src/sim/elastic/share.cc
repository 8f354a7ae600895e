// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <queue>

#include "src/sim/elastic/elastic.h"
#include "src/sim/elastic/game.h"

namespace squall::sim {

double Game::cost_of_end(int j, double at) const {
    const auto& job = problem_.jobs[j];
    double late = at - job.due_s;
    return job.wait_s_cost * at + (late > 0 ? job.late_s_cost * late + job.miss_cost : 0);
}

double Game::end_with(int j, int size) const {
    const auto& job = problem_.jobs[j];
    double restart = size != size_[j] && begun_[j] ? job.restart_s : 0;
    return now_ + left_[j] * job.sizes[size].run_s + restart;
}

// Cost of running to the end with this size, from now.
double Game::cost_with(int j, int size) const {
    double end = end_with(j, size);
    return rule_.growth * cost_of_end(j, end) + problem_.jobs[j].sizes[size].cost_s * (end - now_);
}

// The least size in the cheapest pool: what does most work per GPU.
int Game::least(int j, const std::vector<int>& free) const {
    const auto& sizes = problem_.jobs[j].sizes;
    int best = -1;
    double least_cost = 0;
    for (int s = 0; s < static_cast<int>(sizes.size()); ++s) {
        if (s > 0 && sizes[s].pool == sizes[s - 1].pool) continue;
        if (free[sizes[s].pool] < sizes[s].gpus) continue;
        double cost = cost_with(j, s);
        if (best >= 0 && cost >= least_cost) continue;
        best = s, least_cost = cost;
    }
    return best;
}

double Game::urgency(int j, double mean_run) const {
    const auto& job = problem_.jobs[j];
    double run = std::max(1.0, left_[j] * job.sizes.front().run_s);
    double slack = std::max(0.0, job.due_s - now_ - run);
    double weight = job.late_s_cost * std::exp(-slack / (rule_.lookahead * mean_run));
    double fastest = run;
    for (const auto& size : job.sizes) fastest = std::min(fastest, left_[j] * size.run_s);
    bool can = now_ + fastest <= job.due_s;
    return (weight + job.wait_s_cost + (can ? job.miss_cost / run : 0)) / run;
}

Shares Game::share_now() {
    int n = static_cast<int>(problem_.jobs.size());
    Shares shares(n, -1);
    std::vector<int> free = problem_.pool_gpus;
    double mean = 0;
    int count = 0;
    for (int j : open_) mean += left_[j] * problem_.jobs[j].sizes.front().run_s, ++count;
    mean = count > 0 ? mean / count : 1;
    std::vector<std::pair<double, int>> order;
    for (int j : open_) order.emplace_back(-urgency(j, mean), j);
    std::sort(order.begin(), order.end());
    for (auto [urgent, j] : order) {
        int size = least(j, free);
        if (size < 0) continue;
        shares[j] = size;
        free[problem_.jobs[j].sizes[size].pool] -= problem_.jobs[j].sizes[size].gpus;
    }
    grow(shares, free);
    return shares;
}

void Game::grow(Shares& shares, std::vector<int>& free) const {
    for (std::size_t p = 0; p < free.size(); ++p) free[p] -= static_cast<int>(rule_.reserve * problem_.pool_gpus[p]);
    struct Step {
        double gain;
        int job, from, to;
        bool operator<(const Step& o) const { return gain != o.gain ? gain < o.gain : job > o.job; }
    };
    std::priority_queue<Step> steps;
    auto offer = [&](int j) {
        int from = shares[j];
        if (from < 0) return;
        const auto& sizes = problem_.jobs[j].sizes;
        double cost = cost_with(j, from);
        Step best{0, j, from, -1};
        for (int s = from + 1; s < static_cast<int>(sizes.size()) && sizes[s].pool == sizes[from].pool; ++s) {
            int more = sizes[s].gpus - sizes[from].gpus;
            if (more > free[sizes[s].pool]) break;
            double gain = (cost - cost_with(j, s)) / more;
            if (gain > best.gain) best.gain = gain, best.to = s;
        }
        if (best.to >= 0) steps.push(best);
    };
    for (int j : open_) offer(j);
    while (!steps.empty()) {
        auto step = steps.top();
        steps.pop();
        const auto& sizes = problem_.jobs[step.job].sizes;
        if (shares[step.job] != step.from) continue;
        int more = sizes[step.to].gpus - sizes[step.from].gpus;
        if (more <= free[sizes[step.to].pool]) {
            free[sizes[step.to].pool] -= more;
            shares[step.job] = step.to;
        }
        offer(step.job);
    }
}

double Game::play(const Shares* first) {
    double cost = 0;
    for (bool begin = true; !open_.empty(); begin = false) {
        Shares shares = begin && first ? *first : share_now();
        double next = INFINITY;
        for (int j : open_) {
            int size = shares[j];
            if (size != size_[j]) {
                if (size >= 0 && begun_[j]) left_[j] += problem_.jobs[j].restart_s / problem_.jobs[j].sizes[size].run_s;
                size_[j] = size;
            }
            if (size < 0) continue;
            begun_[j] = true;
            next = std::min(next, left_[j] * problem_.jobs[j].sizes[size].run_s);
        }
        if (!std::isfinite(next)) return cost + 1e18;
        now_ += next;
        auto ends = [&](int j) {
            if (size_[j] < 0) return false;
            const auto& size = problem_.jobs[j].sizes[size_[j]];
            cost += size.cost_s * next;
            left_[j] -= next / size.run_s;
            if (left_[j] > 1e-9) return false;
            cost += cost_of_end(j, now_);
            return true;
        };
        open_.erase(std::remove_if(open_.begin(), open_.end(), ends), open_.end());
    }
    return cost;
}

Game::Game(const ElasticProblem& problem, const ShareRule& rule) : problem_(problem), rule_(rule) {
    for (int j = 0; j < static_cast<int>(problem.jobs.size()); ++j) {
        const auto& job = problem.jobs[j];
        left_.push_back(job.left);
        size_.push_back(job.size_now);
        begun_.push_back(job.begun);
        if (!job.sizes.empty()) open_.push_back(j);
    }
}

Shares share(const ElasticProblem& problem, const ShareRule& rule) { return Game(problem, rule).share_now(); }

double play(const ElasticProblem& problem, const ShareRule& rule, const Shares* first) {
    return Game(problem, rule).play(first);
}

}  // namespace squall::sim
