// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/sim/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "src/sim/cluster.h"

namespace squall::sim {
namespace {

std::string policies_error(const std::vector<std::string>& names) {
    if (names.empty()) return "--policy: name at least one";
    std::string known;
    for (const auto& name : policy_names()) known += (known.empty() ? "" : ", ") + name;
    for (const auto& name : names)
        if (std::find(policy_names().begin(), policy_names().end(), name) == policy_names().end())
            return fmt::format("--policy={}: no such policy; there are {}", name, known);
    return "";
}

}  // namespace

RunReport run(const RunOptions& options, const std::function<void(const std::string&)>& progress) {
    RunReport report;
    report.error = policies_error(options.policies);
    if (!report.error.empty()) return report;
    ClusterResult given;
    if (!options.cluster.empty()) given = read_cluster(options.cluster);
    if (given.error.empty() && !options.nodes.empty()) given = parse_nodes(options.nodes);
    if (!given.error.empty()) return report.error = given.error, report;
    ImportOptions import = options.import;
    if (!given.cluster.nodes.empty()) import.cluster = &given.cluster;
    report.workload = read_workload(options.workload, import);
    auto& w = report.workload;
    if (!w.error.empty()) return report.error = w.error, report;
    if (options.most_jobs > 0 && static_cast<int>(w.jobs.size()) > options.most_jobs) w.jobs.resize(options.most_jobs);
    if (options.error_given) set_runtime_error(w, options.runtime_error, options.seed);
    for (const auto& name : options.policies) {
        PolicyOptions policy_options = options.policy;
        policy_options.plan.seed = options.seed;
        auto policy = make_policy(name, policy_options);
        EngineOptions engine = options.engine;
        engine.faults.seed = options.seed;
        engine.keep_segments = !options.html.empty();
        auto clock = std::chrono::steady_clock::now();
        auto shown = clock;
        if (progress)
            engine.progress = [&](int done, int jobs) {
                auto now = std::chrono::steady_clock::now();
                if (now - shown < std::chrono::milliseconds(200)) return;
                shown = now;
                progress(fmt::format("{}: {} of {} jobs have ended", name, done, jobs));
            };
        report.results.push_back(replay(w, w.cluster, *policy, engine));
        report.results.back().policy = name;
        report.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - clock).count());
    }
    return report;
}

}  // namespace squall::sim
