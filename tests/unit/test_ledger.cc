// SPDX-License-Identifier: GPL-3.0-or-later
// The ledger's rows: what is put comes back, and the rules about them hold. On real SQLite files.
#include "src/core/ledger.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"

using namespace squall;

namespace {

Lease lease_of(const std::string& node, Micro price_micro_h = 3600000, Seconds launched_at = 0) {
    Lease lease;
    lease.node = node;
    lease.class_name = "cloud";
    lease.price_micro_h = price_micro_h;
    lease.launched_at = launched_at;
    return lease;
}

}  // namespace

START_TEST(jobs_first_sight_wins_and_a_reused_id_is_another_job) {
    Scratch scratch("ledger");
    Ledger ledger = Ledger::open(scratch.path("ledger.db"));
    JobRow row{7, 1000, "ann", "lab", "gpu", "it's \"x\"\n", "due=18:00", R"({"partition":"gpu"})"};
    ledger.put_job(row);
    JobRow again = row;
    again.asked = "changed";
    ledger.put_job(again);
    again.submit_at = 2000;
    ledger.put_job(again);
    ck_assert_int_eq(ledger.jobs().size(), 2);
    auto found = ledger.job(7, 1000);
    ck_assert(found.has_value());
    ck_assert_text(found->asked.c_str(), row.asked.c_str());
    ck_assert_text(found->name.c_str(), row.name.c_str());
    ck_assert(!ledger.job(8, 1000));
}
END_TEST

START_TEST(text_of_any_bytes_comes_back_unchanged) {
    Scratch scratch("ledger");
    Ledger ledger = Ledger::open(scratch.path("ledger.db"));
    std::string text = "a\0b'; DROP TABLE jobs; -- \xf0\x9f\x98\x80\xff";
    text += std::string("\0z", 2) + std::string(100000, 'x');
    JobRow row{4294967295u, 1, text, "", "", "", "", ""};
    ledger.put_job(row);
    auto found = ledger.job(4294967295u, 1);
    ck_assert(found && found->user == text && found->account.empty());
}
END_TEST

START_TEST(decisions_are_kept_in_order) {
    Scratch scratch("ledger");
    Ledger ledger = Ledger::open(scratch.path("ledger.db"));
    ck_assert(!ledger.last_decision(7, 1000));
    for (int i = 1; i <= 3; i++) {
        DecisionRow row{7, 1000, 5000, "planned", "2×4 v100", "n[1-2]", 6000 + i, 9000, 1, 2, 3, 4, "why"};
        ledger.put_decision(row);
    }
    ledger.put_decision({7, 2000, 5001, "started", "", "", 0, 0, 0, 0, 0, 0, ""});
    ck_assert_int_eq(ledger.decisions(7).size(), 4);
    ck_assert_int_eq(ledger.decisions(7)[0].start, 6001);
    auto last = ledger.last_decision(7, 1000);
    ck_assert(last && last->start == 6003 && last->moves == 4 && last->energy == 3);
}
END_TEST

START_TEST(outcome_first_one_wins_and_no_due_date_stays_none) {
    Scratch scratch("ledger");
    Ledger ledger = Ledger::open(scratch.path("ledger.db"));
    OutcomeRow row;
    row.job_id = 7;
    row.submit_at = 1;
    row.rented = true;
    row.node_count = 2;
    row.planned_energy = 9;
    ledger.put_outcome(row);
    row.rented = false;
    ledger.put_outcome(row);
    row.job_id = 8;
    row.due = 0;
    ledger.put_outcome(row);
    auto found = ledger.outcomes();
    ck_assert_int_eq(found.size(), 2);
    ck_assert(found[0].rented && !found[0].shared_gpu && !found[0].due && found[0].planned_energy == 9);
    ck_assert(found[1].due && *found[1].due == 0);
}
END_TEST

START_TEST(cycles_keep_the_last) {
    Scratch scratch("ledger");
    Ledger ledger = Ledger::open(scratch.path("ledger.db"));
    ck_assert(!ledger.last_cycle());
    ck_assert_int_eq(ledger.last_confirmed_cycle(), 0);
    Ledger::Batch batch(ledger);
    for (int i = 1; i <= 10050; i++) ledger.put_cycle({i, 5, 4, 1, 100, 90, 20, "note"});
    batch.commit();
    ck_assert_int_eq(ledger.last_confirmed_cycle(), 10050);
    ck_assert_int_eq(ledger.last_cycle()->bound, 90);
}
END_TEST

START_TEST(power_requests_are_a_queue) {
    Scratch scratch("ledger");
    Ledger ledger = Ledger::open(scratch.path("ledger.db"));
    ledger.push_power_requests({{0, "c1", PowerAction::resume, 10, "13,14"}, {0, "c2", PowerAction::suspend, 10, ""}});
    ledger.push_power_requests({{0, "c1", PowerAction::resume_fail, 11, ""}});
    auto pending = ledger.pending_power_requests();
    ck_assert_int_eq(pending.size(), 3);
    ck_assert_text(pending[0].job_ids.c_str(), "13,14");
    ck_assert(pending[2].action == PowerAction::resume_fail && pending[2].node == "c1");
    for (const auto& request : pending) ledger.finish_power_request(request.id);
    ck_assert(ledger.pending_power_requests().empty());
    ledger.push_power_requests({{0, "c3", PowerAction::resume, 12, ""}});
    ck_assert(ledger.pending_power_requests()[0].id > pending[2].id);
}
END_TEST

