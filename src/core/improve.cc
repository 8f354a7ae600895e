// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/improve.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "src/core/construct.h"

namespace squall {
namespace {

class Search {
  public:
    Search(Schedule& schedule, const ImproveOptions& options)
        : schedule_(schedule), snapshot_(schedule.snapshot()), options_(options), random_(options.seed) {
        for (int j = 0; j < static_cast<int>(snapshot_.jobs.size()); ++j)
            if (!schedule_.fixed(j) && !snapshot_.jobs[j].configs.empty()) movable_.push_back(j);
    }

    int run() {
        if (movable_.empty()) return 0;
        save_best();
        double start_heat = 0.002 * static_cast<double>(best_.cost) / static_cast<double>(movable_.size());
        int patience = 5000 + 200 * static_cast<int>(movable_.size());
        int round = 0;
        for (; round < options_.rounds && round - last_gain_ < patience; ++round) {
            if (options_.stop && options_.stop()) break;
            heat_ = start_heat * std::max(0.02, 1.0 - round / 20000.0);
            if (one_round()) last_gain_ = round;
        }
        restore_best();
        return round;
    }

  private:
    int pick(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }
    double unit() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }

    // The seed of a neighbourhood: one of a few random jobs that costs most, so that expensive ones are tried more.
    int pick_seed_job() {
        int best = movable_[pick(static_cast<int>(movable_.size()))];
        for (int i = 0; i < 2; ++i) {
            int other = movable_[pick(static_cast<int>(movable_.size()))];
            if (late(other) > late(best)) best = other;
        }
        return best;
    }
    Micro late(int job) const { return schedule_.spot(job) ? schedule_.spot(job)->late : INT64_MAX; }

    // Jobs that compete with `seed`: near in time, on a class that it may use, sharing a node first.
    std::vector<int> neighbourhood(int seed) {
        int size = 2 + pick(std::min<int>(12, static_cast<int>(movable_.size())));
        std::vector<std::pair<double, int>> ranked;
        const auto& spot = schedule_.spot(seed);
        int samples = std::min<int>(static_cast<int>(movable_.size()), 12 * size);
        for (int i = 0; i < samples; ++i) {
            int j = samples == static_cast<int>(movable_.size()) ? movable_[i]
                                                                 : movable_[pick(static_cast<int>(movable_.size()))];
            if (j != seed) ranked.emplace_back(distance(seed, spot, j) * (0.5 + unit()), j);
        }
        std::sort(ranked.begin(), ranked.end());
        std::vector<int> jobs{seed};
        for (const auto& [d, j] : ranked) {
            if (static_cast<int>(jobs.size()) >= size) break;
            if (jobs.back() != j) jobs.push_back(j);
        }
        std::sort(jobs.begin(), jobs.end());
        jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
        return jobs;
    }

    double distance(int seed, const std::optional<Spot>& a, int other) const {
        const auto& b = schedule_.spot(other);
        if (!a || !b) return 0;
        const auto& first = snapshot_.jobs[seed].configs[a->config];
        const auto& second = snapshot_.jobs[other].configs[b->config];
        double length = static_cast<double>(std::max<Seconds>(1, a->end - a->start));
        double apart = std::abs(static_cast<double>(a->start - b->start)) / length;
        bool same_node =
            !a->nodes.empty() && std::find(b->nodes.begin(), b->nodes.end(), a->nodes.front()) != b->nodes.end();
        return apart + (first.class_id == second.class_id ? 0 : 1.5) - (same_node ? 0.5 : 0);
    }

    // True when it found a new best.
    bool one_round() {
        Score before = schedule_.score();
        std::vector<std::pair<int, Spot>> old;
        std::vector<int> jobs;
        for (int j : neighbourhood(pick_seed_job())) {
            bool out = std::any_of(old.begin(), old.end(), [j](const auto& s) { return s.first == j; });
            if (out) continue;  // it went with one that it builds on
            if (schedule_.spot(j))
                take_out(j, old);
            else
                jobs.push_back(j);
        }
        for (const auto& [j, spot] : old) jobs.push_back(j);
        put_back(jobs);
        if (!acceptable(before, schedule_.score())) {
            undo(jobs, old);
            return false;
        }
        moved_ = true;
        if (schedule_.score() >= best_) return false;
        save_best();
        return true;
    }

    bool acceptable(const Score& before, const Score& after) {
        if (after <= before) return true;
        if (after.unplaced > before.unplaced) return false;
        return unit() < std::exp(-static_cast<double>(after.cost - before.cost) / std::max(1.0, heat_));
    }

    void take_out(int job, std::vector<std::pair<int, Spot>>& old) {
        for (int j : schedule_.dependents(job)) old.emplace_back(j, *schedule_.spot(j));
        schedule_.eject(job);
    }

    void put_back(std::vector<int>& jobs) {
        FindOptions find;
        if (options_.prices && unit() < 0.3) {
            find.prices = options_.prices;
            find.price_scale = unit();
        }
        if (unit() < 0.5) {
            find.noise = unit() < 0.5 ? 0.3 : 3.0;
            find.random = &random_;
        }
        order_for_return(jobs);
        for (int j : jobs)
            if (auto found = find_best(schedule_, j, find)) schedule_.place(j, found->spot);
    }

    void order_for_return(std::vector<int>& jobs) {
        switch (pick(4)) {
            case 0:
                std::shuffle(jobs.begin(), jobs.end(), random_);
                break;
            case 1:
                sort_by(jobs, [&](int j) { return static_cast<double>(snapshot_.jobs[j].due.value_or(kForever)); });
                break;
            case 2:
                sort_by(jobs, [&](int j) { return -static_cast<double>(snapshot_.jobs[j].late_micro_h); });
                break;
            default:
                sort_by(jobs, [&](int j) {
                    const auto& job = snapshot_.jobs[j];
                    return -static_cast<double>(job.late_micro_h) /
                           static_cast<double>(run_length(job, job.configs.front()));
                });
        }
    }

    template <typename Key>
    void sort_by(std::vector<int>& jobs, Key key) {
        std::vector<std::pair<double, int>> keyed;
        for (int j : jobs) {
            double k = key(j);
            keyed.emplace_back(k + (std::abs(k) * 0.2 + 1) * (unit() - 0.5), j);
        }
        std::sort(keyed.begin(), keyed.end());
        for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i] = keyed[i].second;
    }

    void undo(const std::vector<int>& jobs, const std::vector<std::pair<int, Spot>>& old) {
        for (int j : jobs)
            if (schedule_.spot(j)) schedule_.eject(j);
        place_all(schedule_, old);
    }

    void save_best() {
        best_ = schedule_.score();
        moved_ = false;
        best_spots_.clear();
        for (int j : movable_)
            if (schedule_.spot(j)) best_spots_.emplace_back(j, *schedule_.spot(j));
    }

    void restore_best() {
        if (!moved_) return;
        for (int j : movable_)
            if (schedule_.spot(j)) schedule_.eject(j);
        place_all(schedule_, best_spots_);
    }

    Schedule& schedule_;
    const Snapshot& snapshot_;
    const ImproveOptions& options_;
    std::mt19937_64 random_;
    std::vector<int> movable_;
    std::vector<std::pair<int, Spot>> best_spots_;
    Score best_;
    bool moved_ = false;  // since the best was saved
    int last_gain_ = 0;   // the round that found it
    double heat_ = 0;
};

}  // namespace

int improve(Schedule& schedule, const ImproveOptions& options) { return Search(schedule, options).run(); }

}  // namespace squall
