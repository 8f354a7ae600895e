// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/sim/run_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <memory>

#include "src/core/amount.h"
#include "src/sim/results.h"
#include "src/sim/run.h"

namespace squall::sim {
namespace {

constexpr int kBadInput = 2;
constexpr int kShownRows = 20;

struct Texts {
    std::string policies = "squall,easy", late_cost = "10", restart = "30";
    bool skip_bad = false;
};

int complain(const std::string& message) {
    std::cerr << "squall-sim: " << message << "\n";
    return kBadInput;
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    std::string part;
    for (char c : text + ",")
        if (c != ',')
            part += c;
        else if (!part.empty())
            parts.push_back(std::move(part)), part.clear();
    return parts;
}

std::function<void(const std::string&)> progress_line(bool quiet) {
    if (quiet || !isatty(STDERR_FILENO)) return {};
    return [](const std::string& text) { std::cerr << "\r\033[K" << text << std::flush; };
}

int run_command(RunOptions& options, const Texts& texts) {
    options.policies = split(texts.policies);
    auto late = parse_amount_per_hour(texts.late_cost);
    if (!late) return complain(fmt::format("--late-cost={}: write an amount an hour, such as 10", texts.late_cost));
    auto restart = parse_duration(texts.restart);
    if (!restart) return complain(fmt::format("--restart-cost={}: write a time, such as 30s", texts.restart));
    options.import.late_micro_h = *late;
    options.import.restart_s = *restart;
    auto progress = progress_line(options.quiet);
    auto report = run(options, progress);
    if (progress) std::cerr << "\r\033[K";
    if (!report.error.empty()) return complain(report.error);
    std::cerr << remarks(report, kShownRows);
    std::cout << (options.json  ? results_json(report)
                  : options.csv ? results_csv(report)
                                : results_table(report))
              << std::flush;
    if (!std::cout) return complain("standard output cannot be written"), 1;
    return report.workload.bad.empty() || texts.skip_bad ? 0 : kBadInput;
}

void declare_inputs(CLI::App* sub, RunOptions& o, Texts& texts) {
    sub->add_option("--workload", o.workload, "FORMAT:PATH, FORMAT one of sacct, swf, csv3, elasticflow, gavel, openb")
        ->required();
    sub->add_option("--cluster", o.cluster,
                    "squall.conf with its slurm.conf beside it, or what squalld --dump-snapshot wrote");
    sub->add_option("--nodes", o.nodes, "NODESxGPUS[:TYPE][@PRICE] instead, such as 16x8:a100; with a price: rented");
    sub->add_option("--policy", texts.policies, "comma-separated list")->capture_default_str();
    sub->add_option("--late-cost", texts.late_cost, "money an hour late, for jobs that do not say")
        ->capture_default_str();
    sub->add_option("--due-limits", o.import.due_limits,
                    "due date of jobs without one: submit + this × time limit; 0: none")
        ->check(CLI::Range(0.0, 1e6))
        ->capture_default_str();
    sub->add_option("--restart-cost", texts.restart, "elastic formats: time lost when a job is moved")
        ->capture_default_str();
    sub->add_option("--runtime-error", o.runtime_error, "estimates are the true run times ± this share")
        ->check(CLI::Range(0.0, 0.99));
    sub->add_option("--jobs", o.most_jobs, "only the first so many")->check(CLI::Range(1, 100000000));
    sub->add_option("--seed", o.seed, "of runtime errors, faults and searches")->capture_default_str();
}

void declare_faults(CLI::App* sub, RunOptions& o) {
    auto& f = o.engine.faults;
    sub->add_option("--node-mtbf", f.node_mtbf_h, "hours between failures of a local node; 0: they never fail")
        ->check(CLI::Range(0.0, 1e9));
    sub->add_option("--repair", f.repair_s, "seconds until such a node is back")->check(CLI::Range(1, 100000000));
    sub->add_option("--launch-failures", f.launch_failures, "share of launches of rented nodes that find no capacity")
        ->check(CLI::Range(0.0, 1.0));
}

}  // namespace

std::function<int()> declare_run(CLI::App& app) {
    auto options = std::make_shared<RunOptions>();
    auto texts = std::make_shared<Texts>();
    auto* sub = app.add_subcommand("run", "replay a history of jobs under one or several policies");
    declare_inputs(sub, *options, *texts);
    declare_faults(sub, *options);
    sub->add_option("--decision-time", options->policy.decision_s, "squall: seconds for one decision")
        ->check(CLI::Range(0.001, 3600.0))
        ->capture_default_str();
    sub->add_option("--wait", options->policy.wait_limits, "wait-then-burst: run times a job waits for local nodes")
        ->check(CLI::Range(0.0, 1e6))
        ->capture_default_str();
    sub->add_option("--quantile", options->policy.hedge.quantile_pct,
                    "squall: quantile to plan run times with; 0: by what lateness and GPUs cost")
        ->check(CLI::IsMember({0, 50, 60, 70, 80, 90}))
        ->capture_default_str();
    sub->add_option("--plays", options->policy.elastic.plays, "squall: futures tried for one decision on elastic jobs")
        ->check(CLI::Range(10, 100000000))
        ->capture_default_str();
    sub->add_option("--miss-cost", options->policy.elastic.miss_cost,
                    "squall: money for every due date missed, however late, for jobs that can be resized")
        ->check(CLI::Range(0.0, 1e12));
    sub->add_option("--wait-cost", options->policy.elastic.wait_h_cost,
                    "squall: money for every hour until a job ends, for jobs that can be resized")
        ->check(CLI::Range(0.0, 1e12));
    auto* json = sub->add_flag("--json", options->json, "an array, one object a policy");
    sub->add_flag("--csv", options->csv, "one row a policy")->excludes(json);
    sub->add_option("--html", options->html, "write a report as one page to this file")->type_name("FILE");
    sub->add_flag("--skip-bad-rows", texts->skip_bad, "exit status 0 although rows could not be used");
    sub->add_flag("-q,--quiet", options->quiet, "no progress");
    return [=]() {
        if (!sub->parsed()) return -1;
        options->error_given = sub->get_option("--runtime-error")->count() > 0;
        return run_command(*options, *texts);
    };
}

}  // namespace squall::sim
