// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/conf_keys.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <charconv>

#include "src/core/amount.h"
#include "src/core/hostlist.h"

namespace squall {
namespace {

template <typename Int>
std::string set_int(Int& to, const std::string& value, std::int64_t least, std::int64_t most) {
    std::int64_t v = 0;
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), v);
    if (value.empty() || error != std::errc() || end != value.data() + value.size() || v < least || v > most)
        return fmt::format("a whole number from {} to {}", least, most);
    to = static_cast<Int>(v);
    return "";
}

std::string set_time(Seconds& to, const std::string& value, Seconds least, Seconds most) {
    auto s = parse_duration(value);
    if (!s || *s < least || *s > most)
        return fmt::format("a time from {} s to {}, such as 90, 90s, 5m or 2h", least, format_duration(most));
    to = *s;
    return "";
}

std::string set_ms(std::int64_t& to, const std::string& value, std::int64_t least, std::int64_t most) {
    auto ms = parse_duration_ms(value);
    if (!ms || *ms < least || *ms > most)
        return fmt::format("a time from {} ms to {} s, such as 500ms or 2s", least, most / 1000);
    to = *ms;
    return "";
}

std::string set_amount(Micro& to, const std::string& value) {
    auto amount = parse_amount_per_hour(value);
    if (!amount) return "an amount that is not negative, such as 3.06";
    to = *amount;
    return "";
}

std::string set_flag(bool& to, const std::string& value) {
    for (const char* yes : {"yes", "true", "1"})
        if (strcasecmp(value.c_str(), yes) == 0) return to = true, "";
    for (const char* no : {"no", "false", "0"})
        if (strcasecmp(value.c_str(), no) == 0) return to = false, "";
    return "yes or no";
}

std::string set_path(std::string& to, const std::string& value) {
    if (value.empty() || value.front() != '/') return "an absolute path";
    to = value;
    return "";
}

std::string set_word(std::string& to, const std::string& value) {
    bool good = !value.empty() && value.size() <= 64 && std::all_of(value.begin(), value.end(), [](unsigned char c) {
        return c > 32 && c < 127 && c != '"' && c != '\'' && c != '\\';
    });
    if (!good) return "a word without spaces or quotes";
    to = value;
    return "";
}

std::string set_log_level(int& to, const std::string& value) {
    const char* names[] = {"error", "warning", "info", "debug"};
    for (int i = 0; i < 4; ++i)
        if (strcasecmp(value.c_str(), names[i]) == 0) return to = i + 1, "";
    return set_int(to, value, 1, 4).empty() ? "" : "error, warning, info or debug";
}

std::string set_quantile(Conf& c, const std::string& value) {
    if (strcasecmp(value.c_str(), "auto") == 0) return c.quantile_pct = 0, "";
    return set_int(c.quantile_pct, value, 50, 90).empty() ? "" : "auto, or a percentage from 50 to 90";
}

template <typename Use>
bool each_part(const std::string& text, Use use) {
    std::size_t from = 0;
    while (true) {
        auto comma = text.find(',', from);
        if (!use(text.substr(from, comma - from))) return false;
        if (comma == text.npos) return true;
        from = comma + 1;
    }
}

std::string set_watts(NodeClassConf& c, const std::string& value) {
    std::vector<int> watts;
    bool good = each_part(
        value, [&](const std::string& part) { return set_int(watts.emplace_back(), part, 0, 100000).empty(); });
    if (!good || !std::is_sorted(watts.begin(), watts.end()))
        return "the node's watts with 1, 2, … busy GPUs, not falling, such as 530,700,870,1040";
    c.spec.busy_watts = watts;
    return "";
}

// "0.17" or "00:00=0.10,07:00=0.22".
std::string set_tariff(NodeClassConf& c, const std::string& value) {
    constexpr const char* kWant =
        "a price per kWh, or prices by time of day in ascending order such as 00:00=0.10,07:00=0.22";
    std::vector<TariffStep> steps;
    bool good = each_part(value, [&](const std::string& part) {
        auto equal = part.find('=');
        auto price = parse_amount(part.substr(equal == part.npos ? 0 : equal + 1));
        if (!price) return false;
        if (equal == part.npos) return steps.empty() && (steps.push_back({0, *price}), true);
        int hour = 0, minute = 0;
        if (equal != 5 || part[2] != ':' || !set_int(hour, part.substr(0, 2), 0, 23).empty() ||
            !set_int(minute, part.substr(3, 2), 0, 59).empty())
            return false;
        Seconds from = hour * kHour + minute * 60;
        if (!steps.empty() && from <= steps.back().from_s) return false;
        steps.push_back({from, *price});
        return true;
    });
    if (!good) return kWant;
    c.spec.tariff = steps;
    return "";
}

