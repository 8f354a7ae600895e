// SPDX-License-Identifier: GPL-3.0-or-later
// Slurm's picture → Snapshot: which jobs are planned, with what, on which nodes, and what is taken from them.
#include <numeric>

#include "src/core/configs.h"
#include "src/slurm/eligibility.h"
#include "src/slurm/reader.h"
#include "tests/unit/fake_slurm.h"
#include "tests/unit/suite.h"

using namespace squall;
using namespace squall::slurm;
using namespace squall::test;

namespace {

struct World {
    Cluster cluster = make_cluster();
    Conf conf = make_conf();
    Knowledge knowledge;
    Reading read(Seconds now = kNow) { return read_cluster(cluster, conf, knowledge, now, 0); }
};

int node_named(const Snapshot& snapshot, const std::string& name) {
    for (std::size_t i = 0; i < snapshot.nodes.size(); i++)
        if (snapshot.nodes[i].name == name) return static_cast<int>(i);
    ck_abort_msg("no node %s", name.c_str());
}

const Node& node_of(const Snapshot& snapshot, const std::string& name) {
    return snapshot.nodes[static_cast<std::size_t>(node_named(snapshot, name))];
}

std::string configs_of(const Reading& reading, std::size_t job = 0) {
    std::string text;
    for (const Config& config : reading.snapshot.jobs.at(job).configs)
        text += (text.empty() ? "" : ", ") +
                describe_config(reading.snapshot.classes[static_cast<std::size_t>(config.class_id)], config);
    return text;
}

}  // namespace

START_TEST(a_parked_job_is_planned_with_what_it_asked_and_its_partition_s_late_cost) {
    World world;
    world.cluster.jobs = {make_job(7)};
    Reading reading = world.read();
    ck_assert_int_eq(static_cast<int>(reading.snapshot.jobs.size()), 1);
    const Job& job = reading.snapshot.jobs[0];
    ck_assert_int_eq(static_cast<int>(job.id), 7);
    ck_assert_int_eq(*job.due, kNow + 7200);
    ck_assert(!job.due_is_hard);
    ck_assert_int_eq(job.late_micro_h, 20000000);
    ck_assert_int_eq(job.release, kNow - 10);
    ck_assert_int_eq(job.configs[0].run_s, 3600);
    ck_assert_int_eq(static_cast<int>(job.configs[0].mem_mb), 100);
    ASSERT_TEXT(configs_of(reading), "1×1 v100, 1×1 t4, 1×1 a100");
}
END_TEST

START_TEST(jobs_without_squall_s_words_are_not_planned) {
    World world;
    world.cluster.jobs = {make_job(7)};
    world.cluster.jobs[0].admin_comment = "ticket 4711";
    Reading reading = world.read();
    ck_assert(reading.snapshot.jobs.empty() && reading.left_out.empty());
}
END_TEST

START_TEST(slurm_s_deadline_is_a_hard_due_date) {
    World world;
    world.cluster.jobs = {make_job(7, "late-cost=1")};
    world.cluster.jobs[0].deadline_at = kNow + 5000;
    Reading reading = world.read();
    ck_assert_int_eq(*reading.snapshot.jobs[0].due, kNow + 5000);
    ck_assert(reading.snapshot.jobs[0].due_is_hard);
}
END_TEST

START_TEST(burst_decides_whether_rented_nodes_are_among_the_configurations) {
    World world;
    world.cluster.jobs = {make_job(1, "burst=never"), make_job(2, "burst=only")};
    Reading reading = world.read();
    ASSERT_TEXT(configs_of(reading, 0), "1×1 v100, 1×1 t4");
    ASSERT_TEXT(configs_of(reading, 1), "1×1 a100");
}
END_TEST

START_TEST(a_burst_partition_that_does_not_take_the_time_limit_is_left_out) {
    World world;
    world.cluster.partitions[1].max_time_s = 1800;
    world.cluster.jobs = {make_job(1)};
    ASSERT_TEXT(configs_of(world.read()), "1×1 v100, 1×1 t4");
}
END_TEST

