// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/anneal.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace squall {
namespace {

class Annealer {
  public:
    Annealer(Sequence& sequence, const Shops& shops, const AnnealOptions& options)
        : sequence_(sequence), shops_(shops), options_(options), random_(options.seed) {}

    std::int64_t run() {
        int jobs = static_cast<int>(shops_.jobs.size());
        if (jobs == 0) return 0;
        save();
        sequence_.hurry(true);
        double mean = sequence_.cost() / jobs;
        heat_ = options_.start_heat * mean;
        std::int64_t round = 0;
        for (; round < options_.rounds; ++round) {
            if ((round & 31) == 0 && !cool(round, mean)) break;
            one_round(jobs);
            if (sequence_.cost() < best_ * (1 - 1e-9)) improved_ = true;
            // Copying the best is dear: it waits until the search leaves it.
        }
        sequence_.hurry(false);
        if (best_ < sequence_.cost()) sequence_.assign(best_order_, best_choice_);
        return round;
    }

  private:
    int pick(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }
    double unit() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }

    bool cool(std::int64_t round, double mean) {
        double share = static_cast<double>(round) / static_cast<double>(options_.rounds);
        if (options_.progress) share = std::max(share, options_.progress());
        if (share >= 1) return false;
        heat_ = mean * options_.start_heat * std::pow(options_.end_heat / options_.start_heat, share);
        return true;
    }

    // Jobs that cost more are tried more.
    int pick_job(int jobs) {
        int a = pick(jobs);
        if (unit() < 0.5) return a;
        int b = pick(jobs);
        return sequence_.job_cost(a) >= sequence_.job_cost(b) ? a : b;
    }

    // Another configuration, on the pool where the job is if its class is the same.
    int other_config_here(int job) {
        const auto& configs = shops_.jobs[static_cast<std::size_t>(job)].configs;
        int now = sequence_.choice(job), pool = now - configs[static_cast<std::size_t>(now)].first;
        const auto& to = configs[static_cast<std::size_t>(pick(static_cast<int>(configs.size())))];
        return to.first + pool % to.pools;
    }

    // The same configuration on another pool of its class; any other choice where there is none.
    int other_pool(int job) {
        const auto& configs = shops_.jobs[static_cast<std::size_t>(job)].configs;
        const auto& now = configs[static_cast<std::size_t>(sequence_.choice(job))];
        return now.pools > 1 ? now.first + pick(now.pools) : pick(static_cast<int>(configs.size()));
    }

    int near(int position, int size) {
        double u = unit();
        double reach = u < 0.6 ? 6 : u < 0.9 ? 30 : size;
        double jump = (unit() * 2 - 1) * std::min<double>(reach, size);
        return std::clamp(position + static_cast<int>(std::lround(jump)), 0, std::max(0, size - 1));
    }

    void one_round(int jobs) {
        int job = pick_job(jobs);
        double limit = sequence_.cost() - heat_ * std::log(unit() + 1e-300);
        int shop = sequence_.shop_of(job), size = static_cast<int>(sequence_.line(shop).size());
        const auto& configs = shops_.jobs[static_cast<std::size_t>(job)].configs;
        double kind = unit();
        bool good = false;
        if (kind < 0.45 && configs.size() > 1) {
            int choice = kind < 0.2   ? other_config_here(job)
                         : kind < 0.4 ? other_pool(job)
                                      : pick(static_cast<int>(configs.size()));
            int to = configs[static_cast<std::size_t>(choice)].shop;
            int at = to == shop ? sequence_.position(job) : sequence_.position_at(to, sequence_.start(job));
            if (unit() < 0.7) at = near(at, static_cast<int>(sequence_.line(to).size()) + 1);
            if (choice == sequence_.choice(job) && at == sequence_.position(job)) return;
            good = keep_best_then(sequence_.try_move(job, choice, at, limit));
        } else if (kind < 0.8 || size < 2) {
            int at = near(sequence_.position(job), size);
            if (at == sequence_.position(job)) return;
            good = keep_best_then(sequence_.try_move(job, sequence_.choice(job), at, limit));
        } else {
            int other = sequence_.line(shop)[static_cast<std::size_t>(near(sequence_.position(job), size))];
            if (other == job) return;
            good = keep_best_then(sequence_.try_swap(job, other, limit));
        }
        if (good) sequence_.keep();
    }

    // Before the search leaves a new best, it is saved.
    bool keep_best_then(bool good) {
        if (good && improved_ && sequence_.cost() < best_) save();
        return good;
    }

    void save() {
        improved_ = false;
        best_ = sequence_.cost();
        best_order_ = sequence_.order();
        best_choice_.resize(shops_.jobs.size());
        for (std::size_t j = 0; j < best_choice_.size(); ++j) best_choice_[j] = sequence_.choice(static_cast<int>(j));
    }

    Sequence& sequence_;
    const Shops& shops_;
    const AnnealOptions& options_;
    std::mt19937_64 random_;
    double heat_ = 0, best_ = 0;
    bool improved_ = false;
    std::vector<int> best_order_, best_choice_;
};

}  // namespace

// 0.02 where there is hardly time to look at each once, 0.5 for some ten thousand times.
double heat_for(double rounds_per_job) { return std::clamp(0.02 * std::pow(rounds_per_job, 0.3), 0.02, 0.5); }

std::int64_t anneal(Sequence& sequence, const Shops& shops, const AnnealOptions& options) {
    return Annealer(sequence, shops, options).run();
}

}  // namespace squall
