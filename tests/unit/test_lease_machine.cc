// SPDX-License-Identifier: GPL-3.0-or-later
// A lease's life between a cloud and a Slurm in memory, on virtual time: what every trouble leads to.
#include "tests/unit/cloud_fakes.h"
#include "tests/unit/suite.h"

using namespace squall;
using namespace squall::cloud;

namespace {
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
}  // namespace

START_TEST(resumed_node_is_launched_addressed_and_ready) {
    Rig rig;
    rig.power_up("c1", "14,13,13");
    ck_assert(rig.reach("c1", LeaseState::ready));
    Lease lease = rig.lease("c1");
    ck_assert(lease.generation == 1 && lease.instance_id == "i-1" && lease.driver == "fake");
    ck_assert_text(lease.job_ids, "13,14");
    ck_assert_text(rig.slurm.addresses["c1"], "10.0.0.1");
    ck_assert(lease.wanted_at > 0 && lease.launched_at >= lease.wanted_at && lease.ready_at > lease.launched_at);
    ck_assert_int_eq(rig.cloud.launches, 1);
    ck_assert(rig.ledger.pending_power_requests().empty());
    ck_assert_int_gt(rig.changes, 2);
    rig.ticks(100);
    ck_assert(rig.lease("c1").state == LeaseState::ready);
    ck_assert(rig.slurm.forced.empty());
}
END_TEST

START_TEST(suspended_node_is_terminated_and_its_rent_booked) {
    Rig rig;
    rig.up("c1");
    rig.ticks(50);
    rig.slurm.suspend("c1", rig.now);
    ck_assert(rig.reach("c1", LeaseState::closed));
    Lease lease = rig.lease("c1");
    ck_assert_int_eq(rig.cloud.alive(), 0);
    ck_assert_int_eq(lease.cost, (lease.released_at - lease.launched_at) * 1000000);
    ck_assert(lease.released_at > lease.ready_at + 49 && lease.closed_at >= lease.released_at);
    ck_assert(rig.slurm.forced.empty());
}
END_TEST

START_TEST(no_capacity_gives_the_node_up_at_once_and_blocks_the_class) {
    Rig rig;
    rig.cloud.launch_errors = {{ErrorClass::no_capacity, "sold out"}};
    rig.power_up("c1");
    rig.ticks(2);
    Lease lease = rig.lease("c1");
    ck_assert(lease.state == LeaseState::failed && lease.cost == 0 && lease.launched_at == 0);
    ck_assert_int_eq(rig.slurm.forced.size(), 1);
    ck_assert_msg(has(rig.slurm.forced[0], "c1: squall: ") && has(rig.slurm.forced[0], "sold out"), "%s",
                  rig.slurm.forced[0].c_str());
    auto block = rig.ledger.block("class:cloud");
    ck_assert(block && block->failures == 1 && block->until - rig.now > 90);
    // While it is blocked nothing is even tried.
    rig.power_up("c2");
    rig.ticks(2);
    ck_assert(rig.lease("c2").state == LeaseState::failed && has(rig.lease("c2").reason, "sold out"));
    ck_assert_int_eq(rig.cloud.launches, 1);
    // The next failure blocks for longer, success forgives.
    rig.ticks(110);
    rig.cloud.launch_errors = {{ErrorClass::no_capacity, "sold out"}};
    rig.power_up("c1");
    rig.ticks(2);
    ck_assert_int_eq(rig.ledger.block("class:cloud")->failures, 2);
    ck_assert_int_gt(rig.ledger.block("class:cloud")->until - rig.now, 190);
    rig.ticks(210);
    rig.up("c1");
    ck_assert(!rig.ledger.block("class:cloud"));
}
END_TEST

START_TEST(nodes_failing_together_are_one_failure) {
    Rig rig;
    for (int i = 1; i <= 4; i++) {
        rig.cloud.launch_errors.push_back({ErrorClass::quota, "no more"});
        rig.power_up("c" + std::to_string(i));
    }
    rig.ticks(3);
    ck_assert_int_eq(rig.ledger.block("class:cloud")->failures, 1);
    ck_assert_int_eq(rig.slurm.forced.size(), 4);
    ck_assert(rig.ledger.open_leases().empty());
}
END_TEST

START_TEST(instance_that_never_registers_is_terminated_paid_and_its_node_blocked) {
    Rig rig;
    rig.cloud.boots = false;
    rig.power_up("c1");
    ck_assert(rig.reach("c1", LeaseState::failed));
    Lease lease = rig.lease("c1");
    ck_assert(has(lease.reason, "not registered"));
    ck_assert_int_ge(lease.released_at - lease.launched_at, 60);
    ck_assert_int_lt(lease.released_at - lease.launched_at, 65);
    ck_assert_int_eq(lease.cost, (lease.released_at - lease.launched_at) * 1000000);
    ck_assert_int_eq(rig.cloud.alive(), 0);
    ck_assert_int_eq(rig.slurm.forced.size(), 1);
    ck_assert(rig.ledger.block("c1") && !rig.ledger.block("class:cloud"));
}
END_TEST