std::string set_pue(NodeClassConf& c, const std::string& value) {
    auto pue = parse_amount(value);
    if (!pue || *pue < 1000000 || *pue > 10000000) return "a number from 1 to 10, such as 1.33";
    c.spec.pue_milli = static_cast<int>(*pue / 1000);
    return "";
}

std::string set_nodes(NodeClassConf& c, const std::string& value) {
    std::string error;
    auto names = expand_hostlist(value, error);
    if (!names) return "node names such as n[1-4] (" + error + ")";
    c.nodes = *names;
    return "";
}

std::string set_manage(PartitionConf& p, const std::string& value) {
    if (strcasecmp(value.c_str(), "all") != 0 && strcasecmp(value.c_str(), "due") != 0) return "all or due";
    p.manage_all = strcasecmp(value.c_str(), "all") == 0;
    return "";
}

std::string set_rate(int& ppm, const std::string& value) {
    auto rate = parse_amount(value);
    if (!rate || *rate > 1000000) return "expected interruptions per node and hour, from 0 to 1, such as 0.05";
    ppm = static_cast<int>(*rate);
    return "";
}

std::string set_optional_amount(std::optional<Micro>& to, const std::string& value) {
    Micro amount = 0;
    std::string want = set_amount(amount, value);
    if (want.empty()) to = amount;
    return want;
}

}  // namespace

const std::vector<ConfKey<Conf>>& global_keys() {
    static const std::vector<ConfKey<Conf>> keys = {
        {"Currency", [](Conf& c, const std::string& v) { return set_word(c.currency, v); }},
        {"StateDir", [](Conf& c, const std::string& v) { return set_path(c.state_dir, v); }},
        {"LogDir", [](Conf& c, const std::string& v) { return set_path(c.log_dir, v); }},
        {"ProgramDir", [](Conf& c, const std::string& v) { return set_path(c.program_dir, v); }},
        {"LogLevel", [](Conf& c, const std::string& v) { return set_log_level(c.log_level, v); }},
        {"PlanTime", [](Conf& c, const std::string& v) { return set_ms(c.plan_time_ms, v, 10, 600000); }},
        {"Threads", [](Conf& c, const std::string& v) { return set_int(c.threads, v, 1, 256); }},
        {"Seed", [](Conf& c, const std::string& v) { return set_int(c.seed, v, 0, INT64_MAX); }},
        {"Interval", [](Conf& c, const std::string& v) { return set_time(c.interval_s, v, 1, kDay); }},
        {"PollInterval", [](Conf& c, const std::string& v) { return set_ms(c.poll_ms, v, 100, 60000); }},
        {"DeadManTime", [](Conf& c, const std::string& v) { return set_time(c.dead_man_s, v, 5, kDay); }},
        {"ParkTime", [](Conf& c, const std::string& v) { return set_time(c.park_s, v, 5, kDay); }},
        {"Backfill", [](Conf& c, const std::string& v) { return set_flag(c.backfill, v); }},
        {"DryRun", [](Conf& c, const std::string& v) { return set_flag(c.dry_run, v); }},
        {"RuntimeQuantile", set_quantile},
        {"AgingTime", [](Conf& c, const std::string& v) { return set_time(c.aging_s, v, 0, 365 * kDay); }},
        {"ScalingEfficiency", [](Conf& c, const std::string& v) { return set_int(c.scaling_pct, v, 50, 100); }},
        {"BudgetDay", [](Conf& c, const std::string& v) { return set_amount(c.budget_day_micro, v); }},
        {"BudgetMonth", [](Conf& c, const std::string& v) { return set_amount(c.budget_month_micro, v); }},
        {"BudgetJob", [](Conf& c, const std::string& v) { return set_amount(c.budget_job_micro, v); }},
        {"AlertProgram", [](Conf& c, const std::string& v) { return set_path(c.alert_program, v); }},
        {"PriceDir", [](Conf& c, const std::string& v) { return set_path(c.price_dir, v); }},
    };
    return keys;
}