START_TEST(leases_of_a_node_are_numbered_and_one_is_open) {
    Scratch scratch("ledger");
    Ledger ledger = Ledger::open(scratch.path("ledger.db"));
    ck_assert(!ledger.open_lease("c1"));
    auto id = ledger.add_lease(lease_of("c1"));
    ledger.add_lease(lease_of("c2"));
    auto lease = ledger.open_lease("c1");
    ck_assert(lease && lease->id == id && lease->generation == 1 && lease->state == LeaseState::wanted);
    lease->state = LeaseState::failed;
    lease->reason = "no capacity";
    lease->attempt = 3;
    lease->planned_end = 77;
    ledger.update_lease(*lease);
    ck_assert(!ledger.open_lease("c1"));
    ck_assert_int_eq(ledger.open_leases().size(), 1);
    ledger.add_lease(lease_of("c1"));
    ck_assert_int_eq(ledger.open_lease("c1")->generation, 2);
    auto all = ledger.leases();
    ck_assert_int_eq(all.size(), 3);
    ck_assert(all[0].reason == "no capacity" && all[0].attempt == 3 && all[0].planned_end == 77);
    all[0].id = 99;
    bool thrown = false;
    try {
        ledger.update_lease(all[0]);
    } catch (const LedgerError& error) {
        thrown = std::string(error.what()).find("no lease 99") != std::string::npos;
    }
    ck_assert(thrown);
}
END_TEST

START_TEST(rent_is_rounded_up_to_step_and_minimum) {
    ck_assert_int_eq(lease_of("c1").rent_until(500), 0);
    ck_assert_int_eq(lease_of("c1", 3600000, 100).rent_until(110), 10000);
    ck_assert_int_eq(lease_cost(3600000, 1, 0, 100, 110), 10000);
    ck_assert_int_eq(lease_cost(3600000, 60, 0, 100, 161), 120000);
    ck_assert_int_eq(lease_cost(3600000, 60, 0, 100, 160), 60000);
    ck_assert_int_eq(lease_cost(3600000, 1, 60, 100, 110), 60000);
    ck_assert_int_eq(lease_cost(3600000, 60, 90, 100, 110), 120000);
    ck_assert_int_eq(lease_cost(3600000, 60, 60, 100, 50), 60000);
    ck_assert_int_eq(lease_cost(1, 0, 0, 1, 2), 1);
}
END_TEST

START_TEST(rent_since_a_moment_counts_only_what_came_after_it) {
    Scratch scratch("ledger");
    Ledger ledger = Ledger::open(scratch.path("ledger.db"));
    ledger.add_lease(lease_of("c1"));                 // never launched
    ledger.add_lease(lease_of("c2", 3600000, 1000));  // runs on: 1 a second
    Lease released = lease_of("c3", 3600000, 1000);   // told to end at 1100
    released.state = LeaseState::terminating;
    released.released_at = 1100;
    ledger.add_lease(released);
    Lease booked = released;
    booked.node = "c4";
    booked.state = LeaseState::closed;
    booked.closed_at = 1150;
    booked.cost = 100000000;
    ledger.add_lease(booked);
    ck_assert_int_eq(ledger.rent_since(0, 1200), 200000 + 100000 + 100000000);
    ck_assert_int_eq(ledger.rent_since(1050, 1200), 150000 + 50000 + 99950000);
    ck_assert_int_eq(ledger.rent_since(1110, 1200), 90000);
    ck_assert_int_eq(ledger.rent_since(1160, 1160), 0);
}
END_TEST

START_TEST(blocks_end_by_themselves_but_failures_are_remembered) {
    Scratch scratch("ledger");
    Ledger ledger = Ledger::open(scratch.path("ledger.db"));
    ledger.put_block({"class:cloud", 100, 1, "no capacity"});
    ledger.put_block({"class:cloud", 200, 2, "no capacity"});
    ledger.put_block({"c1", 150, 1, "never booted"});
    ck_assert_int_eq(ledger.blocks(120).size(), 2);
    ck_assert_int_eq(ledger.blocks(150).size(), 1);
    ck_assert_int_eq(ledger.blocks(150)[0].failures, 2);
    ck_assert_int_eq(ledger.blocks(300).size(), 0);
    ck_assert_int_eq(ledger.block("class:cloud")->failures, 2);
    ledger.clear_block("class:cloud");
    ck_assert(!ledger.block("class:cloud"));
}
END_TEST

START_TEST(batch_is_all_or_nothing) {
    Scratch scratch("ledger");
    Ledger ledger = Ledger::open(scratch.path("ledger.db"));
    {
        Ledger::Batch batch(ledger);
        ledger.add_lease(lease_of("c1"));
        ledger.push_power_requests({{0, "c1", PowerAction::resume, 10, ""}});
    }
    ck_assert(ledger.leases().empty() && ledger.pending_power_requests().empty());
    {
        Ledger::Batch batch(ledger);
        ledger.add_lease(lease_of("c1"));
        ledger.add_lease(lease_of("c1"));
        batch.commit();
    }
    ck_assert_int_eq(Ledger::open(scratch.path("ledger.db")).open_lease("c1")->generation, 2);
}
END_TEST

int main() {
    return run_suite(
        "ledger", {jobs_first_sight_wins_and_a_reused_id_is_another_job, text_of_any_bytes_comes_back_unchanged,
                   decisions_are_kept_in_order, outcome_first_one_wins_and_no_due_date_stays_none, cycles_keep_the_last,
                   power_requests_are_a_queue, leases_of_a_node_are_numbered_and_one_is_open,
                   rent_is_rounded_up_to_step_and_minimum, rent_since_a_moment_counts_only_what_came_after_it,
                   blocks_end_by_themselves_but_failures_are_remembered, batch_is_all_or_nothing});
}
