// SPDX-License-Identifier: GPL-3.0-or-later
// Properties of plans on random problems: they hold before the independent checker, are bounded, repeatable and stable.
#include "src/core/check.h"
#include "src/core/find.h"
#include "src/core/instance_json.h"
#include "src/core/planner.h"
#include "src/core/refine.h"
#include "tests/unit/plan_options.h"
#include "tests/unit/random_snapshot.h"
#include "tests/unit/suite.h"

using namespace squall;

START_TEST(plans_hold_before_the_checker) {
    for (unsigned seed = 1; seed <= 250; ++seed) {
        auto snapshot = RandomProblem(seed).make(8, 14, true);
        auto plan = make_plan(snapshot, work_limited(30));
        auto errors = check_plan(snapshot, plan);
        ck_assert_msg(errors.empty(), "seed %u: %s", seed, first_line(errors).c_str());
        ck_assert_msg(plan.bound <= plan.cost.total(), "seed %u", seed);
    }
}
END_TEST

START_TEST(plain_slurm_order_holds_before_the_checker) {
    for (unsigned seed = 1; seed <= 250; ++seed) {
        auto snapshot = RandomProblem(seed).make(8, 14, true);
        auto errors = check_plan(snapshot, fifo_plan(snapshot));
        ck_assert_msg(errors.empty(), "seed %u: %s", seed, first_line(errors).c_str());
    }
}
END_TEST

START_TEST(refined_plans_hold_and_cost_no_more) {
    for (unsigned seed = 1; seed <= 25; ++seed) {
        auto snapshot = RandomProblem(seed).make(6, 10, true);
        auto options = work_limited(0);
        options.improve = false;
        auto plain = make_plan(snapshot, options);
        options.refine = true;
        options.time_ms = 2000;
        auto refined = make_plan(snapshot, options);
        auto errors = check_plan(snapshot, refined);
        ck_assert_msg(errors.empty(), "seed %u: %s (%s)", seed, first_line(errors).c_str(),
                      refined.refine_note.c_str());
        ck_assert_msg(refined.cost.total() <= plain.cost.total(), "seed %u", seed);
    }
}
END_TEST

START_TEST(same_seed_and_work_limit_same_plan) {
    for (unsigned seed = 1; seed <= 30; ++seed) {
        auto snapshot = RandomProblem(seed).make(8, 14, true);
        ck_assert_msg(differences(make_plan(snapshot, work_limited(50)), make_plan(snapshot, work_limited(50))) == 0,
                      "seed %u", seed);
    }
}
END_TEST

START_TEST(more_work_never_costs_more) {
    for (unsigned seed = 1; seed <= 30; ++seed) {
        auto snapshot = RandomProblem(seed).make(8, 14, true);
        auto none = work_limited(0);
        none.improve = false;
        Micro before = make_plan(snapshot, none).cost.total();
        auto more = make_plan(snapshot, work_limited(200));
        if (more.unplaced == 0) ck_assert_msg(more.cost.total() <= before, "seed %u", seed);
    }
}
END_TEST

START_TEST(checker_refuses_each_kind_of_damage) {
    int caught[5] = {};
    for (unsigned seed = 1; seed <= 60; ++seed) {
        auto snapshot = RandomProblem(seed).make(6, 10, false);
        auto good = make_plan(snapshot, work_limited(10));
        for (int kind = 0; kind < 5; ++kind) {
            auto bad = good;
            for (auto& p : bad.placements) {
                if (p.config < 0) continue;
                if (kind == 0) p.start = snapshot.now - 1;
                if (kind == 1) p.end -= 1;
                if (kind == 2) p.nodes.push_back(p.nodes.front());
                if (kind == 3) p.cost.late += 1000, bad.cost.late += 1000;
                if (kind == 4) p.nodes.front() = static_cast<int>(snapshot.nodes.size());
                break;
            }
            caught[kind] += !check_plan(snapshot, bad).empty();
        }
    }
    for (int kind = 0; kind < 5; ++kind)
        ck_assert_msg(caught[kind] >= 55, "kind %d caught %d times of 60", kind, caught[kind]);
}
END_TEST

START_TEST(checker_refuses_two_jobs_on_one_gpu) {
    Snapshot s;
    s.now = 1000;
    NodeClass c;
    c.name = "v100";
    c.gpus = 1;
    s.classes.push_back(c);
    s.nodes.push_back({"n1", 0, NodeState::up, 0, {}});
    for (std::uint32_t id : {1u, 2u}) {
        Job job;
        job.id = id;
        job.configs.push_back({0, 1, 1, 0, 0, 0, 100, 100});
        s.jobs.push_back(job);
    }
    auto plan = make_plan(s, work_limited(10));
    ck_assert_int_eq(check_plan(s, plan).size(), 0);
    ck_assert_int_eq(std::max(plan.placements[0].start, plan.placements[1].start), 1100);
    plan.placements[0].start = plan.placements[1].start = 1000;
    plan.placements[0].end = plan.placements[1].end = 1100;
    ASSERT_HAS(first_line(check_plan(s, plan)), "2 GPUs used of 1");
}
END_TEST

START_TEST(broken_solver_costs_the_refinement_only) {
    auto snapshot = RandomProblem(7).make(6, 10, false);
    for (auto fault : {SolverFault::abort, SolverFault::hang, SolverFault::eat_memory}) {
        Schedule schedule(snapshot, true);
        for (int j = 0; j < static_cast<int>(snapshot.jobs.size()); ++j)
            if (auto found = find_best(schedule, j, {})) schedule.place(j, found->spot);
        Micro before = schedule.cost();
        RefineOptions options;
        options.time_ms = 300;
        options.mem_mb = 600;
        options.fault = fault;
        auto note = refine(schedule, options);
        ck_assert_msg(schedule.cost() == before, "%s", note.c_str());
        ck_assert_msg(note.find("saved") == std::string::npos, "%s", note.c_str());
    }
}
END_TEST

START_TEST(json_says_the_same_problem) {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        auto snapshot = RandomProblem(seed).make(8, 14, true);
        auto text = snapshot_to_json(snapshot);
        auto back = snapshot_from_json(text, "test");
        ASSERT_TEXT(back.error, "");
        ASSERT_TEXT(snapshot_to_json(back.snapshot), text);
    }
}
END_TEST

START_TEST(bad_json_is_refused_with_the_place) {
    ASSERT_HAS(snapshot_from_json("{", "x.json").error, "x.json:1:");
    ASSERT_HAS(snapshot_from_json("{\"nodes\":[{\"class_id\":3}]}", "x").error, "nodes[0].class_id is 3");
    ASSERT_HAS(snapshot_from_json("{\"classes\":[{\"gpus\":-1}]}", "x").error,
               "classes[0].gpus must be a whole number from 0");
    ASSERT_HAS(snapshot_from_json("{\"jobs\":[{\"burst\":\"maybe\"}]}", "x").error, "jobs[0].burst must be one of");
}
END_TEST

int main() {
    return squall::run_suite(
        "planner",
        {plans_hold_before_the_checker, plain_slurm_order_holds_before_the_checker, refined_plans_hold_and_cost_no_more,
         same_seed_and_work_limit_same_plan, more_work_never_costs_more, checker_refuses_each_kind_of_damage,
         checker_refuses_two_jobs_on_one_gpu, broken_solver_costs_the_refinement_only, json_says_the_same_problem,
         bad_json_is_refused_with_the_place},
        nullptr, nullptr, 300);
}
