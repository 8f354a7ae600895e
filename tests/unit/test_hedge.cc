// SPDX-License-Identifier: GPL-3.0-or-later
// Run times at a quantile, weights that grow with lateness, and what that is for: no job waits for ever.
#include "src/core/check.h"
#include "src/core/hedge.h"
#include "src/core/planner.h"
#include "tests/unit/plan_options.h"
#include "tests/unit/random_snapshot.h"
#include "tests/unit/suite.h"

using namespace squall;

namespace {

Job job_of(std::uint32_t id, Seconds release, Seconds due, Micro late_micro_h) {
    Job job;
    job.id = id;
    job.release = release;
    job.due = due;
    job.late_micro_h = late_micro_h;
    Config config;
    config.gpus = 1;
    config.run_s = config.run_high_s = kHour;
    job.configs.push_back(config);
    return job;
}

// One node with one GPU. Every hour a job of an hour arrives that is due at its end, and counts 20 an hour late. Hours
// until a job of weight `light` starts that was there first and due after two hours; -1 = not within `hours`.
int hours_waited(Micro light, Seconds aging_s, int hours) {
    Snapshot s;
    NodeClass only;
    only.name = only.gpu_type = "v100";
    only.gpus = 1;
    s.classes.push_back(only);
    Node node;
    node.name = "n1";
    s.nodes.push_back(node);
    std::vector<Job> waiting{job_of(1, 0, 2 * kHour, light)};
    for (int hour = 0; hour < hours; ++hour) {
        s.now = hour * kHour;
        waiting.push_back(job_of(static_cast<std::uint32_t>(2 + hour), s.now, s.now + kHour, 20000000));
        s.jobs = waiting;
        hedge(s, {0, aging_s, 1000000});
        auto plan = make_plan(s, work_limited(5));
        for (const auto& p : plan.placements) {
            if (p.config < 0 || !p.starts_now(s.now)) continue;
            if (p.job_id == 1) return hour;
            std::erase_if(waiting, [&](const Job& job) { return job.id == p.job_id; });
        }
    }
    return -1;
}

}  // namespace

START_TEST(the_quantile_follows_what_lateness_costs) {
    ck_assert_int_eq(quantile_for(0, 1), 50);
    ck_assert_int_eq(quantile_for(1, 1), 50);
    ck_assert_int_eq(quantile_for(3, 1), 70);
    ck_assert_int_eq(quantile_for(1e9, 1), 90);
    ck_assert_int_eq(quantile_for(1, 0), 90);
    for (int weight = 1; weight < 100; ++weight) ck_assert_int_le(quantile_for(weight, 9), quantile_for(weight + 1, 9));
}
END_TEST

START_TEST(runs_lie_between_mean_and_high_quantile) {
    Config config;
    config.run_s = 1000, config.run_high_s = 1600;
    ck_assert_int_eq(run_at(config, 50), 1000);
    ck_assert_int_eq(run_at(config, 90), 1600);
    for (int q = 50; q < 90; ++q) ck_assert_int_le(run_at(config, q), run_at(config, q + 1));
    config.run_high_s = 1000;
    ck_assert_int_eq(run_at(config, 90), 1000);
    config.run_s = 0;
    ck_assert_int_eq(run_at(config, 90), 0);
}
END_TEST

START_TEST(a_late_job_counts_more_and_more) {
    HedgeOptions options{0, kDay, 5};
    Job job = job_of(1, 0, 10, 100);
    ck_assert_int_eq(aged_weight(job, 10, options), 100);
    ck_assert_int_eq(aged_weight(job, 10 + kDay, options), 200);
    ck_assert_int_eq(aged_weight(job, 10 + 9 * kDay, options), 1000);
    job.due.reset();
    ck_assert_int_eq(aged_weight(job, kDay, options), 100);
    job.late_micro_h = 0;
    ck_assert_int_eq(aged_weight(job, kDay, options), 0);
    ck_assert_int_eq(aged_weight(job, 2 * kDay, options), 10);
    options.aging_s = 0;
    ck_assert_int_eq(aged_weight(job, 100 * kDay, options), 0);
    job.late_micro_h = INT64_MAX / 2;  // as large as it may be: it never shrinks
    ck_assert_int_eq(aged_weight(job, 100 * kDay, options), INT64_MAX / 2);
}
END_TEST

START_TEST(hedged_problems_have_plans_that_hold) {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        auto snapshot = RandomProblem(seed).make(8, 14, true);
        hedge(snapshot, {0, kHour, 1000000});
        auto errors = check_plan(snapshot, make_plan(snapshot, work_limited(10)));
        ck_assert_msg(errors.empty(), "seed %u: %s", seed, first_line(errors).c_str());
    }
}
END_TEST

// It starts once w (1 + late / aging) passes the 20 an hour of those that come behind it.
START_TEST(no_job_waits_for_ever) {
    ck_assert_int_eq(hours_waited(1000000, 0, 60), -1);  // what would happen without
    int heavy = hours_waited(10000000, kHour, 60), light = hours_waited(1000000, kHour, 60);
    ck_assert_msg(heavy >= 0 && heavy <= 2 + 1 + 1, "weight 10: %d hours", heavy);
    ck_assert_msg(light >= 0 && light <= 2 + 19 + 1, "weight 1: %d hours", light);
    ck_assert_int_le(heavy, light);
    int weightless = hours_waited(0, kHour, 60);
    ck_assert_msg(weightless >= 0 && weightless <= 1 + 19 + 2, "weight 0: %d hours", weightless);
}
END_TEST

int main() {
    return squall::run_suite("hedge",
                             {the_quantile_follows_what_lateness_costs, runs_lie_between_mean_and_high_quantile,
                              a_late_job_counts_more_and_more, hedged_problems_have_plans_that_hold,
                              no_job_waits_for_ever},
                             nullptr, nullptr, 120);
}
