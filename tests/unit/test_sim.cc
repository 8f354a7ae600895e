// SPDX-License-Identifier: GPL-3.0-or-later
// squall-sim's parts: generated problems are repeatable and plannable, reports add up, ledgers become problems.
#include <algorithm>

#include "src/core/check.h"
#include "src/core/instance_json.h"
#include "src/core/json.h"
#include "src/core/ledger.h"
#include "src/sim/from_ledger.h"
#include "src/sim/generate.h"
#include "src/sim/solve.h"
#include "tests/unit/plan_options.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"

using namespace squall;
using namespace squall::sim;

namespace {

Snapshot small_cluster() {
    Snapshot s;
    s.now = 5000;
    NodeClass local, cloud;
    local.name = local.gpu_type = "v100", local.gpus = 2, local.shards_per_gpu = 4;
    cloud.name = cloud.gpu_type = "a100", cloud.gpus = 2, cloud.rented = true, cloud.price_micro_h = 3000000;
    s.classes = {local, cloud};
    s.nodes.push_back({"n1", 0, NodeState::up, 0, {}});
    s.nodes.push_back({"c1", 1, NodeState::up, 0, 4000});
    Job job;  // in the dump it runs already
    job.id = 7;
    job.release = 1000;
    job.due = 3000;
    job.late_micro_h = 1000000;
    job.configs.push_back({0, 1, 1, 0, 1, 0, 500, 500});
    job.running = Running{0, {0}, 4900, 5400};
    s.jobs.push_back(job);
    s.holds.push_back({0, 1, 0, -1, 1, 0, 4900, 5400, 0});
    return s;
}

constexpr const char* kAsked =
    R"({"cpus":1,"cpus_per_node":1,"max_nodes":0,"min_nodes":1,"partition":"gpu","req_nodes":"","tasks":1,)"
    R"("tasks_per_node":0,"tres_per_job":"","tres_per_node":"gres:gpu:1","tres_per_socket":"","tres_per_task":""})";

JobRow row(std::uint32_t id, Seconds submit, const char* request, const char* asked) {
    return {id, submit, "user", "account", "gpu", "name", request, asked};
}

}  // namespace

START_TEST(the_same_seed_gives_the_same_problem) {
    GenerateOptions options;
    auto text = snapshot_to_json(generate(options));
    ASSERT_TEXT(snapshot_to_json(generate(options)), text);
    options.seed = 2;
    ck_assert(snapshot_to_json(generate(options)) != text);
    ASSERT_TEXT(snapshot_from_json(text, "generated").error, "");
}
END_TEST

START_TEST(contended_problems_are_contended_and_can_be_planned) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
        GenerateOptions options;
        options.nodes = 40, options.jobs = 40, options.contended = true, options.seed = seed;
        auto snapshot = generate(options);
        auto plan = make_plan(snapshot, work_limited(100));
        ck_assert_msg(check_plan(snapshot, plan).empty(), "seed %u", seed);
        ck_assert_int_eq(plan.unplaced, 0);
        ck_assert_msg(plan.cost.late > 0, "seed %u: nothing is late", seed);
        ck_assert(plan.bound > 0 && plan.bound <= plan.cost.total());
    }
}
END_TEST

START_TEST(a_report_adds_up) {
    GenerateOptions options;
    options.nodes = 20, options.jobs = 20;
    SolveOptions solving;
    solving.plan = work_limited(20);
    solving.json = true;
    for (bool fifo : {false, true}) {
        solving.fifo = fifo;
        auto report = solve(generate(options), solving);
        ck_assert_int_eq(report.errors.size(), 0);
        Json root(json_loads(report.text.c_str(), 0, nullptr));
        auto number = [&](const char* key) { return json_number_value(json_object_get(root.get(), key)); };
        ck_assert_double_eq_tol(number("cost"), number("late") + number("rent") + number("energy"), 1e-6);
        ck_assert_int_eq(json_integer(root.get(), "local") + json_integer(root.get(), "rented"), 20);
        ck_assert_int_eq(json_integer(root.get(), "jobs"), 20);
        ck_assert(number("cost") > 0 && number("peak_rss_mb") > 1);
        if (!fifo) ck_assert(number("cost") <= number("greedy_cost") && number("bound") > 0);
    }
}
END_TEST

