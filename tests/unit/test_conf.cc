// SPDX-License-Identifier: GPL-3.0-or-later
#include <sys/stat.h>

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

START_TEST(quantile_and_aging) {
    auto conf = read_text("RuntimeQuantile=80\nAgingTime=2h\n").conf;
    ck_assert_int_eq(conf.quantile_pct, 80);
    ck_assert_int_eq(conf.aging_s, 2 * kHour);
    ck_assert_int_eq(read_text("RuntimeQuantile=Auto\n").conf.quantile_pct, 0);
    ASSERT_HAS(only_error("RuntimeQuantile=95\n"),
               "squall.conf:1: RuntimeQuantile=95: write auto, or a percentage from 50 to 90");
    ASSERT_HAS(only_error("AgingTime=-1\n"), "squall.conf:1: AgingTime=-1");
}
END_TEST

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
    ASSERT_HAS(only_error("LogLevel=info NodeClass=a"), ":1: NodeClass=a: it begins a line of its own");
    ASSERT_HAS(only_error("Zebra=1"), "no such key; write one of NodeClass, Partition");
    ASSERT_HAS(only_error(std::string(300, 'k') + "=1"), "kkk…=1: no such key");
    ASSERT_HAS(only_error("StateDir=/" + std::string(100, 'd')),
               "too long for the sockets below it; write at most 94 characters");
}
END_TEST

START_TEST(only_text_files_are_read) {
    Scratch scratch("conf");
    auto error = [&](const std::string& path) {
        auto result = read_conf(path);
        return result.errors.size() == 1 ? result.errors.front() : "errors: " + std::to_string(result.errors.size());
    };
    ASSERT_HAS(error(scratch.path("none")), "cannot read " + scratch.path("none") + ": No such file");
    ASSERT_HAS(error(scratch.dir()), "it is a directory");
    ASSERT_HAS(error("/dev/zero"), "it is no regular file");
    ck_assert_int_eq(mkfifo(scratch.path("fifo").c_str(), 0600), 0);
    ASSERT_HAS(error(scratch.path("fifo")), "it is no regular file");
    write_file(scratch.path("large"), std::string(2 << 20, '#'));
    ASSERT_HAS(error(scratch.path("large")), "is this the right file?");
    ASSERT_HAS(only_error("# l\xe4uft\nCurrency=\xff\n# gr\xc3\xbc\xc3\x9f\x65\n"), "errors: 2");
    ASSERT_HAS(only_error("Currency=EUR\n# l\xe4uft\n"), "squall.conf:2: not UTF-8");
    ASSERT_HAS(only_error("Currency=E\x1b[31mR\n"), "squall.conf:1: a control character (0x1B)");
    ASSERT_TEXT(only_error("# gr\xc3\xbc\xc3\x9f\x65 \xf0\x9f\x98\x80\n"), "errors: 0");
    auto flood = read_text(std::string(300, '\n') + [] {
        std::string lines;
        for (int i = 0; i < 300; ++i) lines += "Wrong" + std::to_string(i) + "=1\n";
        return lines;
    }());
    ck_assert_int_eq(flood.errors.size(), 51);
    ASSERT_HAS(flood.errors.back(), "and more errors like these");
}
END_TEST

START_TEST(lines_go_on_and_files_include) {
    std::string key = "Currency=EUR";
    for (int i = 0; i < 3000; ++i) key += " \\\n                               ";
    auto result = read_text(key + "\nInterval=soon\n");
    ck_assert_int_eq(result.errors.size(), 2);
    ASSERT_HAS(result.errors[0], "squall.conf:1: a line of more than 65536 characters");
    ASSERT_HAS(result.errors[1], "squall.conf:3002: Interval=soon");

    Scratch scratch("conf");
    ck_assert_int_eq(mkdir(scratch.path("more files").c_str(), 0700), 0);
    write_file(scratch.path("squall.conf"), "Include=part.conf\nInclude \"more files/a.conf\"\nCurrency=USD \\");
    write_file(scratch.path("part.conf"), "\n\nInterval=7\r\n");
    write_file(scratch.path("more files/a.conf"), "Threads=2\nSeed=x\n");
    result = read_conf(scratch.path("squall.conf"));
    ck_assert_int_eq(result.errors.size(), 1);
    ASSERT_HAS(result.errors[0], "more files/a.conf:2: Seed=x: write a whole number");
    ck_assert_int_eq(result.conf.interval_s, 7);
    ck_assert_int_eq(result.conf.threads, 2);
    ASSERT_TEXT(result.conf.currency, "USD");

    // Not a loop, but no end either: each file names the next one twice.
    for (int i = 0; i < 40; ++i) {
        auto next = "Include f" + std::to_string(i + 1) + "\n";
        write_file(scratch.path("f" + std::to_string(i)), next + next);
    }
    write_file(scratch.path("f40"), "");
    result = read_conf(scratch.path("f0"));
    ck_assert(!result.errors.empty());
    ASSERT_HAS(result.errors[0], "more than 64 files are included");
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
    ASSERT_HAS(only_error("Profile=p"), "its run times are missing");
    ASSERT_HAS(only_error("Profile=\"a b\" Runtime=1=1h"), "give it a name of letters");
    ASSERT_HAS(only_error("NodeClass=a Nodes=n1 Price=3"), "Price=3: is for rented classes");
    ASSERT_HAS(only_error("NodeClass=a Nodes=n1 Driver.Zone=x"), "is for rented classes");
    ASSERT_HAS(only_error("NodeClass=c Nodes=c1 Rented=yes Price=3 BusyWatts=5"), "BusyWatts=5: is for local classes");
    ASSERT_HAS(only_error("NodeClass=c Nodes=c1 Rented=yes Price=3\nCapacityGroup=g Classes=c,c MaxNodes=3"),
               "names c twice");
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

START_TEST(doubtful_settings_are_warned_of) {
    auto result = read_text("NodeClass=a Nodes=n1\nInterval=60\nDeadManTime=90\n");
    ck_assert(result.errors.empty());
    ck_assert_int_eq(result.warnings.size(), 1);
    ASSERT_HAS(result.warnings[0], "squall.conf:3: DeadManTime=90: less than two cycles (Interval=60)");
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
    ck_assert_int_eq(*parse_duration("1-12"), 36 * 3600);
    ck_assert_int_eq(*parse_duration("1-12:30"), 36 * 3600 + 1800);
    ck_assert_int_eq(*parse_duration("1.5h"), 5400);
    ck_assert_int_eq(*parse_duration("15:00"), 900);
    ck_assert_int_eq(*parse_duration_ms("500ms"), 500);
    for (const char* bad : {"", "s", "1x", "-5", "1:99", "99999999d", "500ms", "1-", "1-1:1:1:1"})
        ck_assert_msg(!parse_duration(bad), "%s", bad);
    for (Micro m : {0, 1, 10, 171680, 1000000, 12240000}) ck_assert_int_eq(*parse_amount(format_amount_exact(m)), m);
    ASSERT_TEXT(format_amount(12299999), "12.30");
}
END_TEST

int main() {
    return squall::run_suite(
        "conf", {example_is_valid, quantile_and_aging, every_key_is_in_the_man_page,
                 errors_name_file_line_key_and_value, only_text_files_are_read, lines_go_on_and_files_include,
                 doubtful_settings_are_warned_of, node_classes_are_checked, slurm_style_is_read, any_bytes_are_survived,
                 hostlists_expand_and_compress, amounts_and_durations_are_exact});
}
