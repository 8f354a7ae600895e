// SPDX-License-Identifier: GPL-3.0-or-later
// squalld's cycle on a fake Slurm with the real planner, checker and ledger: it starts what is due, goes on without
// slurmctld or ledger, backs off, and a new process goes on where a killed one was.
#include <algorithm>
#include <cstring>
#include <ctime>

#include "src/core/configs.h"
#include "src/squalld/fingerprint.h"
#include "src/squalld/loop.h"
#include "src/squalld/outcome.h"
#include "tests/unit/fake_slurm.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"

using namespace squall;
using namespace squall::slurm;
using namespace squall::test;

namespace {

// The loop reads the real clock, so jobs are submitted and due around the real now.
RawJob job_now(std::uint32_t id, Seconds due_in, const std::string& more = "") {
    Seconds now = std::time(nullptr);
    RawJob job = make_job(id, "due=" + std::to_string(now + due_in) + more);
    job.submit_at = now - 5;
    job.begin_at = now + 300;
    return job;
}

struct World {
    explicit World(const std::vector<RawJob>& jobs) : scratch("loop"), slurm(make_cluster()), daemon(-1) {
        slurm.cluster().jobs = jobs;
        conf = make_conf();
        conf.state_dir = conf.log_dir = scratch.dir();
        conf.plan_time_ms = 100;
        conf.poll_ms = 100;
        log_open(scratch.path("log"), LogLevel::debug);
    }
    Scratch scratch;
    FakeSlurm slurm;
    Daemon daemon;
    Conf conf;

    std::string word(std::uint32_t id, const char* key) {
        return plan_word(*parse_admin_comment(slurm.find(id)->admin_comment), key);
    }
    std::size_t logged(const std::string& part) {
        std::string text = read_file(scratch.path("log"));
        std::size_t count = 0;
        for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) count++;
        return count;
    }
};

}  // namespace

START_TEST(a_job_with_room_is_started_recorded_and_the_cycle_confirmed) {
    World world({job_now(1, 7200)});
    Loop loop(world.conf, world.slurm, world.daemon);
    ck_assert(loop.cycle());
    ASSERT_TEXT(world.word(1, "state"), "released");
    ck_assert_int_le(world.slurm.find(1)->begin_at, std::time(nullptr));
    ck_assert(std::filesystem::exists(world.scratch.path("confirmed")));
    Ledger ledger = Ledger::open_read_only(world.conf.ledger_path());
    ck_assert_int_eq(static_cast<int>(ledger.jobs().size()), 1);
    ck_assert(original_from_json(ledger.jobs()[0].asked)->shape == job_now(1, 0).shape);
    ASSERT_TEXT(ledger.last_decision(1, world.slurm.find(1)->submit_at)->state, "released");
    ck_assert_int_eq(ledger.last_cycle()->starts, 1);
}
END_TEST

START_TEST(a_job_without_room_waits_parked_until_the_running_one_ends) {
    RawJob running = job_now(1, 7200, " burst=never");
    running.shape.tres_per_node = "gres:gpu:t4:2";
    start(running, "t1", "gpu:t4:2(IDX:0-1)", std::time(nullptr) - 600);
    RawJob waiting = job_now(2, 20000, " burst=never");
    waiting.shape.tres_per_node = "gres:gpu:t4:2";
    World world({running, waiting});
    Loop loop(world.conf, world.slurm, world.daemon);
    ck_assert(loop.cycle());
    ASSERT_TEXT(world.word(2, "state"), "planned");
    ck_assert_int_ge(world.slurm.find(2)->begin_at, running.end_at);
    ck_assert(world.slurm.find(2)->shape == waiting.shape);
    // It ends early: the next cycle starts the other one.
    world.slurm.find(1)->state = JobState::complete;
    world.slurm.find(1)->end_at = std::time(nullptr);
    Loop again(world.conf, world.slurm, world.daemon);
    ck_assert(again.cycle());
    ASSERT_TEXT(world.word(2, "state"), "released");
    Ledger ledger = Ledger::open_read_only(world.conf.ledger_path());
    ck_assert_int_eq(static_cast<int>(ledger.outcomes().size()), 1);
    ASSERT_TEXT(ledger.outcomes()[0].config, "1×2 t4");
}
END_TEST

START_TEST(slurmctld_away_is_logged_once_and_again_when_it_is_back) {
    World world({job_now(1, 7200)});
    world.slurm.down = true;
    Loop loop(world.conf, world.slurm, world.daemon);
    for (int i = 0; i < 3; i++) ck_assert(!loop.cycle());
    ck_assert_int_eq(static_cast<int>(world.logged("connect failure")), 1);
    ck_assert(!std::filesystem::exists(world.scratch.path("confirmed")));
    world.slurm.down = false;
    ck_assert(loop.cycle());
    ck_assert_int_eq(static_cast<int>(world.logged("slurmctld answers again")), 1);
}
END_TEST

