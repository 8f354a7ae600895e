// SPDX-License-Identifier: GPL-3.0-or-later
// What is given cannot be planned away: running and released jobs, reservations, caps and budgets that were lowered
// under what runs already.
#include "src/core/check.h"
#include "tests/unit/plan_options.h"
#include "tests/unit/suite.h"

using namespace squall;

namespace {

constexpr Seconds kNow = 1000000;

Snapshot cluster(int nodes, int gpus, bool rented) {
    Snapshot s;
    s.now = kNow;
    NodeClass c;
    c.name = rented ? "cloud" : "v100";
    c.gpus = gpus;
    c.rented = rented;
    c.shards_per_gpu = 4;
    if (rented) c.price_micro_h = 3600000, c.boot_s = 100, c.release_s = 60;
    s.classes.push_back(c);
    for (int n = 0; n < nodes; ++n)
        s.nodes.push_back({"n" + std::to_string(n + 1), 0, rented ? NodeState::powered_down : NodeState::up, 0, {}});
    return s;
}

Job& add_job(Snapshot& s, Seconds run_s, int nodes = 1, int gpus = 1) {
    Job job;
    job.id = static_cast<std::uint32_t>(s.jobs.size() + 1);
    job.due = s.now;
    job.late_micro_h = 100000000;
    job.configs.push_back({0, nodes, gpus, 0, 0, 0, run_s, run_s});
    s.jobs.push_back(job);
    return s.jobs.back();
}

void run(Snapshot& s, int job, std::vector<int> nodes, Seconds start, Seconds expected_end) {
    for (int n : nodes) {
        s.holds.push_back({n, s.jobs[job].configs[0].gpus, 0, -1, 0, 0, start, expected_end, job});
        s.nodes[n].state = NodeState::up;
        if (s.classes[0].rented) s.nodes[n].leased_at = start;
    }
    s.jobs[job].running = Running{0, std::move(nodes), start, expected_end};
}

Plan plan_of(const Snapshot& s) {
    auto plan = make_plan(s, work_limited(20));
    auto errors = check_plan(s, plan);
    ck_assert_msg(errors.empty(), "%s", first_line(errors).c_str());
    return plan;
}

}  // namespace

START_TEST(a_job_waits_for_the_expected_end_of_the_one_that_runs) {
    auto s = cluster(1, 1, false);
    add_job(s, 500), add_job(s, 500);
    run(s, 0, {0}, kNow - 100, kNow + 400);
    ck_assert_int_eq(plan_of(s).placements[1].start, kNow + 400);
}
END_TEST

START_TEST(an_overrunning_job_is_given_a_tenth_of_its_time_more) {
    auto s = cluster(1, 1, false);
    add_job(s, 500), add_job(s, 500);
    run(s, 0, {0}, kNow - 1000, kNow - 300);
    ck_assert_int_eq(plan_of(s).placements[1].start, kNow + 100);
    s.jobs[0].running->start = s.holds[0].start = kNow - 10;
    ck_assert_int_eq(plan_of(s).placements[1].start, kNow + 5);
}
END_TEST

START_TEST(a_released_job_keeps_its_nodes) {
    auto s = cluster(3, 1, false);
    add_job(s, 500), add_job(s, 500);
    s.jobs[1].pinned_config = 0;
    s.jobs[1].pinned_nodes = {2};
    ck_assert_int_eq(plan_of(s).placements[1].nodes.front(), 2);
}
END_TEST

START_TEST(a_released_job_whose_node_was_taken_is_planned_anew) {
    auto s = cluster(2, 1, false);
    add_job(s, 500);
    s.jobs[0].pinned_config = 0;
    s.jobs[0].pinned_nodes = {1};
    s.holds.push_back({1, 1, 0, -1, 0, 0, kNow - 10, kNow + 9000, -1});
    auto plan = plan_of(s);
    ck_assert_int_eq(plan.placements[0].nodes.front(), 0);
    ck_assert_int_eq(plan.placements[0].start, kNow);
}
END_TEST

START_TEST(a_released_job_counts_against_the_cap_of_its_class) {
    auto s = cluster(4, 1, true);
    s.classes[0].max_nodes = 1;
    add_job(s, 500), add_job(s, 500);
    s.jobs[0].pinned_config = 0;
    s.jobs[0].pinned_nodes = {2};
    auto plan = plan_of(s);
    ck_assert_int_eq(plan.placements[0].nodes.front(), 2);
    ck_assert_int_eq(plan.placements[1].nodes.front(), 2);
    ck_assert_int_ge(plan.placements[1].start, plan.placements[0].end);
}
END_TEST

