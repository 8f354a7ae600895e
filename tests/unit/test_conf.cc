// SPDX-License-Identifier: GPL-3.0-or-later
#include <fstream>
#include <random>

#include "src/core/amount.h"
#include "src/core/conf.h"
#include "src/core/hostlist.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"

using namespace squall;

namespace {

ConfResult read_text(const std::string& text) {
    Scratch scratch("conf");
    std::ofstream(scratch.path("squall.conf")) << text;
    return read_conf(scratch.path("squall.conf"));
}

std::string only_error(const std::string& text) {
    auto result = read_text(text);
    return result.errors.size() == 1 ? result.errors.front() : "errors: " + std::to_string(result.errors.size());
}

}  // namespace

START_TEST(example_is_valid) {
    auto result = read_conf(SOURCE_DIR "/conf/squall.conf.example");
    ASSERT_TEXT(result.errors.empty() ? "" : result.errors.front(), "");
    ck_assert_int_eq(result.conf.classes.size(), 3);
    const auto& v100 = result.conf.classes[0];
    ck_assert_int_eq(v100.nodes.size(), 8);
    ck_assert_int_eq(v100.spec.busy_watts[3], 1040);
    ck_assert_int_eq(v100.spec.tariff[1].from_s, 7 * 3600);
    ck_assert_int_eq(v100.spec.tariff[1].price_micro_kwh, 171680);
    ck_assert_int_eq(result.conf.classes[2].spec.price_micro_h, 12240000);
    ASSERT_TEXT(result.conf.classes[2].driver, "local");
    ck_assert_ptr_nonnull(result.conf.partition("gpu"));
}
END_TEST

START_TEST(every_key_is_in_the_man_page) {
    std::ifstream page(SOURCE_DIR "/doc/squall.conf.5");
    std::string text((std::istreambuf_iterator<char>(page)), {});
    ck_assert(!text.empty());
    std::ifstream source(SOURCE_DIR "/src/core/conf_keys.cc");
    std::string line;
    int keys = 0;
    while (std::getline(source, line)) {
        auto at = line.find("        {\"");
        if (at != 0) continue;
        auto key = line.substr(10, line.find('"', 10) - 10);
        ASSERT_HAS(text, key + "=");
        ++keys;
    }
    ck_assert_int_ge(keys, 30);
}
END_TEST

START_TEST(errors_name_file_line_key_and_value) {
    ASSERT_HAS(only_error("Currency=EUR\nPlanTimes=2s\n"),
               "squall.conf:2: PlanTimes=2s: no such key; did you mean PlanTime?");
    ASSERT_HAS(only_error("Interval=soon\n"), "squall.conf:1: Interval=soon: write a time from 1 s");
    ASSERT_HAS(only_error("Interval=60\nInterval=70\n"), ":2: Interval=70: given twice");
    ASSERT_HAS(only_error("Backfill=maybe"), "write yes or no");
    ASSERT_HAS(only_error("StateDir=squall"), "write an absolute path");
    ASSERT_HAS(only_error("Include nowhere.conf"), ":1: cannot read");
    ASSERT_HAS(only_error("just words"), "not Key=Value");
    ASSERT_HAS(only_error(std::string("Currency=E\0R\n", 13)), "a NUL byte");
    ASSERT_HAS(only_error("Include squall.conf"), "do they include each other?");
}
END_TEST

START_TEST(node_classes_are_checked) {
    ASSERT_HAS(only_error("NodeClass=a Nodes=n[1-"), "a [ is not closed");
    ASSERT_HAS(only_error("NodeClass=a Nodes=n1\nNodeClass=a Nodes=n2"), ":2: NodeClass=a: defined before");
    ASSERT_HAS(only_error("NodeClass=a Nodes=n[1-2]\nNodeClass=b Nodes=n2"),
               ":2: NodeClass=b: node n2 is in two classes");
    ASSERT_HAS(only_error("NodeClass=c Nodes=c1 Rented=yes"), "write Price=3.06");
    ASSERT_HAS(only_error("NodeClass=c Nodes=c1 Rented=yes Price=-3"), "Price=-3: write an amount");
    ASSERT_HAS(only_error("NodeClass=a Nodes=n1 BusyWatts=700,530"), "not falling");
    ASSERT_HAS(only_error("NodeClass=a Nodes=n1 Tariff=07:00=0.2,00:00=0.1"), "in ascending order");
    ASSERT_HAS(only_error("NodeClass=a Nodes=n1 Prize=3"), "did you mean Price?");
    ASSERT_HAS(only_error("CapacityGroup=g Classes=x MaxNodes=3"), "names x, which is no NodeClass");
    ASSERT_HAS(only_error("Partition=gpu Manage=some"), "write all or due");
    ASSERT_HAS(only_error("Profile=p Runtime=v100"), "write GPUs=TIME");
}
END_TEST