START_TEST(a_ledger_that_cannot_be_opened_does_not_stop_the_planning) {
    World world({job_now(1, 7200)});
    std::filesystem::create_directory(world.conf.ledger_path());
    Loop loop(world.conf, world.slurm, world.daemon);
    ck_assert(loop.cycle());
    ck_assert(loop.cycle());
    ASSERT_TEXT(world.word(1, "state"), "released");
    ck_assert_int_eq(static_cast<int>(world.logged("planning goes on without it")), 1);
}
END_TEST

START_TEST(a_start_that_slurm_refuses_is_logged_once_and_not_tried_again_at_once) {
    World world({job_now(1, 7200, " burst=never")});
    int tries = 0;
    world.slurm.refuse = [&](const JobUpdate& update) { return update.shape.has_value() && ++tries > 0; };
    Loop loop(world.conf, world.slurm, world.daemon);
    for (int i = 0; i < 3; i++) loop.cycle();
    ck_assert_int_eq(tries, 1);
    ck_assert_int_eq(static_cast<int>(world.logged("Requested node configuration is not available")), 1);
    ASSERT_TEXT(world.word(1, "state"), "planned");
}
END_TEST

START_TEST(a_released_job_that_slurm_does_not_start_is_parked_and_waits_longer_each_time) {
    World world({job_now(1, 7200, " burst=never")});
    Loop loop(world.conf, world.slurm, world.daemon);
    loop.cycle();
    RawJob& job = *world.slurm.find(1);
    auto make_stuck = [&] {
        AdminComment comment = *parse_admin_comment(job.admin_comment);
        comment.plan["since"] = std::to_string(std::time(nullptr) - kStuckResources);
        job.admin_comment = format_admin_comment(comment);
        job.reason = "Resources";
    };
    make_stuck();
    loop.cycle();
    ASSERT_TEXT(world.word(1, "state"), "planned");
    ck_assert(job.shape == job_now(1, 0).shape);
    ck_assert_int_gt(job.begin_at, std::time(nullptr) + 9);
    ck_assert_int_eq(static_cast<int>(world.logged("parked again for 10 s")), 1);
    // Another job ends: no need to wait for the rest of it.
    RawJob other = job_now(2, 7200);
    other.admin_comment.clear();
    world.slurm.cluster().jobs.push_back(start(other, "n1", "gpu:v100:1(IDX:0)"));
    loop.cycle();
    ASSERT_TEXT(plan_word(*parse_admin_comment(world.slurm.find(1)->admin_comment), "state"), "planned");
    world.slurm.cluster().jobs.pop_back();
    loop.cycle();
    ASSERT_TEXT(world.word(1, "state"), "released");
}
END_TEST

START_TEST(a_new_process_leaves_what_the_killed_one_released_in_its_place) {
    World world({job_now(1, 7200, " burst=never")});
    std::string nodes;
    {
        Loop killed(world.conf, world.slurm, world.daemon);
        killed.cycle();
        nodes = world.word(1, "nodes");
    }
    std::size_t sent = world.slurm.sent.size();
    Loop next(world.conf, world.slurm, world.daemon);
    ck_assert(next.cycle());
    ck_assert_int_eq(static_cast<int>(world.slurm.sent.size()), static_cast<int>(sent));
    ASSERT_TEXT(world.word(1, "nodes"), nodes);
    // … and knows from the ledger what shape to put back.
    world.slurm.find(1)->begin_at = std::time(nullptr) + 121;
    world.slurm.find(1)->held = world.slurm.find(1)->launch_failed_held = true;
    ck_assert(next.cycle());
    ck_assert(world.slurm.find(1)->shape == job_now(1, 0).shape);
    ck_assert(!world.slurm.find(1)->held);
}
END_TEST

START_TEST(a_dry_run_changes_nothing_and_says_what_it_would_do) {
    World world({job_now(1, 7200)});
    world.conf.dry_run = true;
    Loop loop(world.conf, world.slurm, world.daemon);
    loop.cycle();
    loop.cycle();
    ck_assert(world.slurm.sent.empty());
    ck_assert_int_eq(static_cast<int>(world.logged("DryRun: would release job 1")), 1);
}
END_TEST

START_TEST(what_squall_writes_itself_does_not_make_the_cluster_look_changed) {
    Cluster cluster = make_cluster();
    cluster.jobs = {make_job(1)};
    std::string before = fingerprint(cluster);
    cluster.jobs[0].begin_at += 100;
    cluster.jobs[0].admin_comment += " start=5";
    cluster.jobs[0].reason = "BeginTime";
    ck_assert(fingerprint(cluster) == before);
    auto changed = [&](auto&& change) {
        Cluster other = cluster;
        change(other);
        return fingerprint(other) != before;
    };
    ck_assert(changed([](Cluster& c) { c.jobs[0].state = JobState::cancelled; }));
    ck_assert(changed([](Cluster& c) { c.jobs[0].held = true; }));
    ck_assert(changed([](Cluster& c) { c.jobs[0].admin_comment = "squall: due=1800000000 | state=parked"; }));
    ck_assert(changed([](Cluster& c) { c.jobs[0].time_limit_s = 60; }));
    ck_assert(changed([](Cluster& c) { c.nodes[0].drained = true; }));
    ck_assert(changed([](Cluster& c) { c.nodes[3].powering_up = true; }));
    ck_assert(changed([](Cluster& c) { c.partitions[0].starts_jobs = false; }));
    ck_assert(changed([](Cluster& c) { c.reservations.emplace_back(); }));
}
END_TEST

