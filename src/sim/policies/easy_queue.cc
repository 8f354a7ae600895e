// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/sim/policies/easy_queue.h"

#include <algorithm>

#include "src/sim/policies/choose.h"

namespace squall::sim {
namespace {

constexpr int kDepth = 500;  // jobs looked at behind the first that waits, as Slurm's bf_max_job_test

}  // namespace

std::vector<int> EasyQueue::choices(const Control& control, int j, bool rented) const {
    auto list = asked_configs(control, j, false);
    if (rented || list.empty())
        for (int c : asked_configs(control, j, true)) list.push_back(c);
    return list;
}

void EasyQueue::start(Control& control, int j, int config, const Place& place) {
    Seconds end = end_if_started(control, j, config, place) - control.run_estimate(j, config);
    control.start(j, config, place);
    ends_.insert({end + limit_of(control, j, config), j, control.state(j).generation});
}

// When enough nodes of the class are free by the limits of what runs there; free_ is left as of that time.
EasyQueue::Reservation EasyQueue::earliest(const Control& control, const Config& config) {
    Reservation r{config.class_id, kForever, config.gpus, {}};
    const auto& nodes = control.cluster().nodes;
    free_.assign(nodes.size(), 0);
    int ready = 0;
    for (int n = 0; n < static_cast<int>(nodes.size()); ++n) {
        if (nodes[n].class_id != config.class_id || control.floor().node(n).broken) continue;
        free_[n] = control.floor().node(n).free_gpus;
        ready += free_[n] >= config.gpus;
    }
    if (config.shards > 0) ready = 0;
    for (auto it = ends_.begin(); it != ends_.end() && ready < config.nodes;) {
        const auto& s = control.state(it->job);
        if (s.phase != Phase::running || s.generation != it->generation) {
            it = ends_.erase(it);
            continue;
        }
        const auto& used = control.job(it->job).configs[s.config];
        r.at = std::max(control.now() + 1, it->end);
        if (used.class_id == config.class_id)
            for (int n : s.place.nodes) {
                int freed =
                    used.shards > 0 ? 1 : used.gpus;  // a shared GPU is free when its last job ends; not looked at
                ready += free_[n] < config.gpus && free_[n] + freed >= config.gpus;
                if (config.shards > 0) ++ready;
                free_[n] += freed;
            }
        ++it;
    }
    if (ready < config.nodes) r.at = kForever;
    for (int n = 0; n < static_cast<int>(nodes.size()) && static_cast<int>(r.nodes.size()) < config.nodes; ++n)
        if (nodes[n].class_id == config.class_id && free_[n] >= config.gpus) r.nodes.push_back(n);
    return r;
}

EasyQueue::Reservation EasyQueue::reserve(const Control& control, int j, const std::vector<int>& configs) {
    Reservation best;
    std::vector<int> free_then;
    for (int c : configs) {
        auto r = earliest(control, control.job(j).configs[c]);
        if (r.at >= best.at && best.class_id >= 0) continue;
        best = r;
        free_then = free_;
    }
    free_ = free_then;
    return best;
}

// Would it still run on the reserved GPUs when the first job is due to start? If not, what it takes is noted.
bool EasyQueue::delays(const Control& control, int j, int config, const Place& place) {
    const auto& c = control.job(j).configs[config];
    if (reserved_.class_id != c.class_id || control.now() + limit_of(control, j, config) <= reserved_.at) return false;
    int takes = c.shards > 0 ? 1 : c.gpus;
    for (int n : place.nodes) {
        bool reserved = std::binary_search(reserved_.nodes.begin(), reserved_.nodes.end(), n);
        if (reserved && free_[n] - reserved_.gpus < takes) return true;
    }
    for (int n : place.nodes) free_[n] -= takes;
    return false;
}

void EasyQueue::pass(Control& control, bool rented, const std::function<bool(int)>& skip) {
    reserved_ = {};
    bool blocked = false;
    int looked = 0;
    auto waiting = control.waiting();
    for (int j : waiting) {
        if (skip && skip(j)) continue;
        if (blocked && ++looked > kDepth) break;
        auto configs = choices(control, j, rented);
        if (configs.empty()) continue;
        bool started = false;
        for (int c : configs) {
            auto place = control.find(control.job(j).configs[c]);
            if (!place || (blocked && delays(control, j, c, *place))) continue;
            start(control, j, c, *place);
            started = true;
            break;
        }
        if (started || blocked) continue;
        blocked = true;
        reserved_ = reserve(control, j, configs);
    }
}

}  // namespace squall::sim
