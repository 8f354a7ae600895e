// SPDX-License-Identifier: GPL-3.0-or-later
// `squall-sim run`: reads a workload and machines, replays it under each policy and hands the results to a report.
#pragma once
#include <string>
#include <vector>

#include "src/sim/engine.h"

namespace squall::sim {

struct RunOptions {
    std::string workload, cluster;
    std::vector<std::string> nodes;
    std::vector<std::string> policies;
    ImportOptions import;
    PolicyOptions policy;
    EngineOptions engine;
    double runtime_error = 0;
    bool error_given = false;
    std::uint64_t seed = 1;
    int most_jobs = 0;  // 0 = all
    bool json = false, csv = false, quiet = false;
    std::string html;
};

struct RunReport {
    Workload workload;
    std::vector<Result> results;
    std::vector<double> seconds;  // wall clock of each
    std::string error;
};

// progress: called with one line to show while it runs.
RunReport run(const RunOptions& options, const std::function<void(const std::string&)>& progress);

}  // namespace squall::sim
