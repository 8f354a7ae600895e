// SPDX-License-Identifier: GPL-3.0-or-later
// Plans of tiny problems against brute force, and the bound against the optimum. SQUALL_OPTIMUM_SEEDS=N tries N
// problems (make bench: 500).
#include <cstdio>
#include <cstdlib>

#include "src/core/check.h"
#include "src/core/planner.h"
#include "tests/unit/brute_force.h"
#include "tests/unit/plan_options.h"
#include "tests/unit/random_snapshot.h"
#include "tests/unit/suite.h"

using namespace squall;

namespace {

// At most six waiting jobs on at most three nodes; what brute force leaves out is taken out.
Snapshot tiny_problem(unsigned seed) {
    auto snapshot = RandomProblem(seed).make(3, 6, seed % 2 == 0);
    snapshot.groups.clear();
    snapshot.budgets.clear();
    for (auto& c : snapshot.classes) c.max_nodes = 0;
    for (auto& job : snapshot.jobs) {
        job.max_cost_micro.reset();
        if (job.running) continue;
        job.pinned_config.reset();
        job.pinned_nodes.clear();
    }
    return snapshot;
}

int problems() {
    const char* seeds = std::getenv("SQUALL_OPTIMUM_SEEDS");
    return seeds ? std::max(1, std::atoi(seeds)) : 100;
}

}  // namespace

START_TEST(tiny_problems_are_solved_to_the_optimum) {
    int optimal = 0, count = problems();
    double worst = 0;
    for (unsigned seed = 1; seed <= static_cast<unsigned>(count); ++seed) {
        auto snapshot = tiny_problem(seed);
        auto plan = make_plan(snapshot, work_limited(5000));
        auto errors = check_plan(snapshot, plan);
        ck_assert_msg(errors.empty(), "seed %u: %s", seed, first_line(errors).c_str());
        Micro cost = plan.cost.total();
        Micro optimum = plan.unplaced ? cost : BruteForce(snapshot, cost + 1).solve();
        optimum = std::min(optimum, cost);
        ck_assert_msg(plan.bound <= optimum, "seed %u: bound %lld, optimum %lld", seed,
                      static_cast<long long>(plan.bound), static_cast<long long>(optimum));
        // Energy is rounded up at each change of load: a micro for each step, 50 at most here, are no difference. Nor
        // is what remains beside a hard due date that must be missed: its penalty is part of the cost.
        double off = optimum > 0 ? static_cast<double>(cost - optimum) / static_cast<double>(optimum) : 0;
        bool same = cost - optimum <= 50 || off < 1e-6;
        optimal += same;
        worst = std::max(worst, off);
        if (!same) std::printf("seed %u: %.2f %% off\n", seed, 100 * off);
    }
    std::printf("optimum in %d of %d, at most %.2f %% off\n", optimal, count, 100 * worst);
    std::fflush(stdout);
    ck_assert_int_ge(100 * optimal, 98 * count);
    ck_assert_msg(worst <= 0.05, "%.2f %% off", 100 * worst);
}
END_TEST

int main() { return run_suite("optimum", {tiny_problems_are_solved_to_the_optimum}, nullptr, nullptr, 900); }
