// SPDX-License-Identifier: GPL-3.0-or-later
// `squall-sim experiment`: the project's claims as tables, with medians and ranges over seeds. Each experiment is a
// function in its own file that returns rows; this prints them as text, JSON or Markdown.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/core/json.h"
#include "src/sim/engine.h"

namespace squall::sim {

struct ExperimentOptions {
    std::uint64_t first_seed = 1;
    int seeds = 5;
    std::string data;                                  // folder with the traces; "" = where they were installed
    std::int64_t plays = 60;                           // of one decision of squall
    std::function<void(const std::string&)> progress;  // may be empty
};

struct ExperimentTable {
    std::string title, command;
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;
    std::vector<std::string> remarks;
    Json json;                       // what --json prints
    std::string error;               // bad input or data that is not there
    std::vector<int> timed_columns;  // depend on the machine
};

ExperimentTable experiment_e1(const ExperimentOptions& options);
ExperimentTable experiment_e2(const ExperimentOptions& options);
ExperimentTable experiment_e3(const ExperimentOptions& options);
ExperimentTable experiment_quantile(const ExperimentOptions& options);
ExperimentTable experiment_csv3(const ExperimentOptions& options);
ExperimentTable experiment_deadlines(const ExperimentOptions& options);
ExperimentTable experiment_burst(const ExperimentOptions& options);
const std::vector<std::string>& experiment_names();
ExperimentTable run_experiment(const std::string& name, const ExperimentOptions& options);

std::string as_text(const ExperimentTable& table);
std::string as_markdown(const ExperimentTable& table);

// What the experiments share.
inline ExperimentTable failed(ExperimentTable table, std::string error) {
    table.error = std::move(error);
    return table;
}
Result replay_with(const Workload& workload, const std::string& policy, const PolicyOptions& options);
std::string median_and_range(std::vector<double> values, int decimals, const char* unit = "");
json_t* range_json(std::vector<double> values);                            // {"median", "least", "most", "values"}
std::string find_data(const std::string& given, const std::string& file);  // full path; "" = not there

}  // namespace squall::sim
