// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/sim/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "src/sim/results.h"

namespace squall::sim {
namespace {

using Run = ExperimentTable (*)(const ExperimentOptions&);
constexpr std::pair<const char*, Run> kExperiments[] = {{"csv3", experiment_csv3},
                                                        {"e1", experiment_e1},
                                                        {"e2", experiment_e2},
                                                        {"e3", experiment_e3},
                                                        {"quantile", experiment_quantile},
                                                        {"deadlines", experiment_deadlines},
                                                        {"burst", experiment_burst}};

std::size_t width(const std::string& text) {  // characters, not bytes
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

const std::vector<std::string>& experiment_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> list;
        for (const auto& e : kExperiments) list.emplace_back(e.first);
        return list;
    }();
    return names;
}

ExperimentTable run_experiment(const std::string& name, const ExperimentOptions& options) {
    for (const auto& [known, run] : kExperiments)
        if (name == known) return run(options);
    ExperimentTable none;
    none.error = "no experiment " + name;
    return none;
}

Result replay_with(const Workload& workload, const std::string& policy, const PolicyOptions& options) {
    auto made = make_policy(policy, options);
    auto result = replay(workload, workload.cluster, *made, {});
    result.policy = policy;
    return result;
}

std::string median_and_range(std::vector<double> values, int decimals, const char* unit) {
    if (values.empty()) return "–";
    auto [least, most] = std::minmax_element(values.begin(), values.end());
    if (values.size() == 1) return fmt::format("{:.{}f}{}", *least, decimals, unit);
    return fmt::format("{:.{}f}{} ({:.{}f} … {:.{}f})", median_of(values), decimals, unit, *least, decimals, *most,
                       decimals);
}

json_t* range_json(std::vector<double> values) {
    json_t* object = json_object();
    json_t* list = json_array();
    for (double v : values) json_array_append_new(list, json_real(v));
    json_object_set_new(object, "values", list);
    if (values.empty()) return object;
    auto [least, most] = std::minmax_element(values.begin(), values.end());
    json_object_set_new(object, "least", json_real(*least));
    json_object_set_new(object, "most", json_real(*most));
    json_object_set_new(object, "median", json_real(median_of(values)));
    return object;
}

std::string find_data(const std::string& given, const std::string& file) {
    namespace fs = std::filesystem;
    std::error_code none;
    std::vector<fs::path> folders;
    if (!given.empty()) {
        folders.emplace_back(given);
    } else {
        folders.emplace_back(SQUALL_DATADIR);
        // In a build tree, not installed: the tests' copies.
        auto program = fs::read_symlink("/proc/self/exe", none).parent_path();
        for (const char* up : {"..", "../..", "../../.."}) folders.push_back(program / up / "tests" / "data");
        folders.emplace_back("tests/data");
    }
    for (const auto& folder : folders)
        if (auto path = folder / file; fs::exists(path, none)) return path.lexically_normal().string();
    return "";
}

std::string as_text(const ExperimentTable& table) {
    std::vector<std::size_t> widths;
    for (const auto& c : table.columns) widths.push_back(width(c));
    for (const auto& row : table.rows)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
    std::string text = table.title + "\n";
    auto line = [&](const std::vector<std::string>& cells) {
        for (std::size_t i = 0; i < cells.size(); ++i)
            text += cells[i] + (i + 1 < cells.size() ? std::string(widths[i] - width(cells[i]) + 2, ' ') : "\n");
    };
    line(table.columns);
    for (const auto& row : table.rows) line(row);
    for (const auto& remark : table.remarks) text += remark + "\n";
    return text;
}

std::string as_markdown(const ExperimentTable& table) {
    std::string text = "## " + table.title + "\n\n`" + table.command + "`\n\n|";
    for (const auto& c : table.columns) text += " " + c + " |";
    text += "\n|";
    for (std::size_t i = 0; i < table.columns.size(); ++i) text += "---|";
    text += "\n";
    for (const auto& row : table.rows) {
        text += "|";
        for (const auto& cell : row) text += " " + cell + " |";
        text += "\n";
    }
    text += "\n";
    for (const auto& remark : table.remarks) text += remark + "\n";
    return text + (table.remarks.empty() ? "" : "\n");
}

}  // namespace squall::sim
