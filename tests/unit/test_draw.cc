// SPDX-License-Identifier: GPL-3.0-or-later
// The drawing room: whatever text comes in, pages stay well-formed and inert; bars, lanes and ticks are where they
// should be.
#include <openssl/evp.h>

#include <cmath>
#include <pugixml.hpp>
#include <vector>

#include "src/draw/chart_bars.h"
#include "src/draw/chart_timeline.h"
#include "src/draw/gantt.h"
#include "src/draw/page.h"
#include "src/draw/svg.h"
#include "src/draw/text.h"
#include "tests/unit/suite.h"

using namespace squall;
using namespace squall::draw;

namespace {

const std::string kHostile = "</script><script>alert(1)</script>\" onload='x' & \x01\xff\xc0\xaf ]]> {} %s <!--";

Gantt small_gantt() {
    Gantt g;
    g.title = "Who runs where";
    g.axis = {1000, 11000, false, 0};
    g.kinds = {{"on time", 1}, {"late", 5, true}};
    g.rows.push_back({"n1", "v100", 4, {{1000, 5000, "a", "2 GPUs", 0, 2}, {3000, 11000, "b", "", 1, 2}}});
    g.rows.push_back({"n2", "v100", 4, {{1000, 2000, "c", "", 0, 4}}});
    return g;
}

// The page as a parsed tree; fails the test where it is not well-formed.
void parse(const std::string& html, pugi::xml_document& tree) {
    auto text = html;
    for (const char* open : {"<meta ", "<!DOCTYPE html>"})  // the two that XML does not have
        for (auto at = text.find(open); at != text.npos; at = text.find(open))
            text.erase(at, text.find('>', at) + 1 - at);
    for (auto at = text.find("&nbsp;"); at != text.npos; at = text.find("&nbsp;")) text.erase(at, 6);
    auto script = text.find("<script>");
    if (script != text.npos) text.erase(script, text.find("</script>", script) + 9 - script);
    auto result = tree.load_string(text.c_str());
    ck_assert_msg(result, "%s at %ld: %s", result.description(), static_cast<long>(result.offset),
                  text.substr(static_cast<std::size_t>(result.offset), 80).c_str());
}

int count(const std::string& text, const std::string& part) {
    int n = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
    return n;
}

}  // namespace