START_TEST(a_cap_lowered_under_running_jobs_lets_them_run_and_adds_nothing) {
    for (bool group : {false, true}) {
        auto s = cluster(4, 1, true);
        for (int j = 0; j < 4; ++j) add_job(s, 500);
        run(s, 0, {0}, kNow - 100, kNow + 400);
        run(s, 1, {1}, kNow - 100, kNow + 4000);
        if (group)
            s.groups.push_back({"quota", {0}, 1});
        else
            s.classes[0].max_nodes = 1;
        auto plan = plan_of(s);
        ck_assert_int_eq(plan.placements[0].nodes.front(), 0);
        ck_assert_int_eq(plan.placements[1].nodes.front(), 1);
        ck_assert_int_ne(plan.placements[2].start, kNow);
    }
}
END_TEST

START_TEST(a_released_job_is_within_its_budget_by_definition) {
    auto s = cluster(2, 1, true);
    s.budgets.push_back({100000, kForever});
    add_job(s, 5000), add_job(s, 5000);
    s.jobs[0].pinned_config = 0;
    s.jobs[0].pinned_nodes = {0};
    auto plan = plan_of(s);
    ck_assert_int_eq(plan.placements[0].config, 0);
    ck_assert_int_eq(plan.placements[1].config, -1);
    ASSERT_HAS(plan.placements[1].why, "budget");
}
END_TEST

START_TEST(rent_of_tomorrow_does_not_use_up_the_budget_of_today) {
    auto s = cluster(1, 1, true);
    s.budgets.push_back({1000000, kNow + 1000});
    add_job(s, 5000).release = kNow + 2000;
    add_job(s, 500);
    auto plan = plan_of(s);
    ck_assert_int_eq(plan.unplaced, 0);
    ck_assert_int_eq(plan.placements[1].start, kNow);
}
END_TEST

START_TEST(nothing_is_planned_into_a_reservation_or_a_drained_node) {
    auto s = cluster(2, 1, false);
    s.nodes[0].state = NodeState::unavailable;
    s.nodes[0].ready_at = kForever;
    s.holds.push_back({1, 1, 0, -1, 0, 0, kNow + 300, kNow + 900, -1});
    add_job(s, 500);
    auto plan = plan_of(s);
    ck_assert_int_eq(plan.placements[0].nodes.front(), 1);
    ck_assert_int_eq(plan.placements[0].start, kNow + 900);
}
END_TEST

START_TEST(a_share_does_not_slip_in_beside_a_running_one_under_a_reservation) {
    auto s = cluster(1, 1, false);
    for (int j = 0; j < 2; ++j) {
        auto& job = add_job(s, 500);
        job.configs[0].gpus = 0, job.configs[0].shards = 1;
    }
    run(s, 0, {0}, kNow - 100, kNow + 400);
    s.holds[0].shards = 1, s.holds[0].gpu_index = 0;
    s.holds.push_back({0, 1, 0, -1, 0, 0, kNow + 100, kNow + 2000, -1});  // begins before the share is expected to end
    ck_assert_int_eq(plan_of(s).placements[1].start, kNow + 2000);
}
END_TEST

START_TEST(ten_thousand_jobs_that_fit_nowhere_are_counted) {
    auto s = cluster(1, 1, false);
    for (int j = 0; j < 10000; ++j) add_job(s, 500, 2);
    auto plan = plan_of(s);
    ck_assert_int_eq(plan.unplaced, 10000);
    ck_assert_int_eq(plan.cost.total(), 0);
}
END_TEST

int main() {
    return squall::run_suite(
        "given",
        {a_job_waits_for_the_expected_end_of_the_one_that_runs, an_overrunning_job_is_given_a_tenth_of_its_time_more,
         a_released_job_keeps_its_nodes, a_released_job_whose_node_was_taken_is_planned_anew,
         a_released_job_counts_against_the_cap_of_its_class,
         a_cap_lowered_under_running_jobs_lets_them_run_and_adds_nothing,
         a_released_job_is_within_its_budget_by_definition, rent_of_tomorrow_does_not_use_up_the_budget_of_today,
         nothing_is_planned_into_a_reservation_or_a_drained_node,
         a_share_does_not_slip_in_beside_a_running_one_under_a_reservation,
         ten_thousand_jobs_that_fit_nowhere_are_counted});
}