START_TEST(a_ledger_becomes_a_problem_from_the_first_submit_on) {
    Scratch scratch("sim");
    write_file(scratch.path("dump.json"), snapshot_to_json(small_cluster()));
    write_file(scratch.path("squall.conf"),
               "NodeClass=v100 Nodes=n1 GpuType=v100\nNodeClass=a100 Nodes=c1 GpuType=a100 Rented=yes Price=3\n"
               "Partition=gpu Manage=due BurstTo=cloud LateCost=20\n");
    {
        auto ledger = Ledger::open(scratch.path("ledger.db"));
        ledger.put_job(row(7, 1000, "due=3000 late-cost=1", kAsked));
        ledger.put_job(row(8, 1200, "runtime=v100:1=600s;a100:1=300s", kAsked));
        ledger.put_job(row(9, 1300, "", kAsked));  // known only from how long it took
        ledger.put_job(row(10, 1400, "", kAsked));
        ledger.put_job(row(11, 1500, "", "{}"));
        OutcomeRow outcome;
        outcome.job_id = 9, outcome.submit_at = 1300, outcome.start = 2000, outcome.end = 2700;
        ledger.put_outcome(outcome);
    }
    auto result = from_ledger({scratch.path("ledger.db"), {scratch.path("dump.json")}, scratch.path("squall.conf")});
    ASSERT_TEXT(result.error, "");
    const auto& s = result.snapshot;
    ck_assert_int_eq(s.now, 1000);
    ck_assert_int_eq(s.jobs.size(), 3);
    ck_assert_int_eq(s.holds.size(), 0);
    ck_assert(s.nodes[1].state == NodeState::powered_down && !s.nodes[1].leased_at);
    ck_assert(!s.jobs[0].running && s.jobs[0].due == 3000);
    ck_assert_int_eq(s.jobs[1].configs.size(), 2);
    ck_assert_int_eq(s.jobs[1].configs[0].run_s, 600);
    ck_assert_int_eq(s.jobs[1].configs[1].run_s, 300);
    ck_assert_int_eq(s.jobs[1].late_micro_h, 20000000);
    ck_assert_int_eq(s.jobs[2].configs[0].run_s, 700);
    ck_assert_int_eq(result.notes.size(), 2);
    ASSERT_HAS(result.notes[0], "job 10 is left out: no run time is known");
    ASSERT_HAS(result.notes[1], "job 11 is left out: its shape as asked");
    auto plan = fifo_plan(s);
    ck_assert_int_eq(check_plan(s, plan).size(), 0);
    ck_assert_int_eq(plan.placements[1].start, 1200);
}
END_TEST

START_TEST(what_cannot_be_read_is_named) {
    Scratch scratch("sim");
    auto other = small_cluster();
    other.nodes[0].name = "n9";
    write_file(scratch.path("a.json"), snapshot_to_json(small_cluster()));
    write_file(scratch.path("b.json"), snapshot_to_json(other));
    auto error_of = [&](std::vector<std::string> dumps) {
        return from_ledger({scratch.path("ledger.db"), std::move(dumps), ""}).error;
    };
    ASSERT_HAS(error_of({scratch.path("a.json")}), "ledger.db");
    ASSERT_HAS(error_of({scratch.path("none.json")}), "none.json: cannot be read");
    ASSERT_HAS(error_of({scratch.path("a.json"), scratch.path("b.json")}), "b.json: other nodes or classes");
}
END_TEST

int main() {
    return squall::run_suite(
        "sim",
        {the_same_seed_gives_the_same_problem, contended_problems_are_contended_and_can_be_planned, a_report_adds_up,
         a_ledger_becomes_a_problem_from_the_first_submit_on, what_cannot_be_read_is_named},
        nullptr, nullptr, 120);
}