START_TEST(excluded_nodes_and_features_split_a_class_for_the_job_that_asks) {
    World world;
    world.cluster.nodes[0].features = "ib,fast";
    world.cluster.jobs = {make_job(1), make_job(2, "burst=never"), make_job(3, "burst=never")};
    world.cluster.jobs[1].exc_nodes = "n1,t1";
    world.cluster.jobs[2].features = "ib&fast";
    Reading reading = world.read();
    ASSERT_TEXT(configs_of(reading, 0), "1×1 v100, 1×1 v100, 1×1 t4, 1×1 a100");
    ASSERT_TEXT(configs_of(reading, 1), "1×1 v100");
    ASSERT_TEXT(configs_of(reading, 2), "1×1 v100");
    int n1 = node_of(reading.snapshot, "n1").class_id, n2 = node_of(reading.snapshot, "n2").class_id;
    ck_assert_int_ne(n1, n2);
    ck_assert_int_eq(reading.snapshot.jobs[1].configs[0].class_id, n2);
    ck_assert_int_eq(reading.snapshot.jobs[2].configs[0].class_id, n1);
    ck_assert(reading.views[2].pin_nodes);
}
END_TEST

START_TEST(constraints_that_are_not_understood_make_the_job_rigid_and_unpinned) {
    World world;
    world.cluster.jobs = {make_job(1, "gpu-range=1-4"), make_job(2, "gpu-range=1-4")};
    world.cluster.jobs[0].features = "[rack1*2&rack2*1]";
    world.cluster.jobs[1].shape.req_nodes = "n2";
    Reading reading = world.read();
    ASSERT_TEXT(configs_of(reading, 1), "1×1 v100");
    ck_assert_int_eq(reading.snapshot.jobs[1].configs[0].class_id, node_of(reading.snapshot, "n2").class_id);
    for (const JobView& view : reading.views) ck_assert(!view.pin_nodes && view.asked.rigid);
}
END_TEST

START_TEST(features_are_matched_by_all_or_any_and_nothing_else_is_guessed) {
    ck_assert(*features_match("a&b", "a,b,c"));
    ck_assert(!*features_match("a&d", "a,b,c"));
    ck_assert(*features_match("d|c", "a,b,c"));
    ck_assert(!*features_match("d", ""));
    for (const char* text : {"[a*2]", "a*2", "(a|b)&c", "a|b&c"}) ck_assert(!features_match(text, "a,b,c"));
}
END_TEST

START_TEST(max_nodes_of_a_split_class_becomes_a_group) {
    World world;
    world.cluster.jobs = {make_job(1)};
    world.cluster.jobs[0].exc_nodes = "c1";
    Reading reading = world.read();
    ck_assert_int_eq(static_cast<int>(reading.snapshot.groups.size()), 1);
    ck_assert_int_eq(reading.snapshot.groups[0].max_nodes, 2);
    ck_assert_int_eq(static_cast<int>(reading.snapshot.groups[0].class_ids.size()), 2);
    for (int id : reading.snapshot.groups[0].class_ids)
        ck_assert_int_eq(reading.snapshot.classes[static_cast<std::size_t>(id)].max_nodes, 0);
}
END_TEST

START_TEST(nodes_nobody_configured_are_planned_with_a_warning_and_unpriced_cloud_nodes_are_not) {
    World world;
    world.cluster.jobs = {make_job(1)};
    world.conf.classes = {world.conf.classes[0]};
    world.conf.classes[0].nodes.push_back("n9");
    Reading reading = world.read();
    ASSERT_TEXT(configs_of(reading), "1×1 v100, 1×1 t4");
    std::string all = std::accumulate(reading.warnings.begin(), reading.warnings.end(), std::string());
    ASSERT_HAS(all, "n9: named in squall.conf, unknown to Slurm");
    ASSERT_HAS(all, "t1: not named in squall.conf");
    ASSERT_HAS(all, "c1,c2: cloud node without a NodeClass line");
}
END_TEST

START_TEST(unmanaged_jobs_hold_their_gpus_until_their_limit_or_for_ever) {
    World world;
    world.cluster.jobs = {make_job(1), make_job(2)};
    for (RawJob& job : world.cluster.jobs) start(job, "n1", "gpu:v100:1(IDX:0)").admin_comment.clear();
    world.cluster.jobs[1].time_limit_s.reset();
    Reading reading = world.read();
    ck_assert_int_eq(static_cast<int>(reading.snapshot.holds.size()), 2);
    const Hold& hold = reading.snapshot.holds[0];
    ck_assert_int_eq(hold.gpus, 1);
    ck_assert_int_eq(hold.cpus, 2);
    ck_assert_int_eq(static_cast<int>(hold.mem_mb), 200);
    ck_assert_int_eq(hold.job, -1);
    ck_assert_int_eq(hold.end, kNow - 100 + 3600);
    ck_assert_int_eq(reading.snapshot.holds[1].end, kForever);
}
END_TEST