START_TEST(slurm_style_is_read) {
    auto result = read_text(
        "# comment\ncurrency=USD   # more\nNodeClass=c Nodes=c[1-2] \\\n  Rented=YES Price=3 Driver.Zone=eu-1\n");
    ck_assert(result.errors.empty());
    ASSERT_TEXT(result.conf.currency, "USD");
    ck_assert_int_eq(result.conf.classes.size(), 1);
    ASSERT_TEXT(result.conf.classes[0].driver_options.at("Zone"), "eu-1");
}
END_TEST

START_TEST(any_bytes_are_survived) {
    std::mt19937 random(7);
    const std::string pieces[] = {"NodeClass=", "a", " ", "\n",   "Nodes=n[",      "]",     "-", "=", "\\\n", "\"", "#",
                                  "Include ",   "1", ",", "\xff", "Tariff=00:00=", "Price="};
    for (int i = 0; i < 400; ++i) {
        std::string text;
        for (int k = 0; k < 40; ++k) text += pieces[random() % std::size(pieces)];
        read_text(text);
    }
}
END_TEST

START_TEST(hostlists_expand_and_compress) {
    std::string error;
    auto names = expand_hostlist("n[1-3,07-09],c1", error);
    ck_assert(names.has_value());
    ck_assert_int_eq(names->size(), 7);
    ASSERT_TEXT((*names)[3], "n07");
    ASSERT_TEXT(compress_hostlist(*names), "n[1-3,07-09],c1");
    ASSERT_TEXT(compress_hostlist({"n1"}), "n1");
    ASSERT_TEXT(compress_hostlist({"login", "n9", "n10", "n11"}), "login,n[9-11]");
    ck_assert_int_eq(expand_hostlist("r[1-2]n[1-3]", error)->size(), 6);
    for (const char* bad : {"n[1-", "n[3-1]", "n[a]", "", "a,,b", "n[1-99999999]", "a b", "n]"})
        ck_assert_msg(!expand_hostlist(bad, error), "%s", bad);
}
END_TEST

START_TEST(amounts_and_durations_are_exact) {
    ck_assert_int_eq(*parse_amount("0.17168"), 171680);
    ck_assert_int_eq(*parse_amount_per_hour("20/h"), 20000000);
    for (const char* bad : {"", "-1", "1e3", "1.2.3", "9999999999", "0.1234567", "20 h", "."})
        ck_assert_msg(!parse_amount(bad), "%s", bad);
    ck_assert_int_eq(*parse_duration("1-12:00:00"), 36 * 3600);
    ck_assert_int_eq(*parse_duration("1.5h"), 5400);
    ck_assert_int_eq(*parse_duration("15:00"), 900);
    ck_assert_int_eq(*parse_duration_ms("500ms"), 500);
    for (const char* bad : {"", "s", "1x", "-5", "1:99", "99999999d", "500ms"})
        ck_assert_msg(!parse_duration(bad), "%s", bad);
    for (Micro m : {0, 1, 10, 171680, 1000000, 12240000}) ck_assert_int_eq(*parse_amount(format_amount_exact(m)), m);
    ASSERT_TEXT(format_amount(12299999), "12.30");
}
END_TEST

int main() {
    return squall::run_suite(
        "conf",
        {example_is_valid, every_key_is_in_the_man_page, errors_name_file_line_key_and_value, node_classes_are_checked,
         slurm_style_is_read, any_bytes_are_survived, hostlists_expand_and_compress, amounts_and_durations_are_exact});
}
