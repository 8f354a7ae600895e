// SPDX-License-Identifier: GPL-3.0-or-later
// deadlines: how many due dates of two production traces are met on a cluster of given size, every move paid with 30 s.
// burst: cloud GPU-hours against mean completion time on half of it, for several prices of waiting.
#include <fmt/format.h>

#include <algorithm>

#include "src/sim/cluster.h"
#include "src/sim/experiment.h"
#include "src/sim/results.h"

namespace squall::sim {
namespace {

constexpr double kMissed = 1000, kLate_h = 0.1;  // money; only which due dates are met counts

Workload read_trace(const std::string& path, const Snapshot* cluster, std::string& error) {
    ImportOptions import;
    import.late_micro_h = static_cast<Micro>(kLate_h * 1e6);
    import.cluster = cluster;
    auto w = read_workload("elasticflow:" + path, import);
    error = w.error;
    if (error.empty() && !w.bad.empty()) error = fmt::format("{}:{}: {}", w.bad[0].file, w.bad[0].line, w.bad[0].what);
    return w;
}

int could_alone(const Workload& w) {
    int count = 0;
    for (const auto& job : w.jobs)
        count += std::any_of(job.job.configs.begin(), job.job.configs.end(),
                             [&](const Config& c) { return job.job.release + c.run_s <= *job.job.due; });
    return count;
}

std::string trace_path(const ExperimentOptions& options, const std::string& name) {
    auto path = find_data(options.data, "elasticflow/" + name + ".csv");
    return path.empty() ? find_data(options.data, name + ".csv") : path;
}

}  // namespace

ExperimentTable experiment_deadlines(const ExperimentOptions& options) {
    ExperimentTable t;
    t.title = "deadlines: due dates met by elastic jobs on 16 nodes with 8 A100";
    t.command = "squall-sim experiment deadlines";
    t.columns = {"trace", "jobs", "could alone", "published", "squall", "edf", "las", "easy"};
    t.json.reset(json_object());
    struct Trace {
        const char* name;
        int published;
    };
    for (const auto& trace : {Trace{"195job", 146}, Trace{"cluster10", 223}}) {
        auto path = trace_path(options, trace.name);
        if (path.empty())
            return failed(std::move(t), std::string(trace.name) + ".csv is not there; say where with --data");
        auto w = read_trace(path, nullptr, t.error);
        if (!t.error.empty()) return t;
        PolicyOptions policy;
        policy.elastic.plays = options.plays;
        policy.elastic.miss_cost = kMissed;
        std::vector<std::string> row = {trace.name, std::to_string(w.jobs.size()), std::to_string(could_alone(w)),
                                        std::to_string(trace.published)};
        json_t* figures = json_object();
        json_object_set_new(figures, "jobs", ::json_integer(static_cast<json_int_t>(w.jobs.size())));
        for (const char* name : {"squall", "edf", "las", "easy"}) {
            if (options.progress) options.progress(fmt::format("{}: {}", trace.name, name));
            auto r = replay_with(w, name, policy);
            row.push_back(std::to_string(r.on_time));
            json_object_set_new(figures, std::string(name) == "squall" ? "met" : name, ::json_integer(r.on_time));
            if (std::string(name) == "squall") json_object_set_new(figures, "moves", ::json_integer(r.moves));
        }
        t.rows.push_back(row);
        json_object_set_new(t.json.get(), trace.name, figures);
    }
    t.remarks.push_back(
        "Every change of size or place costs a job 30 s. Published: the best of five systems on the same jobs and "
        "machines. edf, las and easy are this program's.");
    return t;
}

ExperimentTable experiment_burst(const ExperimentOptions& options) {
    ExperimentTable t;
    t.title = "burst: 195 jobs on 8 nodes with 8 A100 and rented ones";
    t.command = "squall-sim experiment burst";
    t.columns = {"policy", "worth of an hour [h of an A100]", "cloud GPU-hours", "mean completion [h]",
                 "better on both than"};
    t.json.reset(json_array());
    auto path = trace_path(options, "195job");
    if (path.empty()) return failed(std::move(t), "195job.csv is not there; say where with --data");
    auto cluster = parse_nodes({"8x8:a100", "64x8:a100@8"});
    auto w = read_trace(path, &cluster.cluster, t.error);
    if (!t.error.empty()) return t;
    struct Point {
        const char* name;
        double gpu_h, mean_h;
    };
    constexpr Point kPublished[] = {{"burst at once 1719/7.20", 1719, 7.20},
                                    {"linear-cost 1275/7.75", 1275, 7.75},
                                    {"linear-capacity 1157/8.26", 1157, 8.26}};
    auto add = [&](const std::string& name, const std::string& worth, const Result& r) {
        std::string beats;
        json_t* beaten = json_array();
        for (const auto& p : kPublished)
            if (r.cloud_gpu_h < p.gpu_h && r.mean_completion_h < p.mean_h) {
                beats += (beats.empty() ? "" : ", ") + std::string(p.name);
                json_array_append_new(beaten, json_string(p.name));
            }
        t.rows.push_back({name, worth, fmt::format("{:.0f}", r.cloud_gpu_h), fmt::format("{:.3f}", r.mean_completion_h),
                          beats.empty() ? "–" : beats});
        json_t* row = json_object();
        json_object_set_new(row, "policy", json_string(name.c_str()));
        json_object_set_new(row, "cloud_gpu_h", json_real(r.cloud_gpu_h));
        json_object_set_new(row, "mean_completion_h", json_real(r.mean_completion_h));
        json_object_set_new(row, "better_than", beaten);
        json_array_append_new(t.json.get(), row);
    };
    for (double worth : {1.0, 2.0, 4.0, 8.0}) {
        if (options.progress) options.progress(fmt::format("squall, an hour is worth {}", worth));
        PolicyOptions policy;
        policy.elastic.plays = options.plays;
        policy.elastic.wait_h_cost = worth;
        auto due_free = w;
        for (auto& job : due_free.jobs) job.job.due.reset();
        add("squall", fmt::format("{:.0f}", worth), replay_with(due_free, "squall", policy));
    }
    for (const char* name : {"never-burst", "wait-then-burst", "burst-at-once"})
        add(name, "", replay_with(w, name, {}));
    t.remarks.push_back(
        "squall resizes jobs by the measured throughputs and pays 30 s each time, 120 s of boot and a minute until "
        "release; the published points and the other three run each job on the GPUs it asked for.");
    return t;
}

}  // namespace squall::sim
