// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/line_search.h"

#include <algorithm>
#include <random>
#include <thread>

#include "src/core/anneal.h"
#include "src/core/find.h"
#include "src/core/relink.h"

namespace squall {
namespace {

constexpr std::int64_t kUnlimited = INT64_C(1) << 60;
constexpr int kPoolNodes = 16;
constexpr std::size_t kElite = 4;       // starts that are kept
constexpr double kRoundsPerJob = 3000;  // of one annealing, before another one pays off more
constexpr int kMostRuns = 6;
constexpr double kAnnealShare = 0.8;  // before relinking
constexpr int kSamples = 64;
constexpr double kSampleShare = 0.15;  // of the time

// An order and a configuration each.
struct Start {
    std::vector<int> order, choice;
};

class LineSearch {
  public:
    LineSearch(const Schedule& start, const LineSearchOptions& options)
        : start_(start),
          snapshot_(start.snapshot()),
          options_(options),
          fixed_(snapshot_, start.burst()),
          shops_(make_shops(fixed_, last_end(), kPoolNodes)) {}

    std::unique_ptr<Schedule> run() {
        if (shops_.jobs.empty()) return on_schedule({});
        std::vector<Sequence> elite(1, Sequence(shops_));
        take_start(elite.front());
        bool guided = options_.relaxed && !options_.relaxed->relaxed.empty();
        if (guided && !options_.small_changes) sample(elite);
        return on_schedule(anneal_all(elite));
    }

  private:
    bool limited() const { return options_.rounds < kUnlimited; }
    double progress() const { return options_.progress ? options_.progress() : 0; }

    Tick last_end() const {
        Seconds last = snapshot_.now + 1;
        for (int j = 0; j < static_cast<int>(snapshot_.jobs.size()); ++j)
            if (const auto& spot = start_.spot(j)) last = std::max(last, spot->end);
        return static_cast<Tick>(std::min<Seconds>(last - snapshot_.now, kNever));
    }

    // The choice that has this configuration, on that node's pool where it can be; -1 = none.
    int choice_of(const ShopJob& job, int config, int node) const {
        int choice = -1;
        for (int c = 0; c < static_cast<int>(job.configs.size()); ++c) {
            const auto& mine = job.configs[static_cast<std::size_t>(c)];
            if (mine.config != config) continue;
            if (choice < 0 || (node >= 0 && mine.shop == shops_.shop_of_node[static_cast<std::size_t>(node)]))
                choice = c;
        }
        return choice;
    }

    void take_start(Sequence& sequence) const {
        Start to;
        std::vector<std::pair<Seconds, int>> keyed;
        for (int j = 0; j < static_cast<int>(shops_.jobs.size()); ++j) {
            const auto& spot = start_.spot(shops_.jobs[static_cast<std::size_t>(j)].job);
            const auto& job = shops_.jobs[static_cast<std::size_t>(j)];
            to.choice.push_back(std::max(0, spot ? choice_of(job, spot->config, spot->nodes.front()) : 0));
            keyed.emplace_back(spot ? spot->start : kForever, j);
        }
        std::sort(keyed.begin(), keyed.end());
        for (const auto& [at, j] : keyed) to.order.push_back(j);
        sequence.assign(to.order, to.choice);
    }

    // Jobs in the order of their relaxed starts, each with one of its relaxed configurations: the largest share, or by
    // chance; starts are moved by a part of the run.
    Start sample_start(std::mt19937_64& random, int index) const {
        auto unit = [&random] { return static_cast<double>(random() >> 11) * 0x1.0p-53; };
        double noise = 0.15 * (index / 2 % 4);
        Start to;
        std::vector<std::pair<double, int>> keyed;
        for (int j = 0; j < static_cast<int>(shops_.jobs.size()); ++j) {
            const auto& job = shops_.jobs[static_cast<std::size_t>(j)];
            const auto& shares = options_.relaxed->relaxed[static_cast<std::size_t>(job.job)];
            double u = unit();
            const RelaxedShare* picked = nullptr;
            for (const auto& s : shares) {
                if (choice_of(job, s.config, -1) < 0) continue;
                if (index % 2 == 0 ? !picked || s.share > picked->share : u >= 0) picked = &s;
                u -= s.share;
            }
            int choice = picked ? choice_of(job, picked->config, -1) : 0;
            double run = static_cast<double>(job.configs[static_cast<std::size_t>(choice)].run_s);
            double start = picked ? static_cast<double>(picked->start - snapshot_.now) : 0;
            to.choice.push_back(choice);
            keyed.emplace_back(start + noise * run * (2 * unit() - 1), j);
        }
        std::sort(keyed.begin(), keyed.end());
        for (const auto& [at, j] : keyed) to.order.push_back(j);
        return to;
    }

