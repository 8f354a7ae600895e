// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/sim/control.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace squall::sim {

Control::Control(const Workload& workload, const Snapshot& cluster)
    : workload_(workload),
      floor_(cluster),
      now_(cluster.now),
      states_(workload.jobs.size()),
      where_(workload.jobs.size(), -1) {}

double Control::left(int j) const {
    const auto& s = states_[j];
    if (s.phase != Phase::running || now_ <= s.computes_from) return s.left;
    double done = static_cast<double>(now_ - s.computes_from) /
                  static_cast<double>(std::max<Seconds>(1, workload_.jobs[j].true_run_s[s.config]));
    return std::max(0.0, s.left - done);
}

double Control::gpus_of(const Config& config) const {
    if (config.shards == 0) return static_cast<double>(config.nodes) * config.gpus;
    return static_cast<double>(config.shards) / std::max(1, cluster().classes[config.class_id].shards_per_gpu);
}

double Control::used_gpu_s(int j) const {
    const auto& s = states_[j];
    double run =
        s.phase == Phase::running ? static_cast<double>(now_ - s.start) * gpus_of(job(j).configs[s.config]) : 0;
    return s.used_gpu_s + run;
}

Seconds Control::run_estimate(int j, int config) const {
    const auto& s = states_[j];
    double work = std::ceil(left(j) * static_cast<double>(job(j).configs[config].run_s) - 1e-6);
    bool moves = s.begun && !(s.phase == Phase::running && s.config == config);
    return std::max<Seconds>(1, static_cast<Seconds>(work)) + (moves ? job(j).restart_s : 0);
}

Seconds Control::expected_end(int j) const {
    const auto& s = states_[j];
    auto work = static_cast<Seconds>(std::ceil(s.left * static_cast<double>(job(j).configs[s.config].run_s) - 1e-6));
    Seconds end = s.computes_from + std::max<Seconds>(1, work);
    return end > now_ ? end : now_ + std::max<Seconds>(5, (now_ - s.computes_from) / 10);
}

bool Control::may_use(int j, int config) const {
    bool rented = cluster().classes[job(j).configs[config].class_id].rented;
    return job(j).burst == Burst::automatic || rented == (job(j).burst == Burst::only);
}

void Control::set_phase(int j, Phase phase) {
    auto& s = states_[j];
    auto before = [&](int a, int b) {
        const auto &x = job(a), &y = job(b);
        return x.release != y.release ? x.release < y.release : x.id != y.id ? x.id < y.id : a < b;
    };
    if (s.phase == Phase::running) {
        int last = running_.back();
        running_[where_[j]] = last;
        where_[last] = where_[j];
        running_.pop_back();
    } else if (s.phase == Phase::waiting) {
        waiting_.erase(std::lower_bound(waiting_.begin(), waiting_.end(), j, before));
    }
    s.phase = phase;
    if (phase == Phase::running) {
        where_[j] = static_cast<int>(running_.size());
        running_.push_back(j);
    } else if (phase == Phase::waiting) {
        waiting_.insert(std::lower_bound(waiting_.begin(), waiting_.end(), j, before), j);
    }
}

void Control::start(int j, int config, const Place& place) {
    auto& s = states_[j];
    const auto& c = job(j).configs.at(config);
    if (s.phase != Phase::waiting || !floor_.fits(c, place))
        throw std::logic_error(fmt::format("job {} was started where it cannot run", job(j).id));
    Seconds ready = floor_.take(c, place, now_);
    set_phase(j, Phase::running);
    ++s.generation;
    s.config = config;
    s.place = place;
    s.start = now_;
    if (s.stopped_at == now_ && s.last_config == config && s.last_place.nodes == place.nodes) {
        s.start = s.last_start, s.computes_from = s.last_computes_from, s.restart_s = s.last_restart_s;
        s.left = s.last_left;
        s.used_gpu_s -= static_cast<double>(now_ - s.start) * gpus_of(c);
    } else {
        s.restart_s = s.begun ? job(j).restart_s : 0;
        s.computes_from = ready + job(j).stage_in_s + s.restart_s;
        restart_micro_ += floor_.price_of(c, place, s.computes_from - s.restart_s, s.computes_from);
        moves_ += s.begun;
    }
    started_.push_back(j);
}

void Control::end_run(int j) {
    auto& s = states_[j];
    const auto& c = job(j).configs[s.config];
    s.used_gpu_s += static_cast<double>(now_ - s.start) * gpus_of(c);
    if (s.stopped_at != now_ || s.start < now_) {
        s.last_config = s.config, s.last_place = s.place, s.last_start = s.start;
        s.last_computes_from = s.computes_from, s.last_restart_s = s.restart_s, s.last_left = s.left;
        s.stopped_at = now_;
    }
    s.left = left(j);
    s.begun = s.begun || now_ > s.computes_from;
    floor_.give(c, s.place, now_);
    ++s.generation;
}

void Control::stop(int j) {
    auto& s = states_[j];
    if (s.phase != Phase::running)
        throw std::logic_error(fmt::format("job {} was stopped, but does not run", job(j).id));
    end_run(j);
    if (!job(j).checkpointable) s.left = 1;
    set_phase(j, Phase::waiting);
    stopped_.push_back(j);
}

bool Control::try_start(int j, int config) {
    auto place = floor_.find(job(j).configs[config]);
    if (place) start(j, config, *place);
    return place.has_value();
}

}  // namespace squall::sim
