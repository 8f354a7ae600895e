// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/planner.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
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
constexpr int kCoarse = 128, kFinest = 4096;
constexpr std::size_t kFineWork = 600000;  // buckets × jobs of the last bound
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
            learn_prices(0.1);
            if (!proven()) start_fine_bound();
            if (!proven()) search_until(fine_ ? 0.88 : 0.8);
            if (!proven()) improve_until(fine_ ? 0.92 : 0.84);
            settle(*best_, stop_at(fine_ ? 0.93 : 0.86));
        }
        if (options_.refine && !proven() && left_ms(0.95) > 0) refine_best();
        if (followed_) return_to_followed();
        if (options_.improve) finish_fine_bound();
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

    // The narrower the time buckets, the more is proven, and the longer each step takes.
    int fine_buckets() const {
        return static_cast<int>(std::clamp<std::size_t>(kFineWork / (snapshot_.jobs.size() + 1), kCoarse, kFinest));
    }

    BoundOptions bound_options(double share) const {
        BoundOptions bound;
        bound.time_ms = left_ms(share);
        bound.max_iterations = 600;
        bound.incumbent = best_->cost();
        for (int j = 0; j < static_cast<int>(snapshot_.jobs.size()); ++j)
            if (const auto& spot = best_->spot(j)) bound.horizon = std::max(bound.horizon, spot->end);
        return bound;
    }

    void learn_prices(double share) {
        auto bound = bound_options(share);
        CapacityPrices warm = prices_.prices;
        bound.warm = warm.rows.empty() ? nullptr : &warm;
        prices_ = lagrangian_bound(snapshot_, bound);
    }

    BoundOptions fine_options() const {
        auto bound = bound_options(0.98);
        bound.buckets = fine_buckets();
        bound.max_iterations = 3000;
        // Where the relaxed plan ends: capacity is worth nothing later.
        Seconds last = snapshot_.now;
        for (std::size_t j = 0; j < prices_.relaxed.size(); ++j)
            for (const auto& choice : prices_.relaxed[j])
                last =
                    std::max(last, choice.start +
                                       run_length(snapshot_.jobs[j],
                                                  snapshot_.jobs[j].configs[static_cast<std::size_t>(choice.config)]));
        bound.horizon = std::min(bound.horizon, last);
        return bound;
    }

    // Beside the search where there is a thread for it; else what is left of the time is for it at the end.
    void start_fine_bound() {
        if (options_.threads < 2) return;
        fine_ = std::async(std::launch::async, [this, bound = fine_options(), warm = prices_.prices]() mutable {
            bound.warm = &warm;
            bound.stop = [this] { return used() > fine_until_; };
            return lagrangian_bound(snapshot_, bound);
        });
    }

    void finish_fine_bound() {
        // A search that ended early does not wait long for a better proof.
        fine_until_ = std::min(0.98, 2 * used());
        BoundResult fine;
        if (fine_) {
            fine = fine_->get();
        } else {
            if (proven()) return;
            auto bound = fine_options();
            bound.warm = &prices_.prices;
            bound.stop = [this] { return used() > fine_until_; };
            fine = lagrangian_bound(snapshot_, bound);
        }
        prices_.bound = std::max(prices_.bound, fine.bound);
    }

    void search_until(double share) {
        double began = used();
        if (followed_ && began > kTooLate) return;  // following alone took long: there is no time to try more
        LineSearchOptions search;
        search.seed = options_.seed;
        search.threads = std::max(1, options_.threads - (fine_ ? 1 : 0));
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
        PriceTable prices(snapshot_, &prices_.prices);
        improve_options.prices = &prices;
        improve(*best_, improve_options);
    }

    void refine_best() {
        RefineOptions refine_options;
        refine_options.time_ms = std::max<std::int64_t>(50, left_ms(fine_ ? 0.98 : 0.88));
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
    std::atomic<double> fine_until_ = 1;  // share of the time
    std::optional<std::future<BoundResult>> fine_;
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