START_TEST(shards_are_held_on_their_gpus) {
    World world;
    world.cluster.jobs = {make_job(1), make_job(2)};
    start(world.cluster.jobs[0], "n1", "shard:3(IDX:2)").admin_comment.clear();
    start(world.cluster.jobs[1], "n2", "shard:v100:5(0/4,3/4,2/4,0/4)").admin_comment.clear();
    const Reading reading = world.read();
    ck_assert_int_eq(static_cast<int>(reading.snapshot.holds.size()), 3);
    ck_assert_int_eq(reading.snapshot.holds[0].shards, 3);
    ck_assert_int_eq(reading.snapshot.holds[0].gpu_index, 2);
    ck_assert_int_eq(reading.snapshot.holds[1].shards, 3);
    ck_assert_int_eq(reading.snapshot.holds[2].shards, 2);
    ck_assert_int_eq(reading.snapshot.holds[2].gpu_index, 2);
    ck_assert_int_eq(reading.snapshot.holds[2].cpus, 0);  // counted with the first
}
END_TEST

START_TEST(cpu_jobs_on_gpu_nodes_hold_cpus_and_memory_only) {
    World world;
    world.cluster.jobs = {make_job(1)};
    start(world.cluster.jobs[0], "n1", "").admin_comment.clear();
    Reading reading = world.read();
    ck_assert_int_eq(static_cast<int>(reading.snapshot.holds.size()), 1);
    ck_assert_int_eq(reading.snapshot.holds[0].gpus, 0);
    ck_assert_int_eq(reading.snapshot.holds[0].cpus, 2);
}
END_TEST

START_TEST(a_running_job_of_squall_s_is_in_the_snapshot_with_its_real_place) {
    World world;
    world.cluster.jobs = {make_job(1, "runtime=v100:1=1000,2=600")};
    start(world.cluster.jobs[0], "n2", "gpu:v100:2(IDX:0-1)");
    Reading reading = world.read();
    const Job& job = reading.snapshot.jobs.at(0);
    ck_assert(job.running.has_value());
    ck_assert_int_eq(job.running->nodes.at(0), node_named(reading.snapshot, "n2"));
    const Config& config = job.configs.at(static_cast<std::size_t>(job.running->config));
    ck_assert_int_eq(config.gpus, 2);
    ck_assert_int_eq(job.running->expected_end, kNow - 100 + 600);
    ck_assert_int_eq(reading.snapshot.holds.at(0).job, 0);
    ck_assert_int_eq(reading.snapshot.holds.at(0).end, kNow - 100 + 600);
}
END_TEST

START_TEST(an_overrun_is_expected_to_go_on_but_not_past_its_limit) {
    World world;
    world.cluster.jobs = {make_job(1, "runtime=v100:1=1000")};
    RawJob& job = start(world.cluster.jobs[0], "n2", "gpu:v100:1(IDX:0)", kNow - 1100);
    ck_assert_int_eq(world.read().snapshot.jobs[0].running->expected_end, kNow - 1100 + 1250);
    job.start_at = kNow - 3000, job.end_at = kNow + 600;
    ck_assert_int_eq(world.read().snapshot.jobs[0].running->expected_end, kNow + 300);
    job.end_at = kNow + 20;
    ck_assert_int_eq(world.read().snapshot.jobs[0].running->expected_end, kNow + 20);
}
END_TEST

