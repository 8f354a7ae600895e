// SPDX-License-Identifier: GPL-3.0-or-later
// Caps and budgets: what they let launch, what they hold back, and that running leases are never touched.
#include "cloud/caps.h"
#include "tests/unit/cloud_fakes.h"
#include "tests/unit/suite.h"

using namespace squall;
using namespace squall::cloud;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Noon, so that an hour more is the same day in every time zone's sense of it.
Seconds noon(Seconds now) { return day_start(now) + 12 * kHour; }

}  // namespace

START_TEST(max_nodes_refuses_the_one_too_many) {
    Rig rig;
    rig.conf.classes[0].spec.max_nodes = 2;
    rig.restart();
    for (const char* node : {"c1", "c2", "c3"}) rig.power_up(node);
    rig.ticks(5);
    ck_assert(rig.lease("c1").state == LeaseState::ready && rig.lease("c2").state == LeaseState::ready);
    ck_assert(rig.lease("c3").state == LeaseState::failed);
    ck_assert_msg(has(rig.lease("c3").reason, "NodeClass=cloud MaxNodes=2"), "%s", rig.lease("c3").reason.c_str());
    ck_assert_int_eq(rig.slurm.forced.size(), 1);
    ck_assert(rig.ledger.block("c3") && !rig.ledger.block("class:cloud"));
}
END_TEST

START_TEST(max_nodes_waits_for_leases_that_are_ending) {
    Rig rig;
    rig.conf.classes[0].spec.max_nodes = 1;
    rig.restart();
    rig.up("c1");
    rig.cloud.terminate_fails = true;
    rig.slurm.suspend("c1", rig.now);
    rig.ticks(3);
    rig.power_up("c2");
    rig.ticks(30);
    ck_assert(rig.lease("c2").state == LeaseState::wanted);
    ck_assert(rig.slurm.forced.empty() && rig.ledger.blocks(rig.now).empty());
    rig.cloud.terminate_fails = false;
    ck_assert(rig.reach("c2", LeaseState::ready));
}
END_TEST

START_TEST(capacity_group_counts_over_its_classes) {
    Rig rig;
    NodeClassConf other = rig.conf.classes[0];
    other.spec.name = "big";
    other.nodes = {"b1", "b2"};
    rig.conf.classes.push_back(other);
    rig.conf.groups.push_back({"quota", {"cloud", "big"}, 2});
    rig.restart();
    rig.up("c1");
    rig.up("b1");
    rig.power_up("b2");
    rig.ticks(3);
    ck_assert(rig.lease("b2").state == LeaseState::failed);
    ck_assert(has(rig.lease("b2").reason, "CapacityGroup=quota MaxNodes=2"));
}
END_TEST

START_TEST(budget_covers_the_planned_time_of_all_leases_before_a_launch) {
    Rig rig;
    rig.now = noon(rig.now);
    // One money a second. 40 minutes are planned for job 7: 2400.
    rig.ledger.put_decision({7, 1, rig.now, "released", "", "c1", rig.now, rig.now + 2400, 0, 0, 0, 0, ""});
    rig.conf.budget_day_micro = INT64_C(5000) * 1000000;
    rig.restart();
    rig.power_up("c1", "7");
    rig.power_up("c2", "7");
    rig.power_up("c3", "7");
    rig.ticks(5);
    ck_assert(rig.lease("c1").state == LeaseState::ready && rig.lease("c2").state == LeaseState::ready);
    ck_assert(rig.lease("c3").state == LeaseState::failed);
    ck_assert_msg(has(rig.lease("c3").reason, "BudgetDay=5000.00"), "%s", rig.lease("c3").reason.c_str());
    // Overspending ends nothing that runs.
    rig.ticks(6000);
    ck_assert(rig.lease("c1").state == LeaseState::ready && rig.lease("c2").state == LeaseState::ready);
    ck_assert_int_gt(rig.ledger.rent_since(day_start(rig.now), rig.now), rig.conf.budget_day_micro);
}
END_TEST

START_TEST(budget_counts_what_is_booked_and_begins_anew) {
    Rig rig;
    rig.now = noon(rig.now);
    rig.conf.budget_month_micro = INT64_C(4000) * 1000000;
    rig.restart();
    rig.up("c1");  // without a plan an hour is committed
    rig.ticks(600);
    rig.slurm.suspend("c1", rig.now);
    ck_assert(rig.reach("c1", LeaseState::closed));
    rig.power_up("c2");
    rig.ticks(3);
    ck_assert(has(rig.lease("c2").reason, "BudgetMonth=4000.00"));
    ck_assert(rig.lease("c2").state == LeaseState::failed);
    while (month_start(rig.now) < rig.lease("c1").closed_at) rig.now += kDay;
    rig.up("c2");
    ck_assert(rig.lease("c2").state == LeaseState::ready);
}
END_TEST

START_TEST(day_and_month_begin_at_local_midnight) {
    setenv("TZ", "Europe/Berlin", 1);
    tzset();
    // 2026-03-29 is the day of 23 hours: 12:00 CEST = 10:00 UTC, midnight was 23:00 UTC the day before.
    Seconds noon_utc = 1774778400;
    ck_assert_int_eq(noon_utc - day_start(noon_utc), 11 * kHour);
    ck_assert_int_eq(day_start(noon_utc) - month_start(noon_utc), 28 * kDay);
}
END_TEST

int main() {
    return run_suite(
        "caps", {max_nodes_refuses_the_one_too_many, max_nodes_waits_for_leases_that_are_ending,
                 capacity_group_counts_over_its_classes, budget_covers_the_planned_time_of_all_leases_before_a_launch,
                 budget_counts_what_is_booked_and_begins_anew, day_and_month_begin_at_local_midnight});
}
