// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/sequence.h"

#include <algorithm>
#include <cmath>

namespace squall {
namespace {

constexpr double kNoPlace = 1e16;  // micro: more than any plan costs

// Would whatever is appended next be put at the same times?
bool same_future(const ShopState& a, const ShopState& b) {
    if (a.slots != b.slots) return false;
    for (std::size_t f = 0; f < a.floors.size(); ++f) {
        const Floor &x = a.floors[f], &y = b.floors[f];
        if (x.free != y.free || x.shard_free != y.shard_free || !x.held.empty() || !y.held.empty()) return false;
        for (std::size_t w = 0; w < x.windows.size(); ++w) {
            const Window &v = x.windows[w], &u = y.windows[w];
            if (v.node != u.node || v.up_until != u.up_until || v.up_at != u.up_at || v.launch != u.launch ||
                v.last != u.last)
                return false;
        }
        for (std::size_t s = 0; s < x.shared.size(); ++s)
            if (x.shared[s].window != y.shared[s].window) return false;
    }
    return true;
}

double busy_time(const ShopState& state) {
    double sum = 0;
    for (const auto& floor : state.floors) {
        std::int64_t ticks = 0;
        for (Tick t : floor.free) ticks += t;
        for (Tick t : floor.shard_free) ticks += t / 4;
        sum += static_cast<double>(ticks);
    }
    return sum;
}

}  // namespace

Sequence::Sequence(const Shops& shops)
    : shops_(&shops), choice_(shops.jobs.size(), 0), position_(shops.jobs.size(), 0), lines_(shops.shops.size()) {}

void Sequence::assign(const std::vector<int>& order, const std::vector<int>& choice) {
    choice_ = choice;
    cost_ = 0;
    for (auto& line : lines_) line = {};
    for (int job : order) lines_[static_cast<std::size_t>(shop_of(job))].jobs.push_back(job);
    for (int s = 0; s < static_cast<int>(lines_.size()); ++s) {
        lines_[s].before = {0};
        first_.shop = s, first_.from = 0, first_.shift = 1;
        first_.line.jobs = lines_[s].jobs;
        evaluate(first_, 1e300);
        apply(first_);
    }
    moved_job_ = -1;
}

void Sequence::deal(const std::vector<int>& order, const Score& score) {
    std::vector<ShopState> states;
    std::vector<int> choice(shops_->jobs.size(), 0);
    for (const auto& shop : shops_->shops) states.push_back(shop.initial);
    for (int job : order) {
        const auto& j = shops_->jobs[static_cast<std::size_t>(job)];
        int& mine = choice[static_cast<std::size_t>(job)];
        double best = INFINITY;
        for (int c = 0; c < static_cast<int>(j.configs.size()); ++c) {
            const auto& config = j.configs[static_cast<std::size_t>(c)];
            if (score(job, config, j.ready + config.run_s) >= best) continue;  // not even at once
            auto shop = static_cast<std::size_t>(config.shop);
            Tick end = shops_->shops[shop].earliest_end(states[shop], j, config);
            double s = end < kNever ? score(job, config, end) : INFINITY;
            if (s < best) best = s, mine = c;
        }
        const auto& config = j.configs[static_cast<std::size_t>(mine)];
        auto shop = static_cast<std::size_t>(config.shop);
        shops_->shops[shop].append(states[shop], j, config, appended_);
    }
    assign(order, choice);
}

std::vector<int> Sequence::order() const {
    std::vector<int> all;
    for (const auto& line : lines_) all.insert(all.end(), line.jobs.begin(), line.jobs.end());
    return all;
}

int Sequence::position_at(int shop, Tick start) const {
    const auto& slots = lines_[static_cast<std::size_t>(shop)].slots;
    auto at = std::partition_point(slots.begin(), slots.end(), [start](const Slot& s) { return s.start < start; });
    return static_cast<int>(at - slots.begin());
}

// Behind the last position that differs from the current line, an equal state means an equal rest.
int Sequence::last_difference(const Trial& trial, const Line& now) const {
    int differs = static_cast<int>(now.jobs.size());
    const auto& jobs = trial.line.jobs;
    while (differs > trial.from &&
           jobs[static_cast<std::size_t>(differs - 1)] == now.jobs[static_cast<std::size_t>(differs - 1)])
        --differs;
    for (int i = differs; moved_job_ >= 0 && i < static_cast<int>(jobs.size()); ++i)
        if (jobs[static_cast<std::size_t>(i)] == moved_job_) return i + 1;
    return differs;
}

// Before this position the trial has done the same jobs as the current line (and the one more, where it has one more).
bool Sequence::hopeless(const Trial& trial, const Line& now, int position, double cost, double limit) const {
    auto i = static_cast<std::size_t>(position - trial.shift), at = static_cast<std::size_t>(position / kStep);
    if (trial.shift < 0 || cost + now.before.back() - now.before[i] <= limit) return false;
    return trial.shift > 0 || trial.line.busy[at] >= now.busy[at];
}

// Appends trial.line.jobs from trial.from on. REQUIRES: what stands before is as in the current line. `limit`: of the
// shop's cost.
bool Sequence::evaluate(Trial& trial, double limit) {
    const Line& now = lines_[static_cast<std::size_t>(trial.shop)];
    const Shop& shop = shops_->shops[static_cast<std::size_t>(trial.shop)];
    Line& line = trial.line;
    int count = static_cast<int>(line.jobs.size());
    int checkpoint = std::min(trial.from / kStep, static_cast<int>(now.checkpoints.size()) - 1);
    checkpoint = std::max(0, checkpoint);
    int changed_at = trial.from;
    trial.from = checkpoint * kStep;
    state_ = now.checkpoints.empty() ? shop.initial : now.checkpoints[static_cast<std::size_t>(checkpoint)];
    line.slots.resize(line.jobs.size());
    line.before.resize(line.jobs.size() + 1);
    line.checkpoints.resize(static_cast<std::size_t>(count / kStep + 1));
    line.busy.resize(line.checkpoints.size());
    double cost = now.before[static_cast<std::size_t>(trial.from)], rest = 0;
    for (int i = trial.from; i < count; ++i) rest += config(line.jobs[static_cast<std::size_t>(i)]).least;
    int differs = trial.shift == 0 ? last_difference(trial, now) : count;
    for (int i = trial.from; i < count; ++i) {
        if (i % kStep == 0) {
            auto at = static_cast<std::size_t>(i / kStep);
            if (i > trial.from && i >= differs && same_future(state_, now.checkpoints[at])) {
                trial.until = i;
                trial.cost = cost + now.before.back() - now.before[static_cast<std::size_t>(i)];
                return trial.cost <= limit;
            }
            line.checkpoints[at] = state_;
            line.busy[at] = busy_time(state_);
            if (hurry_ && i >= differs && hopeless(trial, now, i, cost, limit)) return false;
        } else if (hurry_ && trial.shift == 1 && i > changed_at + kStep && hopeless(trial, now, i, cost, limit)) {
            return false;
        }
        int job = line.jobs[static_cast<std::size_t>(i)];
        const auto& c = config(job);
        auto& slot = line.slots[static_cast<std::size_t>(i)];
        line.before[static_cast<std::size_t>(i)] = cost;
        if (shop.append(state_, shops_->jobs[static_cast<std::size_t>(job)], c, appended_))
            slot = {appended_.start, appended_.end, appended_.total()};
        else
            slot = {kNever, kNever, kNoPlace};
        cost += slot.cost;
        rest -= c.least;
        if (cost + rest > limit) return false;
    }
    line.before[static_cast<std::size_t>(count)] = cost;
    if (count % kStep == 0) {
        line.checkpoints[static_cast<std::size_t>(count / kStep)] = state_;
        line.busy[static_cast<std::size_t>(count / kStep)] = busy_time(state_);
    }
    trial.until = count;
    trial.cost = cost;
    return cost <= limit;
}

void Sequence::swap_checkpoint(Line& line, Line& other, std::size_t at) {
    std::swap(line.checkpoints[at], other.checkpoints[at]);
    line.busy[at] = other.busy[at];
}

void Sequence::apply(Trial& trial) {
    Line& line = lines_[static_cast<std::size_t>(trial.shop)];
    cost_ += trial.cost - line.before.back();
    bool all = trial.until == static_cast<int>(trial.line.jobs.size());
    line.jobs = trial.line.jobs;
    line.slots.resize(line.jobs.size());
    line.before.resize(line.jobs.size() + 1);
    line.checkpoints.resize(trial.line.checkpoints.size());
    line.busy.resize(trial.line.busy.size());
    double shift = trial.cost - line.before.back();
    for (int i = trial.from; i < trial.until; ++i) {
        line.slots[static_cast<std::size_t>(i)] = trial.line.slots[static_cast<std::size_t>(i)];
        line.before[static_cast<std::size_t>(i)] = trial.line.before[static_cast<std::size_t>(i)];
        position_[static_cast<std::size_t>(line.jobs[static_cast<std::size_t>(i)])] = i;
        if (i % kStep == 0) swap_checkpoint(line, trial.line, static_cast<std::size_t>(i / kStep));
    }
    if (all) {
        line.before.back() = trial.cost;
        if (line.jobs.size() % kStep == 0) swap_checkpoint(line, trial.line, line.jobs.size() / kStep);
    } else {
        for (std::size_t i = static_cast<std::size_t>(trial.until); i < line.before.size(); ++i)
            line.before[i] += shift;
    }
}

bool Sequence::try_move(int job, int choice, int position, double limit) {
    int from_shop = shop_of(job), old = this->position(job);
    auto& mine = choice_[static_cast<std::size_t>(job)];
    int was = mine;
    moved_job_ = job, moved_choice_ = choice;
    second_.shop = -1;
    mine = choice;
    int to_shop = shop_of(job);
    const Line& source = lines_[static_cast<std::size_t>(from_shop)];
    first_.shop = from_shop;
    first_.line.jobs = source.jobs;
    first_.line.jobs.erase(first_.line.jobs.begin() + old);
    bool good;
    if (to_shop == from_shop) {
        position = std::clamp(position, 0, static_cast<int>(first_.line.jobs.size()));
        first_.line.jobs.insert(first_.line.jobs.begin() + position, job);
        first_.from = std::min(old, position);
        first_.shift = 0;
        tried_ = cost_ - source.before.back();
        good = evaluate(first_, limit - tried_);
    } else {
        const Line& target = lines_[static_cast<std::size_t>(to_shop)];
        double others = cost_ - source.before.back() - target.before.back();
        second_.shop = to_shop;
        second_.line.jobs = target.jobs;
        position = std::clamp(position, 0, static_cast<int>(target.jobs.size()));
        second_.line.jobs.insert(second_.line.jobs.begin() + position, job);
        second_.from = position, second_.shift = 1;
        first_.from = old, first_.shift = -1;
        good = evaluate(first_, INFINITY) && evaluate(second_, limit - others - first_.cost);
        tried_ = others + second_.cost;
    }
    tried_ += first_.cost;
    mine = was;
    if (!good) moved_job_ = -1;
    return good;
}

bool Sequence::try_swap(int a, int b, double limit) {
    moved_job_ = -1;
    second_.shop = -1;
    first_.shop = shop_of(a);
    const Line& line = lines_[static_cast<std::size_t>(first_.shop)];
    first_.line.jobs = line.jobs;
    std::swap(first_.line.jobs[static_cast<std::size_t>(position(a))],
              first_.line.jobs[static_cast<std::size_t>(position(b))]);
    first_.from = std::min(position(a), position(b));
    first_.shift = 0;
    tried_ = cost_ - line.before.back();
    bool good = evaluate(first_, limit - tried_);
    tried_ += first_.cost;
    return good;
}

void Sequence::keep() {
    if (moved_job_ >= 0) choice_[static_cast<std::size_t>(moved_job_)] = moved_choice_;
    moved_job_ = -1;
    apply(first_);
    if (second_.shop >= 0) apply(second_);
}

std::vector<std::pair<int, Spot>> Sequence::spots(Seconds now) const {
    std::vector<std::pair<int, Spot>> out;
    for (std::size_t s = 0; s < lines_.size(); ++s) {
        ShopState state = shops_->shops[s].initial;
        Appended appended;
        for (int job : lines_[s].jobs) {
            const auto& j = shops_->jobs[static_cast<std::size_t>(job)];
            const auto& c = config(job);
            if (!shops_->shops[s].append(state, j, c, appended)) continue;
            Spot spot;
            spot.config = c.config;
            spot.start = now + appended.start, spot.ready = now + appended.ready, spot.end = now + appended.end;
            spot.nodes = appended.nodes;
            spot.gpu_index = appended.label;
            out.emplace_back(j.job, std::move(spot));
        }
    }
    return out;
}

}  // namespace squall