START_TEST(passing_trouble_is_tried_again_with_the_same_token) {
    Rig rig;
    rig.cloud.launch_errors = {{ErrorClass::throttled, "slow down"}, {ErrorClass::transient, "hiccup"}};
    rig.power_up("c1");
    ck_assert(rig.reach("c1", LeaseState::ready));
    ck_assert_int_eq(rig.cloud.launches, 3);
    ck_assert_int_eq(rig.cloud.instances.size(), 1);
    ck_assert(rig.ledger.blocks(rig.now).empty());
}
END_TEST

START_TEST(cloud_whose_answers_are_always_lost_leaks_nothing) {
    Rig rig;
    rig.cloud.lose_answer = true;
    rig.power_up("c1");
    ck_assert(rig.reach("c1", LeaseState::failed));
    ck_assert_int_eq(rig.cloud.alive(), 0);
    ck_assert_int_gt(rig.lease("c1").cost, 0);
    ck_assert_text(rig.lease("c1").instance_id, "i-1");
    ck_assert_int_eq(rig.slurm.forced.size(), 1);
}
END_TEST

START_TEST(dead_instance_frees_its_node_and_closes_its_lease) {
    Rig rig;
    rig.up("c1");
    rig.cloud.instances["i-1"].state = InstanceState::failed;
    rig.cloud.instances["i-1"].reason = "kernel panic";
    ck_assert(rig.reach("c1", LeaseState::closed));
    ck_assert(has(rig.lease("c1").reason, "kernel panic"));
    ck_assert_int_eq(rig.slurm.forced.size(), 1);
    ck_assert(has(rig.slurm.node("c1").reason, "squall: the instance died while in use: kernel panic"));
    rig.ticks(3);
    ck_assert_msg(!rig.slurm.node("c1").down, "the node must come back into use");
    rig.up("c1");
    ck_assert_int_eq(rig.lease("c1").generation, 2);
}
END_TEST

START_TEST(vanished_instance_is_believed_only_after_two_good_lists) {
    Rig rig;
    rig.up("c1");
    rig.cloud.list_fails = true;
    rig.ticks(100);
    ck_assert(rig.lease("c1").state == LeaseState::ready);
    rig.cloud.list_fails = false;
    Instance kept = rig.cloud.instances["i-1"];
    rig.cloud.instances.clear();
    rig.ticks(1);
    ck_assert(rig.lease("c1").state == LeaseState::ready);
    rig.cloud.instances["i-1"] = kept;
    rig.ticks(1);
    rig.cloud.instances.clear();
    rig.ticks(1);
    ck_assert(rig.lease("c1").state == LeaseState::ready);
    ck_assert(rig.reach("c1", LeaseState::closed));
    ck_assert_int_eq(rig.slurm.forced.size(), 1);
}
END_TEST

START_TEST(orphan_is_terminated_after_its_guard_and_only_on_good_lists) {
    Rig rig;
    rig.up("c1");
    rig.cloud.instances["i-9"] = {"i-9", "c3", 7, InstanceState::running, "", ""};
    rig.ticks(8);
    ck_assert(rig.cloud.instances["i-9"].state == InstanceState::running);
    rig.ticks(6);
    ck_assert(rig.cloud.instances["i-9"].state == InstanceState::gone);
    ck_assert(rig.cloud.instances["i-1"].state == InstanceState::running);
    // An older generation of a leased node is nobody's either.
    rig.cloud.instances["i-8"] = {"i-8", "c1", 0, InstanceState::running, "", ""};
    rig.cloud.list_fails = true;
    rig.ticks(50);
    ck_assert(rig.cloud.instances["i-8"].state == InstanceState::running);
    rig.cloud.list_fails = false;
    rig.ticks(20);
    ck_assert(rig.cloud.instances["i-8"].state == InstanceState::gone);
}
END_TEST

START_TEST(new_generation_waits_for_the_old_instance_to_go) {
    Rig rig;
    rig.up("c1");
    rig.cloud.terminate_fails = true;
    rig.slurm.suspend("c1", rig.now);
    rig.ticks(5);
    rig.power_up("c1");
    rig.ticks(20);
    ck_assert(rig.lease("c1").generation == 2 && rig.lease("c1").state == LeaseState::wanted);
    ck_assert_int_eq(rig.cloud.launches, 1);
    rig.cloud.terminate_fails = false;
    ck_assert(rig.reach("c1", LeaseState::ready));
    ck_assert(rig.ledger.leases()[0].state == LeaseState::closed);
    ck_assert_int_eq(rig.cloud.alive(), 1);
    ck_assert(rig.slurm.forced.empty());
}
END_TEST

