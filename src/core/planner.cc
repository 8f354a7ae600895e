// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/planner.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "src/core/bound.h"
#include "src/core/construct.h"
#include "src/core/cost.h"
#include "src/core/explain.h"
#include "src/core/follow.h"
#include "src/core/improve.h"
#include "src/core/line_search.h"
#include "src/core/refine.h"

namespace squall {
namespace {

constexpr int kNoLimit = 1 << 30;
constexpr double kTooLate = 0.4;
constexpr int kAnnealRounds = 20;  // of annealing for each of the large neighbourhood search: they are so much cheaper

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// One planning run: the steps of the method in the order they are called.
class Run {
  public:
    Run(const Snapshot& snapshot, const PlanOptions& options) : snapshot_(snapshot), options_(options) {}

    Plan plan(const Plan* previous) {
        if (previous) {
            prices_.prices = previous->prices;
            follow_last(*previous);
        }
        construct_first();
        if (options_.improve) {
            learn_prices(0.15);
            if (!proven()) search_until(options_.refine ? 0.8 : 0.9);
            if (!proven()) improve_until(options_.refine ? 0.85 : 0.95);
            settle(*best_, stop_at(options_.refine ? 0.9 : 1.0));
        }
        if (options_.refine && !proven()) refine_best();
        if (followed_) return_to_followed();
        if (options_.improve && !proven()) learn_prices(1.0);
        return finish();
    }

  private:
    std::int64_t left_ms(double share) const {
        return std::max<std::int64_t>(0, static_cast<std::int64_t>(share * static_cast<double>(options_.time_ms)) -
                                             static_cast<std::int64_t>(1000 * seconds_since(started_)));
    }
    double used() const {
        return options_.time_ms > 0 ? 1000 * seconds_since(started_) / static_cast<double>(options_.time_ms) : 1;
    }
    std::function<bool()> stop_at(double share) const {
        return [this, share] { return left_ms(share) == 0; };
    }

    // Nothing cheaper is left to look for.
    bool proven() const {
        Score score = best_->score();
        return score.unplaced == 0 && score.cost - prices_.bound <= score.cost / 100000;
    }

    void offer(std::unique_ptr<Schedule> schedule) {
        if (!best_ || schedule->score() < best_->score()) best_ = std::move(schedule);
    }

    void construct_first() {
        auto schedule = std::make_unique<Schedule>(snapshot_, options_.burst);
        auto never = [] { return false; };  // the first plan is always whole
        std::function<bool()> stop = best_ ? stop_at(0.3) : never;
        if (place_in_order(*schedule, order_by_pressure(*schedule), {}, stop)) offer(std::move(schedule));
        if (first_plan_s_ == 0) first_plan_s_ = seconds_since(started_);
    }

    void follow_last(const Plan& previous) {
        auto schedule = std::make_unique<Schedule>(snapshot_, options_.burst);
        follow(*schedule, previous);
        settle(*schedule, stop_at(0.3));
        followed_ = schedule->score();
        for (int j = 0; j < static_cast<int>(snapshot_.jobs.size()); ++j)
            if (schedule->spot(j) && !schedule->fixed(j)) followed_spots_.emplace_back(j, *schedule->spot(j));
        best_ = std::move(schedule);
        first_plan_s_ = seconds_since(started_);
    }

    void return_to_followed() {
        int moved = 0;
        for (const auto& [j, spot] : followed_spots_) {
            const auto& now = best_->spot(j);
            moved += !now || now->config != spot.config || now->start != spot.start || now->nodes != spot.nodes;
        }
        double share = moved / std::max(1.0, static_cast<double>(followed_spots_.size()));
        if (worth_changing(*followed_, best_->score(), share)) return;
        auto schedule = std::make_unique<Schedule>(snapshot_, options_.burst);
        place_all(*schedule, followed_spots_);
        best_ = std::move(schedule);
    }

    void learn_prices(double share) {
        BoundOptions bound;
        bound.time_ms = left_ms(share);
        bound.max_iterations = 600;
        bound.incumbent = best_->cost();
        for (int j = 0; j < static_cast<int>(snapshot_.jobs.size()); ++j)
            if (const auto& spot = best_->spot(j)) bound.horizon = std::max(bound.horizon, spot->end);
        CapacityPrices warm = prices_.prices;
        bound.warm = warm.rows.empty() ? nullptr : &warm;
        auto result = lagrangian_bound(snapshot_, bound);
        if (result.bound >= prices_.bound) prices_ = std::move(result);
    }

    void search_until(double share) {
        double began = used();
        if (followed_ && began > kTooLate) return;  // following alone took long: there is no time to try more
        LineSearchOptions search;
        search.seed = options_.seed;
        search.threads = options_.threads;
        bool limited = options_.rounds < kNoLimit;  // then no clock steers it
        if (limited) search.rounds = static_cast<std::int64_t>(options_.rounds) * kAnnealRounds;
        search.progress = [this, began, share, limited] {
            double done = began < share ? (used() - began) / (share - began) : 1;
            return limited && done < 1 ? 0 : done;
        };
        search.small_changes = followed_.has_value();
        search.relaxed = &prices_;
        offer(search_lines(*best_, search));
    }

    void improve_until(double share) {
        ImproveOptions improve_options;
        improve_options.seed = options_.seed;
        improve_options.rounds = options_.rounds;
        improve_options.stop = stop_at(share);
        improve_options.prices = &prices_.prices;
        improve(*best_, improve_options);
    }

    void refine_best() {
        RefineOptions refine_options;
        refine_options.time_ms = std::max<std::int64_t>(50, left_ms(0.95));
        refine_options.mem_mb = options_.glpk_mem_mb;
        note_ = refine(*best_, refine_options);
    }

    Plan finish() {
        Plan plan = to_plan(*best_);
        explain(*best_, plan, 200);
        plan.bound = std::min(prices_.bound, plan.cost.total());
        plan.first_plan_s = first_plan_s_;
        plan.seconds = seconds_since(started_);
        plan.refine_note = note_;
        plan.prices = std::move(prices_.prices);
        return plan;
    }

    const Snapshot& snapshot_;
    const PlanOptions& options_;
    Clock::time_point started_ = Clock::now();
    std::unique_ptr<Schedule> best_;
    std::optional<Score> followed_;
    std::vector<std::pair<int, Spot>> followed_spots_;
    BoundResult prices_;
    double first_plan_s_ = 0;
    std::string note_;
};

}  // namespace

Plan make_plan(const Snapshot& snapshot, const PlanOptions& options, const Plan* previous) {
    return Run(snapshot, options).plan(previous);
}

Plan fifo_plan(const Snapshot& snapshot) {
    Schedule schedule(snapshot, true);
    for (int job : order_by_release(schedule))
        for (int c = 0; c < static_cast<int>(snapshot.jobs[job].configs.size()); ++c)
            if (config_allowed(schedule, job, c)) {
                if (auto found = find_spot(schedule, job, c, {})) schedule.place(job, found->spot);
                break;
            }
    Plan plan = to_plan(schedule);
    explain(schedule, plan, 0);
    return plan;
}

}  // namespace squall