namespace {

// Job 1 finished on `node`; prices it.
std::optional<OutcomeRow> priced(RawJob job, Conf conf, const char* node, const char* gres, Seconds begin, Seconds end,
                                 std::vector<Lease> leases = {}, std::vector<OutcomeRow> earlier = {}) {
    start(job, node, gres, begin).state = JobState::complete;
    job.end_at = end;
    Cluster cluster = make_cluster();
    cluster.jobs = {job};
    Reading reading = read_cluster(cluster, conf, {}, kNow, 0);
    return price_outcome({.view = reading.finished.at(0),
                          .conf = conf,
                          .snapshot = reading.snapshot,
                          .release = std::nullopt,
                          .leases = std::move(leases),
                          .earlier = std::move(earlier)});
}

Conf priced_conf() {
    Conf conf = make_conf();
    NodeClass& v100 = conf.classes[0].spec;
    v100.idle_watts = 350;
    v100.busy_watts = {530, 700, 870, 1040};
    v100.tariff = {{0, 1000000}};  // 1.00 a kWh
    conf.classes[2].spec.release_s = 60;
    conf.classes[2].spec.billing_step_s = 60;
    return conf;
}

}  // namespace

START_TEST(an_outcome_s_lateness_and_energy_follow_the_plan_s_rules) {
    RawJob job = make_job(1, "due=" + std::to_string(kNow - 1800) + " late-cost=10");
    auto outcome = priced(job, priced_conf(), "n1", "gpu:v100:2(IDX:0-1)", kNow - 3600, kNow);
    ck_assert(outcome.has_value());
    ck_assert_int_eq(outcome->late, 5000000);
    ck_assert_int_eq(outcome->energy, 350000);  // (700 − 350) W for an hour
    ck_assert_int_eq(outcome->rent, 0);
    ASSERT_TEXT(outcome->config, "1×2 v100");
    ASSERT_TEXT(outcome->slurm_state, "COMPLETED");
}
END_TEST

START_TEST(a_small_job_pays_its_share_of_one_gpu) {
    auto outcome = priced(make_job(1), priced_conf(), "n1", "shard:1(IDX:0)", kNow - 3600, kNow);
    ck_assert_int_eq(outcome->energy, 45000);  // a quarter of (530 − 350) W
    ck_assert(outcome->shared_gpu);
    ASSERT_TEXT(outcome->config, "25% v100");
}
END_TEST

START_TEST(the_rents_of_jobs_on_one_lease_add_up_to_its_cost) {
    Lease lease;
    lease.node = "c1", lease.launched_at = kNow - 3600;
    Conf conf = priced_conf();
    auto first = priced(make_job(1), conf, "c1", "gpu:a100:4(IDX:0-3)", kNow - 3480, kNow - 1800, {lease});
    auto second = priced(make_job(1), conf, "c1", "gpu:a100:4(IDX:0-3)", kNow - 1770, kNow - 60, {lease}, {*first});
    ck_assert(first->rented && second->rented);
    Micro whole = lease_cost(3060000, 60, 0, kNow - 3600, kNow);
    Micro sum = first->rent + second->rent;
    ck_assert_int_le(std::abs(sum - whole), 3060000 / 60);  // within one billing step
    ck_assert_int_gt(second->rent, 0);
}
END_TEST

START_TEST(a_job_that_never_ran_has_no_outcome) {
    Cluster cluster = make_cluster();
    cluster.jobs = {make_job(1)};
    cluster.jobs[0].state = JobState::cancelled;
    Conf conf = make_conf();
    Reading reading = read_cluster(cluster, conf, {}, kNow, 0);
    ck_assert(!price_outcome({.view = reading.finished.at(0),
                              .conf = conf,
                              .snapshot = reading.snapshot,
                              .release = std::nullopt,
                              .leases = {},
                              .earlier = {}}));
}
END_TEST

int main() {
    return run_suite("loop",
                     {a_job_with_room_is_started_recorded_and_the_cycle_confirmed,
                      a_job_without_room_waits_parked_until_the_running_one_ends,
                      slurmctld_away_is_logged_once_and_again_when_it_is_back,
                      a_ledger_that_cannot_be_opened_does_not_stop_the_planning,
                      a_start_that_slurm_refuses_is_logged_once_and_not_tried_again_at_once,
                      a_released_job_that_slurm_does_not_start_is_parked_and_waits_longer_each_time,
                      a_new_process_leaves_what_the_killed_one_released_in_its_place,
                      a_dry_run_changes_nothing_and_says_what_it_would_do,
                      what_squall_writes_itself_does_not_make_the_cluster_look_changed,
                      an_outcome_s_lateness_and_energy_follow_the_plan_s_rules, a_small_job_pays_its_share_of_one_gpu,
                      the_rents_of_jobs_on_one_lease_add_up_to_its_cost, a_job_that_never_ran_has_no_outcome});
}
