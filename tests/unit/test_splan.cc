// SPDX-License-Identifier: GPL-3.0-or-later
// Columns, formats and reports on hand-made views.
#include "src/splan/json.h"
#include "src/splan/report.h"
#include "src/splan/spend.h"
#include "src/splan/table.h"
#include "tests/unit/suite.h"

using namespace squall;
using namespace squall::splan;

namespace {

View sample() {
    View view;
    view.now = 1772359200;
    view.classes.push_back({"v100", "v100", false, 2, 2, 0, 0, 8, 5, 1, 310000});
    JobLine job;
    job.id = 12;
    job.name = "train\033[31m\n";
    job.user = "ada";
    job.slurm_state = "PENDING";
    job.state = "planned";
    job.due = view.now + 100;
    job.start = view.now + 50;
    job.end = view.now + 150;
    job.cost = 1500000;
    view.jobs.push_back(job);
    return view;
}

std::string jobs(const std::string& format, TableOptions options = {}) {
    auto parsed = parse_format(format, names_of(job_columns()));
    auto view = sample();
    return parsed.error.empty() ? table(job_columns(), parsed.picks, view.jobs, view, options) : parsed.error;
}

}  // namespace

START_TEST(columns_are_chosen_by_name_and_by_letter) {
    ASSERT_TEXT(jobs("jobid,cost"), " JOBID COST\n    12 1.50\n");
    ASSERT_TEXT(jobs("%i|%.8C"), "JOBID|    COST\n12   |    1.50\n");
    ASSERT_HAS(jobs("jobid,colour"), "no column \"colour\"; there are jobid (%i)");
    ASSERT_HAS(jobs("%Z"), "no column %Z");
}
END_TEST

START_TEST(names_cannot_steer_the_terminal) {
    auto text = jobs("name");
    ck_assert(text.find('\033') == text.npos);
    ASSERT_HAS(text, "train?[31m?");
    ASSERT_TEXT(printable("caf\xc3\xa9 \xff"), "caf\xc3\xa9 ?");
    ck_assert_int_eq(display_width("日本"), 4);
    ASSERT_TEXT(cut("abcdef", 4), "abc…");
}
END_TEST

START_TEST(late_jobs_say_so) {
    ASSERT_HAS(jobs("state,slack"), "planned late -0:50");
    TableOptions colour;
    colour.colour = true;
    ASSERT_HAS(jobs("slack", colour), "\033[1;31m-0:50\033[0m");
}
END_TEST

START_TEST(wide_tables_are_cut_to_the_terminal) {
    TableOptions narrow;
    narrow.terminal_width = 20;
    auto text = jobs(kJobDefault, narrow);
    for (std::size_t from = 0; from < text.size();) {
        auto end = text.find('\n', from);
        ck_assert_int_le(display_width(text.substr(from, end - from)), 20);
        from = end + 1;
    }
}
END_TEST

START_TEST(reports_count_what_happened) {
    auto view = sample();
    OutcomeRow good, late;
    good.slurm_state = late.slurm_state = "COMPLETED";
    good.due = 100, good.end = 90, good.energy = 10;
    late.due = 100, late.end = 160, late.late = 5, late.node_count = 2, late.shared_gpu = true;
    view.outcomes = {good, late};
    Lease served, open;
    served.ready_at = 5, served.state = LeaseState::closed;
    open.state = LeaseState::booting;
    view.leases = {served, open};
    auto report = make_report(view);
    ck_assert_int_eq(report.on_time, 1);
    ck_assert_int_eq(report.with_due, 2);
    ck_assert_int_eq(report.late_s, 60);
    ck_assert_int_eq(report.bursts, 1);
    ck_assert_int_eq(report.two_node_jobs, 1);
    ck_assert_int_eq(report.shared_gpus, 1);
    ASSERT_HAS(report_text(view, report), "on time              1 of 2, 60 s late in all");
    ASSERT_HAS(progress_line(view), "1 jobs: 0 running, 1 waiting, 0 done");
    view.has_ledger = true;
    ASSERT_HAS(to_json(view, report, make_spend(view)), "\"on_time\": 1");
}
END_TEST

START_TEST(every_column_has_its_own_name_letter_and_help) {
    for (const auto& list : {names_of(job_columns()), names_of(class_columns())})
        for (std::size_t i = 0; i < list.size(); ++i)
            for (std::size_t k = 0; k < i; ++k)
                ck_assert(list[i].name != list[k].name && list[i].letter != list[k].letter);
}
END_TEST

START_TEST(rent_is_split_by_account_job_and_offer_and_forecast_to_the_months_end) {
    setenv("TZ", "UTC", 1);
    tzset();
    View view = sample();
    view.now = 1772366400;  // 2026-03-01 12:00: a month and a day are twelve hours old
    view.account_of = {{7, "physics"}, {8, "biology"}};
    Lease done;
    done.state = LeaseState::closed;
    done.node = "c1", done.offer = "spot", done.class_name = "cloud", done.job_ids = "7,8";
    done.price_micro_h = 2000000;
    done.launched_at = view.now - 36 * kHour;  // from the month before to an hour ago
    done.ready_at = done.launched_at + 100;
    done.released_at = done.closed_at = view.now - kHour;
    done.cost = done.rent_until(done.released_at);
    Lease open = done;
    open.state = LeaseState::ready;
    open.node = "c2", open.offer = "steady,\"x\"", open.job_ids = "7", open.cost = 0;
    open.released_at = open.closed_at = 0;
    open.launched_at = view.now - 2 * kHour;
    open.planned_end = view.now + 3 * kHour;
    view.leases = {done, open};
    Spend spend = make_spend(view);
    ck_assert_int_eq(spend.rent_today, (11 + 2) * 2000000);
    ck_assert_int_eq(spend.rent_month, (11 + 2) * 2000000);
    ck_assert_int_eq(spend.per_hour, 2000000);
    ck_assert_int_eq(spend.forecast_month, (11 + 2 + 3) * 2000000);
    ASSERT_TEXT(spend_csv(spend),
                "by,name,today,month,total,leases,node_hours\n"
                "account,biology,11.000000,11.000000,35.000000,1,17.500\n"
                "account,physics,15.000000,15.000000,39.000000,2,19.500\n"
                "job,7,15.000000,15.000000,39.000000,2,19.500\n"
                "job,8,11.000000,11.000000,35.000000,1,17.500\n"
                "offer,spot,22.000000,22.000000,70.000000,1,35.000\n"
                "offer,\"steady,\"\"x\"\"\",4.000000,4.000000,4.000000,1,2.000\n");
    std::string text = spend_text(view, spend);
    ASSERT_HAS(text, "rent today 26.00 EUR");
    ASSERT_HAS(text, "forecast 32.00 EUR");
    ASSERT_HAS(text, "physics");
}
END_TEST

int main() {
    return squall::run_suite(
        "splan", {columns_are_chosen_by_name_and_by_letter, names_cannot_steer_the_terminal, late_jobs_say_so,
                  wide_tables_are_cut_to_the_terminal, reports_count_what_happened,
                  rent_is_split_by_account_job_and_offer_and_forecast_to_the_months_end,
                  every_column_has_its_own_name_letter_and_help});
}
