// SPDX-License-Identifier: GPL-3.0-or-later
// Replanning is stable: what does not change in the world does not change in the plan.
#include "src/core/check.h"
#include "tests/unit/plan_options.h"
#include "tests/unit/random_snapshot.h"
#include "tests/unit/suite.h"

using namespace squall;

namespace {

bool clearly_cheaper(const Plan& plan, const Plan& than) {
    return plan.unplaced < than.unplaced || plan.cost.total() < than.cost.total() - than.cost.total() / 1000;
}

// The world after all that the plan starts now has been started.
Snapshot started(Snapshot s, const Plan& plan) {
    for (const auto& p : plan.placements) {
        auto& job = s.jobs[p.job];
        if (job.running || !p.starts_now(s.now)) continue;
        const auto& config = job.configs[p.config];
        job.running = Running{p.config, p.nodes, p.start, p.end};
        job.pinned_config.reset();
        job.pinned_nodes.clear();
        for (int n : p.nodes) {
            s.holds.push_back(
                {n, config.gpus, config.shards, p.gpu_index, config.cpus, config.mem_mb, p.start, p.end, p.job});
            auto& node = s.nodes[n];
            if (node.state != NodeState::powered_down) continue;
            node.state = NodeState::up;
            if (s.classes[node.class_id].rented) node.leased_at = s.now;
        }
    }
    return s;
}

}  // namespace

START_TEST(unchanged_world_keeps_its_plan) {
    for (unsigned seed = 1; seed <= 100; ++seed) {
        auto snapshot = RandomProblem(seed).make(8, 14, true);
        auto first = make_plan(snapshot, work_limited(50));
        auto second = make_plan(snapshot, work_limited(50), &first);
        ck_assert_msg(second.cost.total() <= first.cost.total() || second.unplaced < first.unplaced, "seed %u", seed);
        ck_assert_msg(differences(first, second) == 0 || clearly_cheaper(second, first), "seed %u: %d moved", seed,
                      differences(first, second));
    }
}
END_TEST

START_TEST(time_alone_moves_almost_nothing) {
    int moved = 0, jobs = 0;
    for (unsigned seed = 1; seed <= 100; ++seed) {
        auto snapshot = RandomProblem(seed).make(8, 14, true);
        auto first = make_plan(snapshot, work_limited(50));
        auto later = started(snapshot, first);
        later.now += 7;
        auto second = make_plan(later, work_limited(50), &first);
        ck_assert_msg(check_plan(later, second).empty(), "seed %u", seed);
        moved += differences(first, second);
        jobs += static_cast<int>(snapshot.jobs.size());
    }
    ck_assert_msg(moved * 100 <= jobs * 5, "%d of %d jobs moved in 7 s", moved, jobs);
}
END_TEST

START_TEST(one_more_job_moves_few) {
    int moved = 0, jobs = 0;
    for (unsigned seed = 1; seed <= 100; ++seed) {
        auto snapshot = RandomProblem(seed).make(8, 14, true);
        auto first = make_plan(snapshot, work_limited(50));
        Job job = snapshot.jobs.front();
        job.id = 999;
        job.running.reset();
        job.pinned_config.reset();
        job.pinned_nodes.clear();
        snapshot.jobs.push_back(job);
        auto second = make_plan(snapshot, work_limited(50), &first);
        ck_assert_msg(check_plan(snapshot, second).empty(), "seed %u", seed);
        moved += differences(first, second);
        jobs += static_cast<int>(snapshot.jobs.size());
    }
    ck_assert_msg(moved * 100 <= jobs * 15, "%d of %d jobs moved for one that came", moved, jobs);
}
END_TEST

START_TEST(what_ended_early_is_used) {
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
        job.due = 5000;
        job.late_micro_h = 1000000;
        job.configs.push_back({0, 1, 1, 0, 0, 0, 600, 600});
        s.jobs.push_back(job);
    }
    auto plan = make_plan(s, work_limited(10));
    int first = plan.placements[0].start == 1000 ? 0 : 1;
    ck_assert_int_eq(plan.placements[1 - first].start, 1600);
    s.jobs.erase(s.jobs.begin() + first);
    s.now = 1200;
    auto next = make_plan(s, work_limited(10), &plan);
    ck_assert_int_eq(next.placements[0].start, 1200);
}
END_TEST

START_TEST(a_plan_of_other_jobs_is_no_obstacle) {
    for (unsigned seed = 1; seed <= 40; ++seed) {
        auto snapshot = RandomProblem(seed).make(8, 14, true), other = RandomProblem(seed + 1).make(8, 14, true);
        auto foreign = make_plan(other, work_limited(10));
        auto plan = make_plan(snapshot, work_limited(10), &foreign);
        auto errors = check_plan(snapshot, plan);
        ck_assert_msg(errors.empty(), "seed %u: %s", seed, first_line(errors).c_str());
        Plan empty;
        ck_assert(check_plan(snapshot, make_plan(snapshot, work_limited(10), &empty)).empty());
    }
}
END_TEST

int main() {
    return squall::run_suite("replan",
                             {unchanged_world_keeps_its_plan, time_alone_moves_almost_nothing, one_more_job_moves_few,
                              what_ended_early_is_used, a_plan_of_other_jobs_is_no_obstacle},
                             nullptr, nullptr, 300);
}