START_TEST(node_suspended_before_its_launch_is_never_launched) {
    Rig rig;
    rig.power_up("c1");
    rig.slurm.suspend("c1", rig.now);
    rig.ticks(5);
    ck_assert(rig.lease("c1").state == LeaseState::failed);
    ck_assert_int_eq(rig.cloud.launches, 0);
    ck_assert(rig.slurm.forced.empty());
}
END_TEST

START_TEST(node_suspended_while_booting_leaves_nothing) {
    Rig rig;
    rig.cloud.boots = false;
    rig.power_up("c1");
    ck_assert(rig.reach("c1", LeaseState::booting));
    rig.slurm.suspend("c1", rig.now);
    ck_assert(rig.reach("c1", LeaseState::failed));
    ck_assert_int_eq(rig.cloud.alive(), 0);
    ck_assert(rig.slurm.forced.empty() && rig.ledger.blocks(rig.now).empty());
}
END_TEST

START_TEST(resume_failed_by_slurm_terminates_and_blocks) {
    Rig rig;
    rig.cloud.boots = false;
    rig.power_up("c1");
    ck_assert(rig.reach("c1", LeaseState::booting));
    SlurmNode& node = rig.slurm.node("c1");
    node.powering_up = false;
    node.powered_down = node.down = true;
    node.reason = "ResumeTimeout reached";
    rig.ledger.push_power_requests({{0, "c1", PowerAction::resume_fail, rig.now, ""}});
    ck_assert(rig.reach("c1", LeaseState::failed));
    ck_assert_int_eq(rig.cloud.alive(), 0);
    ck_assert(rig.ledger.block("c1").has_value());
    ck_assert(rig.slurm.node("c1").down);  // as long as it is blocked
    rig.ticks(120);
    ck_assert(!rig.slurm.node("c1").down);
}
END_TEST

START_TEST(second_resume_joins_a_lease_that_is_coming_and_replaces_one_that_is_up) {
    Rig rig;
    rig.power_up("c1", "5");
    rig.ticks(1);
    rig.ledger.push_power_requests({{0, "c1", PowerAction::resume, rig.now, "6"}});
    ck_assert(rig.reach("c1", LeaseState::ready));
    ck_assert_text(rig.lease("c1").job_ids, "5,6");
    // An old request when the node is up: nothing.
    rig.ledger.push_power_requests({{0, "c1", PowerAction::resume, rig.now, "6"}});
    rig.ticks(5);
    ck_assert(rig.lease("c1").state == LeaseState::ready && rig.lease("c1").generation == 1);
    // slurmctld waits for a fresh boot: the old instance cannot serve.
    rig.power_up("c1", "7");
    ck_assert(rig.reach("c1", LeaseState::ready));
    rig.ticks(10);
    ck_assert(rig.lease("c1").state == LeaseState::ready && rig.lease("c1").generation == 2);
    ck_assert_int_eq(rig.cloud.alive(), 1);
    ck_assert(rig.slurm.forced.empty());
}
END_TEST

START_TEST(slurmctld_away_costs_no_rent_and_is_told_later) {
    Rig rig;
    rig.cloud.boots = false;
    rig.power_up("c1");
    ck_assert(rig.reach("c1", LeaseState::booting));
    rig.slurm.unreachable = true;
    rig.ticks(100);
    ck_assert_int_eq(rig.cloud.alive(), 0);
    ck_assert(rig.lease("c1").open() && rig.slurm.forced.empty());
    rig.restart();
    rig.slurm.unreachable = false;
    ck_assert(rig.reach("c1", LeaseState::failed));
    ck_assert_int_eq(rig.slurm.forced.size(), 1);
}
END_TEST

START_TEST(lost_suspend_and_lost_resume_are_noticed) {
    Rig rig;
    rig.up("c1");
    rig.slurm.node("c1").powered_down = true;  // and no request came
    rig.ticks(25);
    ck_assert(rig.lease("c1").state == LeaseState::ready);
    ck_assert(rig.reach("c1", LeaseState::closed));
    ck_assert(rig.slurm.forced.empty());
    rig.slurm.node("c2").cloud = rig.slurm.node("c2").powering_up = true;
    rig.ticks(25);
    ck_assert(rig.slurm.forced.empty());
    rig.ticks(10);
    ck_assert_int_eq(rig.slurm.forced.size(), 1);
    ck_assert(rig.slurm.node("c2").powered_down);
}
END_TEST

