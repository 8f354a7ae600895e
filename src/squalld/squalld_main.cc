// SPDX-License-Identifier: GPL-3.0-or-later
// squalld: the planner's daemon. Started and watched by sched_squall.so, or by hand; see squalld(8).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fstream>

#include "config.h"
#include "src/core/conf.h"
#include "src/core/daemon.h"
#include "src/core/instance_json.h"
#include "src/core/log.h"
#include "src/slurm/libslurm_client.h"
#include "src/squalld/loop.h"

namespace squall {
namespace {

constexpr std::chrono::milliseconds kGrace{2000};  // to finish a cycle once stop was asked for

struct Options {
    std::string conf;
    bool foreground = false, test = false, once = false;
    int lifeline_fd = -1;
    std::string dump_snapshot;
};

int fail(const std::string& message) {
    log_error("{}", message);
    return 1;
}

void print(std::FILE* to, const std::string& line) { std::fputs((line + "\n").c_str(), to); }

// -t: every error as FILE:LINE: …, or what the file says in three lines.
int test_conf(const std::string& path) {
    ConfResult result = read_conf(path);
    for (const std::string& warning : result.warnings) print(stderr, "warning: " + warning);
    for (const std::string& error : result.errors) print(stderr, error);
    if (!result.errors.empty()) return 1;
    const Conf& conf = result.conf;
    std::size_t nodes = 0, rented = 0;
    for (const NodeClassConf& c : conf.classes) {
        nodes += c.nodes.size();
        if (c.spec.rented) rented += c.nodes.size();
    }
    print(stdout, fmt::format("{}: configuration is valid", path));
    print(stdout,
          fmt::format("{} node classes with {} nodes, {} of them rented; {} partitions, {} profiles, {} capacity "
                      "groups",
                      conf.classes.size(), nodes, rented, conf.partitions.size(), conf.profiles.size(),
                      conf.groups.size()));
    print(stdout, fmt::format("StateDir={} LogDir={} Interval={} PollInterval={}ms PlanTime={}ms DeadManTime={}{}",
                              conf.state_dir, conf.log_dir, conf.interval_s, conf.poll_ms, conf.plan_time_ms,
                              conf.dead_man_s, conf.dry_run ? " DryRun=yes" : ""));
    return 0;
}

Options* g_options = nullptr;  // for reload, which is called without a closure

std::string open_log(const Conf& conf) {
    std::string path = g_options->foreground ? "" : conf.log_dir + "/squalld.log";
    return log_open(path, static_cast<LogLevel>(conf.log_level));
}

// SIGHUP: the log is opened again; a file with errors changes nothing else.
std::optional<Conf> reload(const Conf& old) {
    ConfResult result = read_conf(old.path);
    for (const std::string& error : result.errors) log_error("{}", error);
    if (!result.errors.empty()) {
        log_error("{}: has errors; the configuration stays as it was", old.path);
        open_log(old);
        return std::nullopt;
    }
    // Lock, socket and ledger stay where they are until the next start.
    result.conf.state_dir = old.state_dir;
    if (std::string error = open_log(result.conf); !error.empty()) log_error("{}", error);
    for (const std::string& warning : result.warnings) log_warning("{}", warning);
    log_info("{}: read again", old.path);
    return std::move(result.conf);
}

int run(const Options& options, const Conf& conf) {
    Daemon daemon(options.lifeline_fd);
    for (const std::string& directory : {conf.state_dir, conf.log_dir})
        if (std::string error = make_directory(directory); !error.empty()) return fail(error);
    if (std::string error = open_log(conf); !error.empty()) return fail(error);
    daemon.leave_within(kGrace);
    std::string error;
    auto waiting = [](pid_t holder) { log_info("process {} is the active squalld; waiting until it leaves", holder); };
    if (!daemon.become_active(conf.state_dir + "/squalld.lock", conf.poke_socket(), &error, waiting))
        return error.empty() ? 0 : fail(error);
    log_info("squalld {} is active, configuration {}{}", PACKAGE_VERSION, conf.path,
             conf.dry_run ? ", DryRun: nothing is changed in Slurm" : "");
    slurm::LibslurmClient client;
    Loop loop(conf, client, daemon);
    if (options.once) return loop.cycle() ? 0 : 1;
    loop.run(reload);
    return 0;
}

// What a cycle would plan now, without a lock and without changing anything: for a bug report or squall-sim.
int dump_snapshot(const Options& options, const Conf& conf) {
    log_open("", LogLevel::warning);
    slurm::LibslurmClient client;
    slurm::Cluster cluster;
    if (slurm::Reply reply = client.refresh(cluster); !reply) return fail(reply.message);
    Conditions conditions;
    Keeper keeper(conf.ledger_path(), conditions);
    std::string json = snapshot_to_json(read_now(cluster, conf, keeper).snapshot);
    std::ofstream out(options.dump_snapshot);
    out << json << "\n";
    out.close();
    return out ? 0 : fail(fmt::format("{}: cannot write the snapshot", options.dump_snapshot));
}

void declare(CLI::App& app, Options& options) {
    app.add_option("FILE,-f,--conf", options.conf, "squall.conf to read; default: $SQUALL_CONF, else beside slurm.conf")
        ->type_name("FILE");
    app.add_flag("-D", options.foreground, "log to stderr instead of LogDir/squalld.log");
    app.add_flag("-t,--test", options.test, "check squall.conf and exit: 0 valid, 1 not");
    app.add_flag("--once", options.once, "one cycle, then exit");
    app.add_option("--dump-snapshot", options.dump_snapshot, "write what the planner would be given as JSON and exit")
        ->type_name("FILE");
    app.add_option("--lifeline-fd", options.lifeline_fd, "leave when this descriptor reaches end of file")
        ->type_name("FD");
    app.set_version_flag("-V,--version", "squalld " PACKAGE_VERSION);
}

}  // namespace
}  // namespace squall

int main(int argc, char** argv) {
    using namespace squall;
    Options options;
    g_options = &options;
    CLI::App app("Plans GPU jobs for Slurm by due date and cost. Normally started by sched/squall.", "squalld");
    declare(app, options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    try {
        std::string path = find_conf(options.conf);
        if (options.test) return test_conf(path);
        ConfResult result = read_conf(path);
        for (const std::string& error : result.errors) print(stderr, error);
        if (!result.errors.empty()) return 1;
        return options.dump_snapshot.empty() ? run(options, result.conf) : dump_snapshot(options, result.conf);
    } catch (const std::exception& error) {
        return fail(fmt::format("stopping on an error that should not happen: {}", error.what()));
    }
}