START_TEST(text_is_made_harmless) {
    ASSERT_TEXT(escape("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
    ASSERT_TEXT(escape("größe 日本 😀"), "größe 日本 😀");
    for (const char* broken : {"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\x07"})
        ck_assert_msg(escape(std::string("a") + broken).find("\xEF\xBF\xBD") == 1, "%s", broken);
}
END_TEST

START_TEST(numbers_are_short_and_grouped) {
    struct {
        double value;
        const char* text;
    } cases[] = {{0, "0"},           {12.5, "12.5"},      {1234.4, "1,234"},
                 {0.0042, "0.0042"}, {999999, "999,999"}, {-1234567, "-1,234,567"},
                 {NAN, "–"},         {0.3, "0.3"}};
    for (const auto& c : cases) ASSERT_TEXT(number(c.value), c.text);
}
END_TEST

START_TEST(ticks_reach_the_largest_value) {
    for (double most : {0.003, 0.9, 1.0, 7.0, 64.0, 99.0, 12345.0, 1e9}) {
        auto list = ticks(most, 4);
        ck_assert_msg(list.front() == 0 && list.back() >= most * 0.999 && list.size() >= 3 && list.size() <= 7, "%g",
                      most);
    }
    ck_assert_int_eq(ticks(0, 4).size(), 2);
}
END_TEST

START_TEST(time_has_round_names) {
    ASSERT_TEXT(span_text(90061), "1 d 1 h");
    ASSERT_TEXT(span_text(-5400), "−1 h 30 min");
    for (Seconds length : {1, 59, 3600, 86400, 40 * 86400, 4000 * 86400}) {
        for (bool clock : {false, true}) {
            TimeAxis axis{1700000123, 1700000123 + length, clock, 3600};
            auto list = time_ticks(axis, 6);
            ck_assert_msg(list.size() <= 8, "%ld: %zu", static_cast<long>(length), list.size());
            for (const auto& [at, name] : list) ck_assert(at >= axis.start && at <= axis.end && !name.empty());
        }
    }
    TimeAxis day{1700006400, 1700006400 + kDay, true, 3600};  // Wed 15 Nov 2023 00:00 UTC
    ASSERT_TEXT(day.name(day.start), "Wed 15 Nov 2023 01:00:00");
    auto list = time_ticks(day, 5);
    ck_assert_int_eq((list[0].first + 3600) % (6 * kHour), 0);
    ck_assert_double_eq(day.percent(day.start - 5), 0);
    ck_assert_double_eq(day.percent(day.start + kDay / 4), 25);
}
END_TEST

START_TEST(parts_of_a_bar_are_as_wide_as_their_values) {
    BarChart chart{"Cost", "", "€", {{"rent", 1}, {"late", 5}}, {{"a", {30, 10}, ""}, {"b", {100, 0}, ""}}, false, 0};
    auto html = bar_chart(chart);
    ASSERT_HAS(html, "width=\"30%\" height=\"18\" class=\"mark t1\"");
    ASSERT_HAS(html, "x=\"30%\" y=\"16\" width=\"10%\"");
    ASSERT_HAS(html, "a, late: 10 € (25.0 %)");
    chart.shares = true;
    ASSERT_HAS(bar_chart(chart), "x=\"75%\" y=\"16\" width=\"25%\"");
    chart.rows.clear();
    ASSERT_HAS(bar_chart(chart), "</figure>");
}
END_TEST

START_TEST(jobs_of_a_node_stand_in_lanes_of_their_own) {
    GanttRow row{
        "n", "", 4, {{0, 10, "a", "", 0, 2}, {0, 20, "b", "", 0, 1}, {5, 15, "c", "", 0, 1}, {10, 30, "d", "", 0, 2}}};
    ck_assert(gantt_lanes(row) == std::vector<int>({0, 2, 3, 0}));
    row.bars.push_back({12, 13, "too many", "", 0, 4});  // overlaps rather than vanishes
    ck_assert_int_eq(gantt_lanes(row)[4], 0);
}
END_TEST

START_TEST(a_gantt_chart_shows_every_bar) {
    auto g = small_gantt();
    auto html = gantt_chart(g);
    ASSERT_HAS(html, "n1: a, 0 s to 1 h 6 min, on time, 2 GPUs");
    ASSERT_HAS(html, "x=\"20%\" y=\"36.5\" width=\"80%\" height=\"15\" class=\"mark bar t5 hatched\"");
    ck_assert_int_eq(count(html, "class=\"mark bar"), 3);
    g.now = 6000;
    ASSERT_HAS(gantt_chart(g), "x1=\"50%\" y1=\"0\"");
    // A thousand jobs of a second each are drawn as a few, and all of them counted.
    auto& bars = g.rows[1].bars;
    bars.clear();
    for (int i = 0; i < 1000; ++i) bars.push_back({1000 + 2 * i, 1001 + 2 * i, "x", "", 0, 4});
    html = gantt_chart(g);
    ck_assert(count(html, "class=\"mark bar") < 10);
    ASSERT_HAS(html, "n2: 1000 short jobs");
    ASSERT_HAS(html, "more are only drawn");
}
END_TEST

START_TEST(a_timeline_keeps_the_peaks) {
    TimeChart chart{"GPUs", "", "", {0, 100000, false, 0}, {}, true, 8, "there are"};
    chart.series.push_back({{"local", 1}, {{0, 2}, {50000, 7}, {50001, 2}}});
    chart.series.push_back({{"rented", 2}, {{0, 1}}});
    auto html = time_chart(chart);
    ASSERT_HAS(html, "there are: 8");
    // 0 to 8 over 180 pixels below 8: seven local GPUs, if only for a second, are drawn at 30.5.
    ASSERT_HAS(html, " 30.5L");
    ASSERT_HAS(html, "local 2, rented 1");
    chart.series.clear();
    ASSERT_TEXT(time_chart(chart), "");
}
END_TEST

START_TEST(no_text_escapes_from_a_page) {
    Gantt g = small_gantt();
    g.title = g.note = g.kinds[0].name = kHostile;
    for (auto& row : g.rows) {
        row.label = row.node_class = kHostile;
        for (auto& bar : row.bars) bar.label = bar.detail = kHostile;
    }
    BarChart bars{kHostile, kHostile, kHostile, {{kHostile, 1}, {kHostile, 2}}, {{kHostile, {1, 2}, kHostile}},
                  false,    0};
    TimeChart times{kHostile, kHostile, kHostile, {0, 10, false, 0}, {{{kHostile, 1}, {{0, 1}}}}, false, 3, kHostile};
    Page page{kHostile, kHostile, {}, kHostile};
    page.sections.push_back({"a", kHostile, bar_chart(bars) + time_chart(times)});
    page.sections.push_back({"b", kHostile, gantt_chart(g) + paragraph(kHostile) + list_html({kHostile})});
    page.sections.push_back({"c", kHostile, table_html({{kHostile, kHostile}, {{kHostile, kHostile}}}, kHostile)});
    auto html = page_html(page);
    ck_assert_int_eq(count(html, "<script"), 1);
    ck_assert_int_eq(count(html, "onload='"), 0);
    ck_assert_int_eq(count(html, "://"), 0);  // nothing points anywhere
    pugi::xml_document tree;
    parse(html, tree);
    ck_assert(tree.select_node("//script").node().empty());
    ck_assert(tree.select_node("//*[@onload]").node().empty());
    ck_assert_int_eq(tree.select_nodes("//figure").size(), 3);
    ck_assert_int_eq(tree.select_nodes("//nav//a").size(), 3);
}
END_TEST

START_TEST(only_the_pages_own_script_may_run) {
    std::string script = kPageScript;
    unsigned char digest[32], text[64];
    ck_assert(EVP_Digest(script.data(), script.size(), digest, nullptr, EVP_sha256(), nullptr) == 1);
    EVP_EncodeBlock(text, digest, sizeof digest);
    ASSERT_TEXT(kPageScriptHash, reinterpret_cast<const char*>(text));
    ASSERT_HAS(page_html({}), std::string("'sha256-") + kPageScriptHash + "'");
}
END_TEST

int main() {
    return squall::run_suite(
        "draw", {text_is_made_harmless, numbers_are_short_and_grouped, ticks_reach_the_largest_value,
                 time_has_round_names, parts_of_a_bar_are_as_wide_as_their_values,
                 jobs_of_a_node_stand_in_lanes_of_their_own, a_gantt_chart_shows_every_bar, a_timeline_keeps_the_peaks,
                 no_text_escapes_from_a_page, only_the_pages_own_script_may_run});
}
