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
    // One money a second. 40 minutes are planned for each job: 2400.
    for (std::uint32_t job : {7, 8, 9})
        rig.ledger.put_decision({job, 1, rig.now, "released", "", "c1", rig.now, rig.now + 2400, 0, 0, 0, 0, ""});
    rig.conf.budget_day_micro = INT64_C(5000) * 1000000;
    rig.restart();
    rig.power_up("c1", "7");
    rig.power_up("c2", "8");
    rig.power_up("c3", "9");
    rig.ticks(5);
    ck_assert(rig.lease("c1").state == LeaseState::ready && rig.lease("c2").state == LeaseState::ready);
    ck_assert(rig.lease("c3").state == LeaseState::failed);
    ck_assert(!rig.alerts.empty() && has(rig.alerts[0], "cap: c3/1: BudgetDay"));
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

START_TEST(nodes_of_one_job_are_admitted_together_or_not_at_all) {
    Rig rig;
    rig.now = noon(rig.now);
    rig.ledger.put_decision({7, 1, rig.now, "released", "", "c[1-3]", rig.now, rig.now + 2400, 0, 0, 0, 0, ""});
    rig.conf.budget_day_micro = INT64_C(5000) * 1000000;  // two would fit
    rig.restart();
    for (const char* node : {"c1", "c2", "c3"}) rig.power_up(node, "7");
    rig.ticks(5);
    ck_assert_int_eq(rig.cloud.launches, 0);
    for (const char* node : {"c1", "c2", "c3"}) ck_assert(rig.lease(node).state == LeaseState::failed);
    rig.conf.budget_day_micro = 0;
    rig.conf.classes[0].spec.max_nodes = 2;
    rig.now += 1000;
    rig.restart();
    for (const char* node : {"c1", "c2", "c3"}) rig.power_up(node, "7");
    rig.ticks(5);
    ck_assert_int_eq(rig.cloud.launches, 0);
    ck_assert_msg(has(rig.lease("c1").reason, "3 wanted together"), "%s", rig.lease("c1").reason.c_str());
}
END_TEST

START_TEST(accounts_and_jobs_have_budgets_of_their_own) {
    Rig rig;
    rig.now = noon(rig.now);
    for (auto [id, account] : {std::pair(7u, "physics"), {8u, "physics"}, {9u, "biology"}}) {
        rig.ledger.put_job({id, 1, "user", account, "gpu", "job", "", ""});
        rig.ledger.put_decision({id, 1, rig.now, "released", "", "c1", rig.now, rig.now + 2400, 0, 0, 0, 0, ""});
    }
    rig.conf.accounts = {{"physics", INT64_C(3000) * 1000000, 0}};
    rig.restart();
    rig.power_up("c1", "7");
    rig.power_up("c2", "8");
    rig.power_up("c3", "9");
    rig.ticks(5);
    ck_assert(rig.lease("c1").state == LeaseState::ready && rig.lease("c3").state == LeaseState::ready);
    ck_assert_msg(has(rig.lease("c2").reason, "Account=physics BudgetDay=3000.00"), "%s",
                  rig.lease("c2").reason.c_str());
    rig.conf.accounts.clear();
    rig.conf.budget_job_micro = INT64_C(2000) * 1000000;
    rig.restart();
    rig.now += 1000;
    rig.power_up("c4", "8");
    ck_assert(rig.reach("c4", LeaseState::ready));  // 1400 seconds are left of its plan
    rig.now += 700;
    rig.power_up("c2", "8");
    rig.ticks(3);
    ck_assert_msg(has(rig.lease("c2").reason, "job 8: BudgetJob=2000.00"), "%s", rig.lease("c2").reason.c_str());
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
                 budget_counts_what_is_booked_and_begins_anew, nodes_of_one_job_are_admitted_together_or_not_at_all,
                 accounts_and_jobs_have_budgets_of_their_own, day_and_month_begin_at_local_midnight});
}