    // Keeps the best few, the best first.
    void sample(std::vector<Sequence>& elite) const {
        std::mt19937_64 random(options_.seed);
        double until = progress() + kSampleShare * (1 - progress());
        for (int i = 0; i < kSamples && (i == 0 || progress() < until); ++i) {
            Start start = sample_start(random, i);
            Sequence trial(shops_);
            trial.deal(start.order, start.choice);
            elite.push_back(std::move(trial));
            std::stable_sort(elite.begin(), elite.end(), cheaper);
            if (elite.size() > kElite) elite.pop_back();
        }
    }

    static bool cheaper(const Sequence& a, const Sequence& b) { return a.cost() < b.cost(); }

    // Rounds of annealing that there is time for.
    double expected_rounds(const Sequence& start) const {
        if (limited()) return static_cast<double>(options_.rounds);
        constexpr int kTrial = 200;
        Sequence plan = start;
        AnnealOptions trial;
        trial.rounds = kTrial;
        double before = progress();
        anneal(plan, shops_, trial);
        return kTrial * (1 - before) / std::max(1e-6, progress() - before);
    }

    // Anneals from the starts in turn, as often as each job is tried some thousand times, then looks between the
    // results. Ends with the best in front.
    void anneal_starts(std::vector<Sequence>& plans, std::uint64_t seed) const {
        double jobs = static_cast<double>(shops_.jobs.size()), rounds = expected_rounds(plans.front());
        int runs =
            options_.small_changes ? 1 : std::clamp(static_cast<int>(rounds / jobs / kRoundsPerJob), 1, kMostRuns);
        double began = progress(), whole = 1 - began, share = runs > 1 ? kAnnealShare : 1.0;
        AnnealOptions run_options;
        run_options.rounds = limited() ? static_cast<std::int64_t>(rounds * share / runs) : kUnlimited;
        run_options.start_heat = options_.small_changes ? 0.01 : heat_for(rounds * share / runs / jobs);
        std::vector<Sequence> found;
        for (int run = 0; run < runs; ++run) {
            found.push_back(plans[static_cast<std::size_t>(run) % plans.size()]);
            run_options.seed = seed + static_cast<std::uint64_t>(run);
            slice(run_options, began + whole * share * run / runs, began + whole * share * (run + 1) / runs);
            anneal(found.back(), shops_, run_options);
        }
        std::stable_sort(found.begin(), found.end(), cheaper);
        plans = std::move(found);
        if (runs == 1) return;
        relink_all(plans, seed);
        run_options.rounds = limited() ? static_cast<std::int64_t>(rounds * (1 - share)) : kUnlimited;
        run_options.start_heat = 0.05;
        slice(run_options, progress(), 1);
        anneal(plans.front(), shops_, run_options);
    }

    void slice(AnnealOptions& run, double from, double to) const {
        run.progress = [this, from, to] { return to > from ? (progress() - from) / (to - from) : 1; };
    }

    void relink_all(std::vector<Sequence>& plans, std::uint64_t seed) const {
        std::mt19937_64 random(seed);
        for (std::size_t a = 0; a < plans.size(); ++a)
            for (std::size_t b = 0; b < plans.size(); ++b)
                if (a != b && progress() < 1) relink(plans[a], plans[b], shops_, random);
        std::stable_sort(plans.begin(), plans.end(), cheaper);
    }

    Sequence anneal_all(const std::vector<Sequence>& elite) const {
        std::vector<std::vector<Sequence>> found(static_cast<std::size_t>(std::max(1, options_.threads)), elite);
        auto one = [&](std::size_t i) { anneal_starts(found[i], options_.seed * 1000003 + i * 1009); };
        std::vector<std::thread> others;
        for (std::size_t i = 1; i < found.size(); ++i) others.emplace_back(one, i);
        one(0);
        for (auto& other : others) other.join();
        return std::min_element(found.begin(), found.end(),
                                [](const auto& a, const auto& b) { return cheaper(a.front(), b.front()); })
            ->front();
    }

    std::unique_ptr<Schedule> on_schedule(const std::optional<Sequence>& sequence) const {
        auto schedule = std::make_unique<Schedule>(snapshot_, start_.burst());
        auto spots = sequence ? sequence->spots(snapshot_.now) : std::vector<std::pair<int, Spot>>{};
        sort_by_start(spots);
        // A window closes, a group is full, a budget is spent: what the search left out is found another place.
        for (const auto& [j, spot] : spots)
            if (auto found = find_same(*schedule, j, spot)) schedule->place(j, found->spot);
        for (int j = 0; j < static_cast<int>(snapshot_.jobs.size()); ++j)
            if (!schedule->spot(j) && !snapshot_.jobs[static_cast<std::size_t>(j)].configs.empty())
                if (auto found = find_best(*schedule, j, {})) schedule->place(j, found->spot);
        return schedule;
    }

    const Schedule& start_;
    const Snapshot& snapshot_;
    const LineSearchOptions& options_;
    Schedule fixed_;
    Shops shops_;
};

}  // namespace

std::unique_ptr<Schedule> search_lines(const Schedule& start, const LineSearchOptions& options) {
    return LineSearch(start, options).run();
}

}  // namespace squall
