// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdlib>
#include <ctime>
#include <random>

#include "src/core/due_time.h"
#include "src/core/request.h"
#include "tests/unit/suite.h"

using namespace squall;

namespace {

constexpr Seconds kNow = 1772359200;  // 2026-03-01 10:00:00 UTC

void utc() {
    setenv("TZ", "UTC", 1);
    tzset();
}

std::string error_of(const char* name, const char* value) {
    Request request;
    return set_option(request, name, value, kNow);
}

Request random_request(std::mt19937& random) {
    auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Request r;
    if (pick(2)) r.due = kNow + pick(1000000);
    r.hard = pick(2);
    if (pick(2)) r.late_micro_h = pick(100000000);
    for (int n = 1; n <= 8; n *= 2)
        if (pick(2)) r.gpu_counts.push_back(n);
    if (pick(2)) r.gpu_share_pct = 1 + pick(99);
    if (pick(2)) r.profile = "net-" + std::to_string(pick(99));
    for (const char* type : {"", "v100", "a100"})
        for (int n = 1; n <= 4; n *= 2)
            if (pick(3) == 0) r.runtimes.push_back({type, n, 1 + pick(100000)});
    r.checkpointable = pick(2);
    if (r.checkpointable) r.checkpoint_s = pick(1000);
    r.burst_given = pick(2);
    if (r.burst_given) r.burst = static_cast<Burst>(pick(3));
    if (pick(2)) r.max_cost_micro = pick(1000000000);
    return r;
}

}  // namespace

START_TEST(words_say_the_same_request) {
    std::mt19937 random(3);
    for (int i = 0; i < 2000; ++i) {
        auto request = random_request(random);
        Request back;
        ASSERT_TEXT(parse_words(back, format_words(request), 0), "");
        ck_assert_msg(back == request, "%s", format_words(request).c_str());
    }
}
END_TEST

START_TEST(admin_comments_keep_every_byte) {
    std::mt19937 random(4);
    for (int i = 0; i < 500; ++i) {
        AdminComment comment;
        comment.request = random_request(random);
        for (int k = 0; k < 3; ++k) {
            std::string value;
            for (int b = 0; b < 20; ++b) value += static_cast<char>(random());
            comment.plan["key" + std::to_string(k)] = value;
        }
        auto text = format_admin_comment(comment);
        for (char c : text) ck_assert(c >= 32 && c < 127);
        auto back = parse_admin_comment(text);
        ck_assert(back.has_value());
        ck_assert(back->request == comment.request);
        ck_assert(back->plan == comment.plan);
    }
    ck_assert(!parse_admin_comment("the site's own note"));
    ck_assert(parse_admin_comment("squall: | state=parked").has_value());
}
END_TEST

START_TEST(wrong_options_are_told_what_to_write) {
    ASSERT_HAS(error_of("due", "whenever"), "--due=whenever: not a time; write a time such as 18:00");
    ASSERT_HAS(error_of("due", "2020-01-01"), "has passed");
    ASSERT_HAS(error_of("late-cost", "-5"), "--late-cost=-5: not an amount");
    ASSERT_HAS(error_of("gpu-range", "8-1"), "write 1-8 or 1,2,4");
    ASSERT_HAS(error_of("gpu-share", "150%"), "write 1% to 99%");
    ASSERT_HAS(error_of("runtime", "v100:1"), "write GPUs=TIME by type");
    ASSERT_HAS(error_of("runtime", "v100:1=2h,1=3h"), "given twice");
    ASSERT_HAS(error_of("burst", "maybe"), "write never, auto or only");
    ASSERT_HAS(error_of("run-profile", "a b"), "not a profile's name");
    ASSERT_HAS(error_of("checkpointable", "often"), "write how much work a stop loses");
    ASSERT_HAS(error_of("when", "now"), "\"when\" is not an option of Squall; write one of due, late-cost");
    std::string hostile(10000, '\n');
    ck_assert_int_lt(error_of("due", hostile.c_str()).size(), 400);
    Request request;
    ASSERT_HAS(parse_words(request, "due=noon due=noon", kNow), "due is given twice");
    ASSERT_HAS(parse_words(request, "late-cost", kNow), "write late-cost=VALUE");
    ASSERT_HAS(parse_words(request, "due=now+1h hard", kNow), "\"hard\" is not an option of Squall");
    Request spread;
    ASSERT_TEXT(parse_words(spread, "\n due=now+60\t late-cost=3\r\n", kNow), "");
    ck_assert_int_eq(*spread.due, kNow + 60);
    for (const char* bad : {"due=soon", "due=12x", "due=", "due=-4", "due=99999999999999999999"})
        ck_assert_msg(!parse_words(request, bad, 0).empty(), "%s", bad);
}
END_TEST