START_TEST(node_states_decide_what_may_be_used_when) {
    World world;
    world.cluster.nodes[0].drained = true;
    world.cluster.nodes[1].not_responding = true;
    world.cluster.nodes[3].powered_down = false, world.cluster.nodes[3].powering_up = true;
    Lease lease;
    lease.node = "c1", lease.wanted_at = kNow - 30, lease.launched_at = kNow - 20;
    world.knowledge.open_leases = {lease};
    Snapshot snapshot = world.read().snapshot;
    ck_assert(node_of(snapshot, "n1").state == NodeState::unavailable);
    ck_assert_int_eq(node_of(snapshot, "n1").ready_at, kForever);
    ck_assert(node_of(snapshot, "n2").state == NodeState::unavailable);
    ck_assert(node_of(snapshot, "t1").state == NodeState::up);
    ck_assert(node_of(snapshot, "c1").state == NodeState::booting);
    ck_assert_int_eq(node_of(snapshot, "c1").ready_at, kNow - 20 + 120);
    ck_assert_int_eq(*node_of(snapshot, "c1").leased_at, kNow - 20);
    ck_assert(node_of(snapshot, "c2").state == NodeState::powered_down);
    ck_assert(!node_of(snapshot, "c2").leased_at);
}
END_TEST

START_TEST(a_block_keeps_a_powered_down_node_out_until_it_ends) {
    World world;
    world.knowledge.blocks = {{.key = "c1", .until = kNow + 60, .failures = 1, .reason = "no capacity"}};
    Snapshot snapshot = world.read().snapshot;
    ck_assert(node_of(snapshot, "c1").state == NodeState::unavailable);
    ck_assert_int_eq(node_of(snapshot, "c1").ready_at, kNow + 60);
    ck_assert(node_of(snapshot, "c2").state == NodeState::powered_down);
    world.knowledge.blocks[0].key = "class:a100";
    ck_assert(node_of(world.read().snapshot, "c2").state == NodeState::unavailable);
}
END_TEST

START_TEST(what_squall_cannot_plan_is_given_up_with_its_reason) {
    World world;
    for (std::uint32_t id = 1; id <= 4; id++) world.cluster.jobs.push_back(make_job(id));
    world.cluster.jobs[0].array_tasks = "0-9";
    world.cluster.jobs[1].het_job_id = 2;
    world.cluster.jobs[2].reservation = "maint";
    world.cluster.jobs[3].shape.tres_per_node.clear();
    Reading reading = world.read();
    ck_assert_int_eq(static_cast<int>(reading.left_out.size()), 4);
    const char* reasons[] = {"array", "heterogeneous", "reservation", "no GPU"};
    for (std::size_t i = 0; i < 4; i++) {
        ck_assert(reading.left_out[i].why == LeftOut::give_up);
        ASSERT_HAS(reading.left_out[i].reason, reasons[i]);
    }
}
END_TEST

START_TEST(held_and_dependent_jobs_wait_outside_the_plan) {
    World world;
    world.cluster.jobs = {make_job(1), make_job(2)};
    world.cluster.jobs[0].held = true;
    world.cluster.jobs[1].dependent = true;
    Reading reading = world.read();
    ck_assert(reading.snapshot.jobs.empty());
    ck_assert(reading.left_out[0].why == LeftOut::held);
    ck_assert(reading.left_out[1].why == LeftOut::dependent);
}
END_TEST

namespace {

RawJob released_job(Seconds since) {
    RawJob job = make_job(1);
    job.admin_comment =
        "squall: due=1800007200 | state=released config=1%C3%971%20v100 nodes=n2 since=" + std::to_string(since) +
        " submit=" + std::to_string(job.submit_at);
    job.begin_at = since;
    job.shape.req_nodes = "n2";
    job.reason = "Resources";
    return job;
}

}  // namespace

START_TEST(a_released_job_keeps_its_place_for_a_while_and_is_then_stuck) {
    World world;
    world.cluster.jobs = {released_job(kNow - 3)};
    world.knowledge.originals[{1, kNow - 10}] = {make_job(1).shape, std::nullopt};
    Reading reading = world.read();
    const Job& job = reading.snapshot.jobs.at(0);
    ck_assert(reading.views[0].released && !reading.views[0].stuck && reading.views[0].molded);
    ck_assert(job.pinned_config.has_value());
    ASSERT_TEXT(describe_config(reading.snapshot.classes[0], job.configs[static_cast<std::size_t>(*job.pinned_config)]),
                "1×1 v100");
    ck_assert_int_eq(job.pinned_nodes.at(0), node_named(reading.snapshot, "n2"));
    ck_assert(reading.views[0].pin_nodes);  // the pin is ours, not the user's -w
    reading = world.read(kNow + 10);
    ck_assert(reading.views[0].stuck && !reading.snapshot.jobs[0].pinned_config);
    world.cluster.jobs[0].reason = "Priority";
    ck_assert(!world.read(kNow + 10).views[0].stuck);
    ck_assert(world.read(kNow + 60).views[0].stuck);
}
END_TEST