const std::vector<ConfKey<NodeClassConf>>& node_class_keys() {
    using N = NodeClassConf;
    using S = const std::string&;
    static const std::vector<ConfKey<N>> keys = {
        {"Nodes", set_nodes},
        {"GpuType", [](N& c, S v) { return set_word(c.spec.gpu_type, v); }},
        {"Rented", [](N& c, S v) { return set_flag(c.spec.rented, v); }},
        {"Price", [](N& c, S v) { return set_amount(c.spec.price_micro_h, v); }},
        {"BillingStep", [](N& c, S v) { return set_time(c.spec.billing_step_s, v, 1, kDay); }},
        {"BillingMin", [](N& c, S v) { return set_time(c.spec.billing_min_s, v, 0, 30 * kDay); }},
        {"BootTime", [](N& c, S v) { return set_time(c.spec.boot_s, v, 0, kDay); }},
        {"ReleaseTime", [](N& c, S v) { return set_time(c.spec.release_s, v, 0, kDay); }},
        {"Interruptions", [](N& c, S v) { return set_rate(c.spec.interruptions_ppm_h, v); }},
        {"MaxNodes", [](N& c, S v) { return set_int(c.spec.max_nodes, v, 0, 65536); }},
        {"Driver", [](N& c, S v) { return set_word(c.driver, v); }},
        {"IdleWatts", [](N& c, S v) { return set_int(c.spec.idle_watts, v, 0, 100000); }},
        {"BusyWatts", set_watts},
        {"Tariff", set_tariff},
        {"PUE", set_pue},
        {"PowerDown", [](N& c, S v) { return set_flag(c.spec.power_down, v); }},
    };
    return keys;
}

const std::vector<ConfKey<PartitionConf>>& partition_keys() {
    static const std::vector<ConfKey<PartitionConf>> keys = {
        {"Manage", set_manage},
        {"BurstTo", [](PartitionConf& p, const std::string& v) { return set_word(p.burst_to, v); }},
        {"LateCost", [](PartitionConf& p, const std::string& v) { return set_amount(p.late_micro_h, v); }},
    };
    return keys;
}

const std::vector<ConfKey<ProfileConf>>& profile_keys() {
    static const std::vector<ConfKey<ProfileConf>> keys = {
        {"Runtime", [](ProfileConf& p, const std::string& v) { return parse_runtimes(p.runtimes, v); }},
    };
    return keys;
}

const std::vector<ConfKey<OfferConf>>& offer_keys() {
    using O = OfferConf;
    using S = const std::string&;
    static const std::vector<ConfKey<O>> keys = {
        {"Class", [](O& o, S v) { return set_word(o.class_name, v); }},
        {"Driver", [](O& o, S v) { return set_word(o.driver, v); }},
        {"Price", [](O& o, S v) { return set_optional_amount(o.price, v); }},
        {"BillingStep", [](O& o, S v) { return set_time(o.billing_step_s, v, 1, kDay); }},
        {"BillingMin", [](O& o, S v) { return set_time(o.billing_min_s, v, 0, 30 * kDay); }},
        {"Interruptions", [](O& o, S v) { return set_rate(o.interruptions_ppm_h, v); }},
    };
    return keys;
}

const std::vector<ConfKey<AccountConf>>& account_keys() {
    static const std::vector<ConfKey<AccountConf>> keys = {
        {"BudgetDay", [](AccountConf& a, const std::string& v) { return set_amount(a.budget_day_micro, v); }},
        {"BudgetMonth", [](AccountConf& a, const std::string& v) { return set_amount(a.budget_month_micro, v); }},
    };
    return keys;
}

const std::vector<ConfKey<GroupConf>>& group_keys() {
    static const std::vector<ConfKey<GroupConf>> keys = {
        {"Classes",
         [](GroupConf& g, const std::string& v) -> std::string {
             each_part(v, [&](const std::string& part) { return g.classes.push_back(part), true; });
             return "";
         }},
        {"MaxNodes", [](GroupConf& g, const std::string& v) { return set_int(g.max_nodes, v, 0, 65536); }},
    };
    return keys;
}

std::string nearest_word(std::string_view written, const std::vector<std::string>& known) {
    auto distance = [&](const std::string& word) {  // Levenshtein, case ignored
        std::vector<std::size_t> row(word.size() + 1);
        for (std::size_t i = 0; i <= word.size(); ++i) row[i] = i;
        for (std::size_t i = 1; i <= written.size(); ++i) {
            std::size_t diagonal = row[0];
            row[0] = i;
            for (std::size_t k = 1; k <= word.size(); ++k) {
                std::size_t change = diagonal + (std::tolower(static_cast<unsigned char>(written[i - 1])) !=
                                                 std::tolower(static_cast<unsigned char>(word[k - 1])));
                diagonal = row[k];
                row[k] = std::min({row[k] + 1, row[k - 1] + 1, change});
            }
        }
        return row.back();
    };
    std::string best;
    if (written.size() > 64) return best;
    std::size_t least = std::max<std::size_t>(2, written.size() / 2) + 1;  // farther is no typing error
    for (const auto& word : known)
        if (auto d = distance(word); d < least) {
            best = word;
            least = d;
        }
    return best;
}

}  // namespace squall
