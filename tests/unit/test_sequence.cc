// SPDX-License-Identifier: GPL-3.0-or-later
// The search's fast evaluation: changes tried against everything anew, and what the pools promise against real nodes.
#include <cmath>
#include <random>

#include "src/core/find.h"
#include "src/core/relink.h"
#include "tests/unit/random_snapshot.h"
#include "tests/unit/suite.h"

using namespace squall;

namespace {

struct Problem {
    explicit Problem(unsigned seed, int pool_nodes = 2)
        : snapshot(RandomProblem(seed).make(10, 25, true)),
          base(snapshot, true),
          shops(make_shops(base, kNever, pool_nodes)),
          random(seed) {}

    int pick(std::size_t count) { return static_cast<int>(random() % count); }
    void random_start(Sequence& sequence) {
        std::vector<int> order, choice;
        for (std::size_t j = 0; j < shops.jobs.size(); ++j) {
            order.push_back(static_cast<int>(j));
            choice.push_back(pick(shops.jobs[j].configs.size()));
        }
        std::shuffle(order.begin(), order.end(), random);
        sequence.assign(order, choice);
    }
    // One random try; true where it was kept.
    bool random_change(Sequence& sequence, double limit) {
        int job = pick(shops.jobs.size());
        const auto& line = sequence.line(sequence.shop_of(job));
        bool good = false;
        if (random() % 3 == 0 && line.size() > 1)
            good = sequence.try_swap(job, line[static_cast<std::size_t>(pick(line.size()))], limit);
        else
            good = sequence.try_move(job, pick(shops.jobs[static_cast<std::size_t>(job)].configs.size()),
                                     pick(shops.jobs.size()), limit);
        if (good) sequence.keep();
        return good;
    }
    double anew(const Sequence& sequence) const {
        Sequence other(shops);
        std::vector<int> choice;
        for (std::size_t j = 0; j < shops.jobs.size(); ++j) choice.push_back(sequence.choice(static_cast<int>(j)));
        other.assign(sequence.order(), choice);
        return other.cost();
    }

    Snapshot snapshot;
    Schedule base;
    Shops shops;
    std::mt19937 random;
};

bool close(double a, double b) { return std::abs(a - b) <= 1e-6 * std::max(1.0, std::abs(b)); }

}  // namespace

START_TEST(a_change_costs_what_everything_anew_costs) {
    int kept = 0;
    for (unsigned seed = 1; seed <= 150; ++seed) {
        Problem problem(seed);
        if (problem.shops.jobs.empty()) continue;
        Sequence sequence(problem.shops);
        problem.random_start(sequence);
        for (int i = 0; i < 60; ++i) {
            double before = sequence.cost(), limit = i % 2 ? 1e300 : before * 1.01;
            bool changed = problem.random_change(sequence, limit);
            kept += changed;
            ck_assert_msg(changed ? sequence.cost() <= limit * (1 + 1e-9) : sequence.cost() == before, "seed %u", seed);
            ck_assert_msg(close(sequence.cost(), problem.anew(sequence)), "seed %u, change %d: %.3f, anew %.3f", seed,
                          i, sequence.cost(), problem.anew(sequence));
        }
    }
    ck_assert_int_gt(kept, 3000);
}
END_TEST

START_TEST(a_change_that_costs_more_than_its_limit_is_refused) {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        Problem problem(seed);
        if (problem.shops.jobs.empty()) continue;
        Sequence sequence(problem.shops);
        problem.random_start(sequence);
        for (int i = 0; i < 40; ++i) {
            int job = problem.pick(problem.shops.jobs.size());
            int choice = problem.pick(problem.shops.jobs[static_cast<std::size_t>(job)].configs.size());
            int position = problem.pick(problem.shops.jobs.size());
            ck_assert(sequence.try_move(job, choice, position, 1e300));
            double cost = sequence.tried_cost();
            ck_assert_msg(
                sequence.try_move(job, choice, position, cost * (1 + 1e-9) + 1e-3),
                "seed %u, change %d: %.6f, then refused; now %.6f, shops %d and %d", seed, i, cost, sequence.cost(),
                sequence.shop_of(job),
                problem.shops.jobs[static_cast<std::size_t>(job)].configs[static_cast<std::size_t>(choice)].shop);
            ck_assert(!sequence.try_move(job, choice, position, cost * (1 - 1e-9) - 1e-3));
        }
    }
}
END_TEST

START_TEST(what_pools_promise_the_nodes_can_hold) {
    int placed = 0, jobs = 0;
    for (unsigned seed = 1; seed <= 150; ++seed) {
        Problem problem(seed, seed % 3 == 0 ? 100 : 2);
        problem.snapshot.groups.clear();  // several groups over one class are repaired later
        problem.snapshot.budgets.clear();
        Schedule schedule(problem.snapshot, true);
        problem.shops = make_shops(schedule, kNever, 2);
        if (problem.shops.jobs.empty()) continue;
        Sequence sequence(problem.shops);
        problem.random_start(sequence);
        auto spots = sequence.spots(problem.snapshot.now);
        sort_by_start(spots);
        jobs += static_cast<int>(spots.size());
        for (const auto& [job, spot] : spots) {
            auto found = find_same(schedule, job, spot);
            if (!found) continue;
            ck_assert_msg(found->spot.end == spot.end, "seed %u, job %d: ends %+lld s", seed, job,
                          static_cast<long long>(found->spot.end - spot.end));
            schedule.place(job, found->spot);
            ++placed;
        }
    }
    ck_assert_msg(placed == jobs, "%d of %d", placed, jobs);
}
END_TEST

START_TEST(relinking_ends_at_the_best_plan_it_met) {
    int better = 0;
    for (unsigned seed = 1; seed <= 40; ++seed) {
        Problem problem(seed);
        if (problem.shops.jobs.size() < 3) continue;
        Sequence a(problem.shops), b(problem.shops);
        problem.random_start(a);
        problem.random_start(b);
        for (int i = 0; i < 300; ++i) problem.random_change(b, b.cost());
        std::mt19937_64 random(seed);
        double before = a.cost();
        bool found = relink(a, b, problem.shops, random);
        ck_assert(found ? a.cost() < before : a.cost() == before);
        ck_assert(close(a.cost(), problem.anew(a)));
        better += found;
    }
    ck_assert_int_gt(better, 20);
}
END_TEST

int main() {
    return run_suite("sequence",
                     {a_change_costs_what_everything_anew_costs, a_change_that_costs_more_than_its_limit_is_refused,
                      what_pools_promise_the_nodes_can_hold, relinking_ends_at_the_best_plan_it_met});
}