START_TEST(node_that_slurm_calls_down_is_given_up_after_a_while) {
    Rig rig;
    rig.up("c1");
    rig.slurm.node("c1").down = rig.slurm.node("c1").not_responding = true;
    rig.ticks(10);
    rig.slurm.node("c1").down = false;  // it came back
    rig.ticks(1);
    rig.slurm.node("c1").down = true;
    rig.ticks(15);
    ck_assert(rig.lease("c1").state == LeaseState::ready);
    ck_assert(rig.reach("c1", LeaseState::closed));
    ck_assert_int_eq(rig.cloud.alive(), 0);
}
END_TEST

START_TEST(nodes_and_classes_that_are_not_rented_are_left_alone) {
    Rig rig;
    rig.ledger.push_power_requests({{0, "n1", PowerAction::resume, rig.now, ""}});
    rig.ticks(2);
    ck_assert(rig.ledger.leases().empty() && rig.ledger.pending_power_requests().empty());
    rig.conf.classes[0].driver = "unheard-of";
    rig.conf.classes[0].line = 12;
    rig.restart();
    rig.power_up("c1");
    rig.ticks(2);
    ck_assert(has(rig.lease("c1").reason, "squall.conf:12: NodeClass=cloud: no driver unheard-of"));
    ck_assert_int_eq(rig.slurm.forced.size(), 1);
}
END_TEST

START_TEST(class_removed_from_the_configuration_still_ends_its_leases) {
    Rig rig;
    rig.up("c1");
    rig.conf.classes[0].spec.name = "other";
    rig.conf.classes[0].nodes = {"d1"};
    rig.machine->reload(rig.fleet());
    rig.slurm.suspend("c1", rig.now);
    ck_assert(rig.reach("c1", LeaseState::closed));
    ck_assert_int_eq(rig.cloud.alive(), 0);
}
END_TEST

START_TEST(lease_without_any_driver_stays_open_until_the_class_is_back) {
    Rig rig;
    rig.cloud.lose_answer = true;
    rig.power_up("c1");
    rig.ticks(1);
    ck_assert(rig.lease("c1").state == LeaseState::launching && rig.lease("c1").instance_id.empty());
    Conf whole = rig.conf;
    rig.conf.classes.clear();
    rig.restart();
    rig.ticks(50);
    ck_assert(rig.lease("c1").open());
    ck_assert_int_eq(rig.cloud.alive(), 1);
    rig.conf = whole;
    rig.machine->reload(rig.fleet());
    ck_assert(rig.reach("c1", LeaseState::failed));
    ck_assert_int_eq(rig.cloud.alive(), 0);
}
END_TEST

START_TEST(restart_after_every_tick_changes_nothing) {
    Rig rig;
    auto ticks = [&](int count) {
        for (int i = 0; i < count; i++) {
            rig.restart();
            rig.ticks(1);
        }
    };
    rig.power_up("c1");
    rig.power_up("c2");
    ticks(10);
    ck_assert(rig.lease("c1").state == LeaseState::ready && rig.lease("c2").state == LeaseState::ready);
    rig.slurm.suspend("c1", rig.now);
    rig.ticks(6);  // two lists in one process are needed to believe an absence
    ck_assert(rig.lease("c1").state == LeaseState::closed);
    ck_assert_int_eq(rig.cloud.launches, 2);
    ck_assert_int_eq(rig.cloud.alive(), 1);
}
END_TEST

int main() {
    return run_suite("lease_machine", {resumed_node_is_launched_addressed_and_ready,
                                       suspended_node_is_terminated_and_its_rent_booked,
                                       no_capacity_gives_the_node_up_at_once_and_blocks_the_class,
                                       nodes_failing_together_are_one_failure,
                                       instance_that_never_registers_is_terminated_paid_and_its_node_blocked,
                                       passing_trouble_is_tried_again_with_the_same_token,
                                       cloud_whose_answers_are_always_lost_leaks_nothing,
                                       dead_instance_frees_its_node_and_closes_its_lease,
                                       vanished_instance_is_believed_only_after_two_good_lists,
                                       orphan_is_terminated_after_its_guard_and_only_on_good_lists,
                                       new_generation_waits_for_the_old_instance_to_go,
                                       node_suspended_before_its_launch_is_never_launched,
                                       node_suspended_while_booting_leaves_nothing,
                                       resume_failed_by_slurm_terminates_and_blocks,
                                       second_resume_joins_a_lease_that_is_coming_and_replaces_one_that_is_up,
                                       slurmctld_away_costs_no_rent_and_is_told_later,
                                       lost_suspend_and_lost_resume_are_noticed,
                                       node_that_slurm_calls_down_is_given_up_after_a_while,
                                       nodes_and_classes_that_are_not_rented_are_left_alone,
                                       class_removed_from_the_configuration_still_ends_its_leases,
                                       lease_without_any_driver_stays_open_until_the_class_is_back,
                                       restart_after_every_tick_changes_nothing});
}