START_TEST(a_requeued_job_is_planned_again_as_asked_under_its_first_submit_time) {
    World world;
    world.cluster.jobs = {released_job(kNow - 3)};
    world.cluster.jobs[0].begin_at = kNow + 121;
    world.cluster.jobs[0].submit_at = kNow - 1;
    world.cluster.jobs[0].shape.tres_per_node = "gres:gpu:4";
    world.knowledge.originals[{1, kNow - 10}] = {make_job(1).shape, std::nullopt};
    Reading reading = world.read();
    ck_assert(!reading.views[0].released && !reading.snapshot.jobs[0].pinned_config);
    ck_assert_int_eq(reading.views[0].key.second, kNow - 10);
    ck_assert_int_eq(reading.snapshot.jobs[0].release, kNow - 10);
    ASSERT_TEXT(configs_of(reading), "1×1 v100, 1×1 t4, 1×1 a100");
}
END_TEST

START_TEST(a_requeued_job_waits_until_its_old_credential_cannot_be_mistaken_for_the_new_one) {
    World world;
    world.cluster.jobs = {make_job(1), make_job(2)};
    world.cluster.jobs[0].restarts = 1;
    world.cluster.jobs[0].submit_at = kNow - 1;
    Reading reading = world.read();
    ck_assert_int_ge(reading.snapshot.jobs[0].release, kNow + 2);
    ck_assert_int_le(reading.snapshot.jobs[1].release, kNow);
    world.cluster.jobs[0].submit_at = kNow - kRevoked;
    ck_assert_int_le(world.read().snapshot.jobs[0].release, kNow);
}
END_TEST

START_TEST(the_user_s_own_begin_time_is_the_release_even_when_the_words_have_lost_it) {
    World world;
    world.cluster.jobs = {make_job(1), make_job(2)};
    world.cluster.jobs[0].admin_comment += " begin=" + std::to_string(kNow + 5000);
    world.knowledge.originals[{2, kNow - 10}] = {make_job(2).shape, kNow + 90000};
    Reading reading = world.read();
    ck_assert_int_eq(reading.snapshot.jobs[0].release, kNow + 5000);
    ck_assert_int_eq(reading.snapshot.jobs[1].release, kNow + 90000);
}
END_TEST

START_TEST(a_shape_the_user_changed_while_parked_is_the_new_one_asked) {
    World world;
    world.cluster.jobs = {make_job(1)};
    world.knowledge.originals[{1, kNow - 10}] = {make_job(1).shape, std::nullopt};
    world.cluster.jobs[0].shape.tres_per_node = "gres:gpu:2";
    Reading reading = world.read();
    ck_assert(reading.views[0].changed_by_user);
    ASSERT_TEXT(configs_of(reading), "1×2 v100, 1×2 t4, 1×2 a100");
    // … but a node count that Slurm goes on showing after a shape was put back is not the user's.
    world.cluster.jobs[0].shape = make_job(1).shape;
    world.cluster.jobs[0].shape.min_nodes = 2;
    reading = world.read();
    ck_assert(!reading.views[0].changed_by_user);
    ck_assert_int_eq(reading.views[0].original.min_nodes, 1);
}
END_TEST

START_TEST(a_reservation_takes_what_running_jobs_leave_of_its_nodes) {
    World world;
    world.cluster.jobs = {make_job(1)};
    start(world.cluster.jobs[0], "n1", "gpu:v100:1(IDX:0)").admin_comment.clear();
    RawReservation reservation;
    reservation.nodes = {"n1"}, reservation.start_at = kNow + 1000, reservation.end_at = kNow + 9000;
    world.cluster.reservations = {reservation};
    Reading reading = world.read();
    int at_start = 0, after_job = 0;
    for (const Hold& hold : reading.snapshot.holds) {
        if (hold.start <= kNow + 1000 && kNow + 1000 < hold.end) at_start += hold.gpus;
        if (hold.start <= kNow + 4000 && kNow + 4000 < hold.end) after_job += hold.gpus;
        ck_assert_int_le(hold.end, kNow + 9000);
    }
    ck_assert_int_eq(at_start, 4);
    ck_assert_int_eq(after_job, 4);
}
END_TEST

