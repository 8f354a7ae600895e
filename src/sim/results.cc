// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/sim/results.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/core/json.h"

namespace squall::sim {
namespace {

double amount(Micro micro) { return static_cast<double>(micro) / 1e6; }
double most_of(const std::vector<double>& values) {
    return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

struct Field {
    const char* name;
    bool whole;
    double value;
};

std::vector<Field> fields_of(const Result& r, double seconds) {
    return {{"jobs", true, static_cast<double>(r.jobs)},
            {"done", true, static_cast<double>(r.done)},
            {"with_due_date", true, static_cast<double>(r.with_due)},
            {"on_time", true, static_cast<double>(r.on_time)},
            {"total", false, amount(r.total())},
            {"lateness_cost", false, amount(r.lateness_cost)},
            {"rent", false, amount(r.rent)},
            {"energy", false, amount(r.energy)},
            {"restart_cost", false, amount(r.restart_cost)},
            {"late_s", false, r.late_s},
            {"moves", true, static_cast<double>(r.moves)},
            {"gpu_h", false, r.gpu_h},
            {"cloud_gpu_h", false, r.cloud_gpu_h},
            {"mean_completion_h", false, r.mean_completion_h},
            {"decisions", true, static_cast<double>(r.decision_s.size())},
            {"decision_s_median", false, median_of(r.decision_s)},
            {"decision_s_max", false, most_of(r.decision_s)},
            {"unplaceable", true, static_cast<double>(r.unplaceable)},
            {"stopped_by_faults", true, static_cast<double>(r.killed_by_faults)},
            {"seconds", false, seconds}};
}

}  // namespace

double median_of(std::vector<double> values) {
    if (values.empty()) return 0;
    auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::string results_json(const RunReport& report) {
    Json root(json_array());
    for (std::size_t i = 0; i < report.results.size(); ++i) {
        json_t* object = json_object();
        json_object_set_new(object, "policy", json_string(report.results[i].policy.c_str()));
        for (const auto& f : fields_of(report.results[i], report.seconds[i]))
            json_object_set_new(object, f.name,
                                f.whole ? ::json_integer(static_cast<json_int_t>(f.value)) : json_real(f.value));
        json_object_set_new(object, "bad_rows", ::json_integer(static_cast<json_int_t>(report.workload.bad.size())));
        json_array_append_new(root.get(), object);
    }
    return json_format(root.get(), JSON_INDENT(1) | JSON_REAL_PRECISION(12)) + "\n";
}

std::string results_csv(const RunReport& report) {
    std::string text;
    for (std::size_t i = 0; i < report.results.size(); ++i) {
        auto fields = fields_of(report.results[i], report.seconds[i]);
        if (i == 0) {
            text += "policy";
            for (const auto& f : fields) text += fmt::format(",{}", f.name);
            text += "\n";
        }
        text += report.results[i].policy;
        for (const auto& f : fields)
            text += f.whole ? fmt::format(",{:.0f}", f.value) : fmt::format(",{:.6g}", f.value);
        text += "\n";
    }
    return text;
}

std::string results_table(const RunReport& report) {
    std::string text =
        fmt::format("{:<16} {:>11} {:>12} {:>12} {:>10} {:>10} {:>9} {:>9} {:>9} {:>9} {:>8}\n", "POLICY", "ON_TIME",
                    "TOTAL", "LATENESS", "RENT", "ENERGY", "RESTART", "CLOUD_GPUh", "MEAN_h", "DECIDE_ms", "MAX_ms");
    for (const auto& r : report.results)
        text += fmt::format(
            "{:<16} {:>11} {:>12.2f} {:>12.2f} {:>10.2f} {:>10.2f} {:>9.2f} {:>10.1f} {:>9.3f} {:>9.2f} "
            "{:>8.1f}\n",
            r.policy, fmt::format("{}/{}", r.on_time, r.with_due), amount(r.total()), amount(r.lateness_cost),
            amount(r.rent), amount(r.energy), amount(r.restart_cost), r.cloud_gpu_h, r.mean_completion_h,
            1000 * median_of(r.decision_s), 1000 * most_of(r.decision_s));
    return text;
}

std::string remarks(const RunReport& report, int most) {
    const auto& w = report.workload;
    std::string text;
    for (const auto& note : w.notes) text += "note: " + note + "\n";
    if (w.left_out > 0)
        text += fmt::format("note: {} of {} rows are no GPU jobs that ran and are left out\n", w.left_out, w.rows);
    if (!w.bad.empty()) text += fmt::format("{} bad rows, not replayed:\n", w.bad.size());
    for (std::size_t i = 0; i < w.bad.size() && static_cast<int>(i) < most; ++i)
        text += fmt::format("{}:{}: {}\n", w.bad[i].file, w.bad[i].line, w.bad[i].what);
    if (static_cast<int>(w.bad.size()) > most) {
        text += "and lines";
        for (std::size_t i = most; i < w.bad.size(); ++i) text += fmt::format(" {}", w.bad[i].line);
        text += "\n";
    }
    for (const auto& r : report.results) {
        if (r.unplaceable > 0) text += fmt::format("{}: {} unplaceable\n", r.policy, r.unplaceable);
        for (const auto& line : r.unplaceable_jobs) text += fmt::format("{}: {}\n", r.policy, line);
    }
    return text;
}

}  // namespace squall::sim