START_TEST(due_takes_the_forms_of_deadline) {
    struct Form {
        const char* text;
        Seconds at;
    };
    const Form forms[] = {
        {"18:00", kNow + 8 * 3600},       {"18:00:30", kNow + 8 * 3600 + 30},
        {"06:00PM", kNow + 8 * 3600},     {"6:00 pm", kNow + 8 * 3600},
        {"09:00", kNow + 23 * 3600},      {"noon", kNow + 2 * 3600},
        {"teatime", kNow + 6 * 3600},     {"midnight", kNow + 14 * 3600},
        {"tomorrow", kNow + 14 * 3600},   {"now+90", kNow + 90},
        {"now+2hours", kNow + 7200},      {"now+1week", kNow + 604800},
        {"2026-03-02", kNow + 14 * 3600}, {"2026-03-02T12:30", kNow + 26 * 3600 + 1800},
        {"0302", kNow + 14 * 3600},       {"030226", kNow + 14 * 3600},
        {"03/02", kNow + 14 * 3600},      {"03/02/26-06:00", kNow + 20 * 3600},
        {"03.02.26", kNow + 14 * 3600},   {"1772362800", kNow + 3600},
    };
    for (const auto& form : forms) {
        auto at = parse_due_time(form.text, kNow);
        ck_assert_msg(at.has_value(), "%s", form.text);
        ck_assert_msg(*at == form.at, "%s: %ld", form.text, static_cast<long>(*at - kNow));
    }
    for (const char* bad :
         {"", "25:00", "12:60", "02/31", "13:00pm", "now-5", "now+", "yesterday", "2026-13-01", "1234567"})
        ck_assert_msg(!parse_due_time(bad, kNow), "%s", bad);
}
END_TEST

START_TEST(local_clocks_jump_as_the_site_says) {
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    constexpr Seconds kSaturday = 1774692000;  // 2026-03-28 11:00 CET; the clock jumps from 2:00 to 3:00 the next day
    ck_assert_int_eq(*parse_due_time("tomorrow", kSaturday), kSaturday + 13 * 3600);
    ck_assert_int_eq(*parse_due_time("10:00", kSaturday), kSaturday + 22 * 3600);
    ck_assert_int_eq(*parse_due_time("03/29-18:00", kSaturday), kSaturday + 30 * 3600);
    ck_assert_int_eq(*parse_due_time("now+1day", kSaturday), kSaturday + 24 * 3600);
    auto gap = parse_due_time("03/29-02:30", kSaturday);  // no such time: an hour to either side
    ck_assert(gap && (*gap == kSaturday + 14 * 3600 + 1800 || *gap == kSaturday + 15 * 3600 + 1800));
    constexpr Seconds kOctober = 1792836000;  // 2026-10-24 12:00 CEST; 3:00 becomes 2:00 the next day
    ck_assert_int_eq(*parse_due_time("noon", kOctober), kOctober + 25 * 3600);
}
END_TEST

START_TEST(any_bytes_are_survived) {
    std::mt19937 random(5);
    for (int i = 0; i < 20000; ++i) {
        std::string text;
        for (int k = static_cast<int>(random() % 30); k > 0; --k)
            text += random() % 3 ? static_cast<char>(random()) : "=:;,|% v100-+"[random() % 13];
        Request request;
        parse_words(request, text, kNow);
        for (const auto& spec : option_specs()) set_option(request, spec.name, text, kNow);
        parse_admin_comment("squall:" + text);
    }
}
END_TEST

int main() {
    return squall::run_suite(
        "request",
        {words_say_the_same_request, admin_comments_keep_every_byte, wrong_options_are_told_what_to_write,
         due_takes_the_forms_of_deadline, local_clocks_jump_as_the_site_says, any_bytes_are_survived},
        utc);
}