START_TEST(budgets_are_what_is_left_of_the_day_and_month) {
    World world;
    world.conf.budget_day_micro = 1000;
    world.conf.budget_month_micro = 5000;
    world.knowledge.rent_today = 1200;
    world.knowledge.rent_this_month = 1200;
    world.knowledge.day_ends_at = kNow + 100;
    Snapshot snapshot = world.read().snapshot;
    ck_assert_int_eq(static_cast<int>(snapshot.budgets.size()), 2);
    ck_assert_int_eq(snapshot.budgets[0].left_micro, 0);
    ck_assert_int_eq(snapshot.budgets[0].until, kNow + 100);
    ck_assert_int_eq(snapshot.budgets[1].left_micro, 3800);
}
END_TEST

START_TEST(a_wait_after_a_refusal_moves_the_release) {
    World world;
    world.cluster.jobs = {make_job(1)};
    world.knowledge.not_before[{1, kNow - 10}] = kNow + 40;
    ck_assert_int_eq(world.read().snapshot.jobs[0].release, kNow + 40);
}
END_TEST

START_TEST(finished_jobs_are_told_apart) {
    World world;
    world.cluster.jobs = {make_job(1)};
    world.cluster.jobs[0].state = JobState::complete;
    Reading reading = world.read();
    ck_assert_int_eq(static_cast<int>(reading.finished.size()), 1);
    ck_assert(reading.snapshot.jobs.empty());
}
END_TEST

START_TEST(cpus_are_rounded_up_to_whole_cores) {
    World world;
    world.cluster.jobs = {make_job(1)};
    for (RawNode& node : world.cluster.nodes) node.threads_per_core = 2;
    ck_assert_int_eq(world.read().snapshot.jobs[0].configs[0].cpus, 2);
}
END_TEST

int main() {
    return run_suite("reader", {a_parked_job_is_planned_with_what_it_asked_and_its_partition_s_late_cost,
                                jobs_without_squall_s_words_are_not_planned,
                                slurm_s_deadline_is_a_hard_due_date,
                                burst_decides_whether_rented_nodes_are_among_the_configurations,
                                a_burst_partition_that_does_not_take_the_time_limit_is_left_out,
                                excluded_nodes_and_features_split_a_class_for_the_job_that_asks,
                                constraints_that_are_not_understood_make_the_job_rigid_and_unpinned,
                                features_are_matched_by_all_or_any_and_nothing_else_is_guessed,
                                max_nodes_of_a_split_class_becomes_a_group,
                                nodes_nobody_configured_are_planned_with_a_warning_and_unpriced_cloud_nodes_are_not,
                                unmanaged_jobs_hold_their_gpus_until_their_limit_or_for_ever,
                                shards_are_held_on_their_gpus,
                                cpu_jobs_on_gpu_nodes_hold_cpus_and_memory_only,
                                a_running_job_of_squall_s_is_in_the_snapshot_with_its_real_place,
                                an_overrun_is_expected_to_go_on_but_not_past_its_limit,
                                node_states_decide_what_may_be_used_when,
                                a_block_keeps_a_powered_down_node_out_until_it_ends,
                                what_squall_cannot_plan_is_given_up_with_its_reason,
                                held_and_dependent_jobs_wait_outside_the_plan,
                                a_released_job_keeps_its_place_for_a_while_and_is_then_stuck,
                                a_requeued_job_is_planned_again_as_asked_under_its_first_submit_time,
                                a_requeued_job_waits_until_its_old_credential_cannot_be_mistaken_for_the_new_one,
                                the_user_s_own_begin_time_is_the_release_even_when_the_words_have_lost_it,
                                a_shape_the_user_changed_while_parked_is_the_new_one_asked,
                                a_reservation_takes_what_running_jobs_leave_of_its_nodes,
                                budgets_are_what_is_left_of_the_day_and_month,
                                a_wait_after_a_refusal_moves_the_release,
                                finished_jobs_are_told_apart,
                                cpus_are_rounded_up_to_whole_cores});
}
