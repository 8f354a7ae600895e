// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/line_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <thread>

#include "src/core/anneal.h"
#include "src/core/find.h"
#include "src/core/price_table.h"
#include "src/core/relink.h"

namespace squall {
namespace {

constexpr std::int64_t kUnlimited = INT64_C(1) << 60;
constexpr int kPoolNodes = 64;
constexpr double kShorter = 0.7;
constexpr std::size_t kElite = 4;       // starts that are kept
constexpr double kRoundsPerJob = 5000;  // of one annealing, before another one pays off more
constexpr int kMostRuns = 4;
constexpr double kRoundsToFollow = 2000;  // for each job, where the last plan is the start
constexpr double kAnnealShare = 0.8;      // before relinking
constexpr int kSamples = 16;
constexpr double kSampleShare = 0.15;  // of the time

class LineSearch {
  public:
    LineSearch(const Schedule& start, const LineSearchOptions& options)
        : start_(start),
          snapshot_(start.snapshot()),
          options_(options),
          fixed_(snapshot_, start.burst()),
          shops_(make_shops(fixed_, last_end(start), kPoolNodes)),
          prices_(snapshot_, options.relaxed ? &options.relaxed->prices : nullptr) {}

    std::unique_ptr<Schedule> run() {
        if (shops_.jobs.empty()) return on_schedule({});
        std::vector<Sequence> elite(1, Sequence(shops_));
        take_start(elite.front());
        bool guided = options_.relaxed && !options_.relaxed->relaxed.empty();
        if (guided && !options_.small_changes) {
            sample(elite);
            auto sampled = on_schedule(elite.front());
            if (last_end(*sampled) < kShorter * last_end(start_)) return search_within(*sampled);
        }
        return on_schedule(anneal_all(elite));
    }

  private:
    bool limited() const { return options_.rounds < kUnlimited; }
    double progress() const { return options_.progress ? options_.progress() : 0; }

    // A plan that ends much sooner leaves out more of the nodes that are taken for long, and is searched faster.
    std::unique_ptr<Schedule> search_within(const Schedule& sampled) const {
        LineSearchOptions options = options_;
        options.relaxed = nullptr;
        return LineSearch(sampled, options).run();
    }

    Tick last_end(const Schedule& schedule) const {
        Seconds last = snapshot_.now + 1;
        for (int j = 0; j < static_cast<int>(snapshot_.jobs.size()); ++j)
            if (const auto& spot = schedule.spot(j)) last = std::max(last, spot->end);
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
        std::vector<int> order, choice;
        std::vector<std::pair<Seconds, int>> keyed;
        for (int j = 0; j < static_cast<int>(shops_.jobs.size()); ++j) {
            const auto& spot = start_.spot(shops_.jobs[static_cast<std::size_t>(j)].job);
            const auto& job = shops_.jobs[static_cast<std::size_t>(j)];
            choice.push_back(std::max(0, spot ? choice_of(job, spot->config, spot->nodes.front()) : 0));
            keyed.emplace_back(spot ? spot->start : kForever, j);
        }
        std::sort(keyed.begin(), keyed.end());
        for (const auto& [at, j] : keyed) order.push_back(j);
        sequence.assign(order, choice);
    }

    // Jobs in the order of their relaxed starts, moved by a part of the run after the first few samples; each where it
    // then adds least: lateness, and a share of what its GPUs are worth to the others at the bound's prices. Every
    // fourth sample takes the configuration that each job chose most often instead.
    Sequence sample_one(std::mt19937_64& random, int index) const {
        constexpr std::array kScales = {0.7, 0.5, 0.35};
        double noise = 0.1 * std::min(index / 4, 3);
        std::vector<std::pair<double, int>> keyed;
        std::vector<int> wanted(shops_.jobs.size(), -1);
        for (int j = 0; j < static_cast<int>(shops_.jobs.size()); ++j) {
            const auto& job = shops_.jobs[static_cast<std::size_t>(j)];
            auto [config, start] = relaxed_of(job);
            if (index % 4 == 3 && choice_of(job, config, -1) >= 0) wanted[static_cast<std::size_t>(j)] = config;
            double unit = static_cast<double>(random() >> 11) * 0x1.0p-53;
            keyed.emplace_back(start + noise * job.configs.front().run_s * (2 * unit - 1), j);
        }
        std::sort(keyed.begin(), keyed.end());
        std::vector<int> order;
        for (const auto& [at, j] : keyed) order.push_back(j);
        double scale = index % 4 == 3 ? 0 : kScales[static_cast<std::size_t>(index % 4)];
        Sequence sequence(shops_);
        sequence.deal(order, [&](int j, const ShopConfig& config, Tick end) {
            int only = wanted[static_cast<std::size_t>(j)];
            if (only >= 0 && only != config.config) return static_cast<double>(INFINITY);
            const auto& job = shops_.jobs[static_cast<std::size_t>(j)];
            return job.late_cost(end) +
                   scale * prices_.with_rent(config_of(job, config), now_at(end - config.run_s), now_at(end)) +
                   1e-3 * end;
        });
        return sequence;
    }

    Seconds now_at(Tick tick) const { return snapshot_.now + tick; }

    // The configuration that the job chose most often and its mean start, as a tick.
    std::pair<int, double> relaxed_of(const ShopJob& job) const {
        const auto& choices = options_.relaxed->relaxed[static_cast<std::size_t>(job.job)];
        if (choices.empty()) return {-1, job.ready};
        std::map<int, int> count;
        double start = 0;
        for (const auto& choice : choices) {
            ++count[choice.config];
            start += static_cast<double>(choice.start - snapshot_.now) / static_cast<double>(choices.size());
        }
        auto most = std::max_element(count.begin(), count.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
        return {most->first, start};
    }

    const Config& config_of(const ShopJob& job, const ShopConfig& config) const {
        return snapshot_.jobs[static_cast<std::size_t>(job.job)].configs[static_cast<std::size_t>(config.config)];
    }

    // Keeps the best few, the best first.
    void sample(std::vector<Sequence>& elite) const {
        std::mt19937_64 random(options_.seed);
        double until = progress() + kSampleShare * (1 - progress());
        for (int i = 0; i < kSamples && (i == 0 || progress() < until); ++i) {
            elite.push_back(sample_one(random, i));
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
        double jobs = static_cast<double>(shops_.jobs.size());
        double enough = jobs * (options_.small_changes ? kRoundsToFollow : kRoundsPerJob * kMostRuns);
        double rounds = std::min(enough, expected_rounds(plans.front()));
        int runs =
            options_.small_changes ? 1 : std::clamp(static_cast<int>(rounds / jobs / kRoundsPerJob), 1, kMostRuns);
        double began = progress(), whole = 1 - began, share = runs > 1 ? kAnnealShare : 1.0;
        AnnealOptions run_options;
        run_options.rounds = static_cast<std::int64_t>((limited() ? rounds : enough) * share / runs);
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
        run_options.rounds = static_cast<std::int64_t>((limited() ? rounds : enough) * (1 - share));
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
    PriceTable prices_;
};

}  // namespace

std::unique_ptr<Schedule> search_lines(const Schedule& start, const LineSearchOptions& options) {
    return LineSearch(start, options).run();
}

}  // namespace squall
