// SPDX-License-Identifier: GPL-3.0-or-later
// squall-sim: the planner without a cluster. Makes problems, solves them, and turns a ledger into one.
#include <config.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

#include "src/core/instance_json.h"
#include "src/sim/from_ledger.h"
#include "src/sim/generate.h"
#include "src/sim/replan.h"
#include "src/sim/run_command.h"
#include "src/sim/solve.h"

namespace squall::sim {
namespace {

struct Options {
    GenerateOptions generate;
    SolveOptions solve;
    FromLedgerOptions from_ledger;
    std::string load = "high", out = "-", file;
    double time_s = 5;
    bool no_improve = false, no_refine = false, no_burst = false;
};

int fail(const std::string& message) {
    std::cerr << "squall-sim: " << message << "\n";
    return 1;
}

std::string read_all(const std::string& path, std::string& error) {
    if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
    std::ifstream in(path);
    if (!in) error = path + ": cannot be read";
    return {std::istreambuf_iterator<char>(in), {}};
}

int write_instance(const Options& options, const Snapshot& snapshot) {
    std::string text = snapshot_to_json(snapshot) + "\n";
    if (options.out == "-") {
        std::cout << text << std::flush;
        return std::cout ? 0 : fail("standard output cannot be written");
    }
    std::ofstream out(options.out);
    out << text;
    out.close();
    return out ? 0 : fail(options.out + ": cannot be written");
}

int run_generate(Options& options) {
    if (options.load == "high")
        options.generate.load = 1.0;
    else if (options.load == "low")
        options.generate.load = 0.25;
    else {
        char* end = nullptr;
        options.generate.load = std::strtod(options.load.c_str(), &end);
        if (*end != '\0' || !(options.generate.load > 0.01 && options.generate.load < 100))
            return fail(fmt::format("--load={}: write high, low or a number from 0.01 to 100", options.load));
    }
    return write_instance(options, generate(options.generate));
}

int run_solve(Options& options, bool again) {
    std::string error, text = read_all(options.file, error);
    if (!error.empty()) return fail(error);
    auto instance = snapshot_from_json(text, options.file);
    if (!instance.error.empty()) return fail(instance.error);
    auto& plan = options.solve.plan;
    plan.time_ms = std::llround(options.time_s * 1000);
    plan.improve = !options.no_improve;
    plan.refine = !options.no_refine;
    plan.burst = !options.no_burst;
    auto report = again ? replan(instance.snapshot, options.solve) : solve(instance.snapshot, options.solve);
    std::cout << report.text << std::flush;
    for (const auto& line : report.errors) std::cerr << "squall-sim: the plan does not hold: " << line << "\n";
    return report.errors.empty() ? 0 : 2;
}

int run_from_ledger(const Options& options) {
    auto result = from_ledger(options.from_ledger);
    if (!result.error.empty()) return fail(result.error);
    for (const auto& note : result.notes) std::cerr << "squall-sim: " << note << "\n";
    return write_instance(options, result.snapshot);
}

CLI::App* declare_generate(CLI::App& app, Options& o) {
    auto* sub = app.add_subcommand("generate", "write a synthetic problem as JSON");
    auto& g = o.generate;
    sub->add_option("--nodes", g.nodes, "nodes, local and rented")
        ->check(CLI::Range(4, 1000000))
        ->capture_default_str();
    sub->add_option("--jobs", g.jobs, "jobs")->check(CLI::Range(0, 1000000))->capture_default_str();
    sub->add_option("--load", o.load, "high, low, or work over free local capacity until the due dates")
        ->capture_default_str();
    sub->add_option("--mix", g.small_pct, "percentage of small jobs")->check(CLI::Range(0, 100))->capture_default_str();
    sub->add_option("--seed", g.seed, "the same seed gives the same problem")->capture_default_str();
    sub->add_flag("--contended", g.contended, "load 1.5 and few rented nodes");
    sub->add_option("-o,--output", o.out, "file to write; - is standard output")->capture_default_str();
    return sub;
}

CLI::App* declare_solve(CLI::App& app, Options& o) {
    auto* sub = app.add_subcommand("solve", "plan a problem and report cost, bound and time");
    sub->add_option("FILE", o.file, "what generate, from-ledger or squalld --dump-snapshot wrote; - is standard input")
        ->required();
    sub->add_option("--time", o.time_s, "seconds for the whole plan")
        ->check(CLI::Range(0.01, 86400.0))
        ->capture_default_str();
    sub->add_option("--seed", o.solve.plan.seed, "of the search")->capture_default_str();
    sub->add_option("--rounds", o.solve.plan.rounds, "at most this many rounds of the search, for repeatable plans")
        ->check(CLI::NonNegativeNumber);
    sub->add_option("--threads", o.solve.plan.threads, "that search side by side")
        ->check(CLI::Range(1, 256))
        ->capture_default_str();
    sub->add_flag("--json", o.solve.json, "one JSON object");
    sub->add_flag("--list", o.solve.list, "one line a job as well: where, when and why");
    sub->add_flag("--fifo", o.solve.fifo, "plain Slurm order instead: by release, each job as asked");
    sub->add_flag("--greedy-only", o.solve.greedy_only, "construction alone");
    sub->add_flag("--separate", o.solve.separate, "large and small jobs planned apart, large ones first");
    sub->add_flag("--no-improve", o.no_improve, "without the local search and the bound");
    sub->add_flag("--no-refine", o.no_refine, "without the integer program");
    sub->add_flag("--no-burst", o.no_burst, "without rented nodes");
    return sub;
}

CLI::App* declare_replan(CLI::App& app, Options& o) {
    auto* sub = app.add_subcommand("replan", "plan all jobs but the last, then see what its arrival changes");
    sub->add_option("FILE", o.file, "as for solve")->required();
    sub->add_option("--time", o.time_s, "seconds for the new plan")
        ->check(CLI::Range(0.01, 86400.0))
        ->capture_default_str();
    sub->add_option("--seed", o.solve.plan.seed, "of the search")->capture_default_str();
    sub->add_flag("--json", o.solve.json, "one JSON object");
    return sub;
}

CLI::App* declare_from_ledger(CLI::App& app, Options& o) {
    auto* sub = app.add_subcommand("from-ledger", "write the jobs of a ledger as a problem, to plan them again");
    auto& f = o.from_ledger;
    sub->add_option("LEDGER", f.ledger, "StateDir/ledger.db")->required();
    sub->add_option("--cluster", f.clusters,
                    "what squalld --dump-snapshot wrote: the nodes, and jobs exactly as they were planned; several "
                    "dumps add up")
        ->required()
        ->type_name("FILE");
    sub->add_option("-f,--conf", f.conf, "squall.conf, for profiles and default late costs")->type_name("FILE");
    sub->add_option("-o,--output", o.out, "file to write; - is standard output")->capture_default_str();
    return sub;
}

}  // namespace
}  // namespace squall::sim

int main(int argc, char** argv) {
    using namespace squall::sim;
    Options options;
    CLI::App app("Squall's planner without a cluster: make problems, solve them, plan a ledger's jobs again.",
                 "squall-sim");
    app.set_version_flag("-V,--version", "squall-sim " PACKAGE_VERSION);
    app.require_subcommand(1);
    auto* generate = declare_generate(app, options);
    auto* solve = declare_solve(app, options);
    auto* again = declare_replan(app, options);
    declare_from_ledger(app, options);
    auto run = declare_run(app), experiment = declare_experiment(app);
    CLI11_PARSE(app, argc, argv);
    try {
        if (generate->parsed()) return run_generate(options);
        if (solve->parsed() || again->parsed()) return run_solve(options, again->parsed());
        int status = std::max(run(), experiment());
        return status >= 0 ? status : run_from_ledger(options);
    } catch (const std::exception& error) {
        return fail(fmt::format("stopping on an error that should not happen: {}", error.what()));
    }
}
