// SPDX-License-Identifier: GPL-3.0-or-later
// The three hooks: see hook.h.
#include "cloud/hook.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "cloud/resume_file.h"
#include "src/core/conf.h"
#include "src/core/daemon.h"
#include "src/core/hostlist.h"
#include "src/core/log.h"
#include "src/core/poke.h"

namespace squall::cloud {
namespace {

void complain(const char* program, const std::string& text) {
    log_error("{}: {}", program, text);
    std::fprintf(stderr, "%s: error: %s\n", program, text.c_str());
}

// Errors elsewhere in squall.conf must not keep a node from being resumed, or worse, suspended: only StateDir counts.
Conf read_what_there_is(const char* program) {
    ConfResult result = read_conf(find_conf(""));
    std::string error = log_open(result.conf.log_dir + "/squall-hooks.log", LogLevel::info);
    if (!error.empty()) complain(program, error);
    for (const std::string& line : result.errors) complain(program, line);
    return result.conf;
}

int queue(const char* program, PowerAction action, const std::string& hosts) {
    const char* resume_path = std::getenv("SLURM_RESUME_FILE");
    ResumeFile jobs;
    if (action == PowerAction::resume && resume_path && *resume_path) jobs = read_resume_file(resume_path);
    Conf conf = read_what_there_is(program);
    if (!jobs.error.empty()) complain(program, jobs.error + "; the nodes are resumed all the same");
    std::string error;
    std::optional<std::vector<std::string>> nodes = expand_hostlist(hosts, error);
    if (!nodes || nodes->empty()) {
        complain(program, fmt::format("\"{}\": {}", hosts, nodes ? "no node named" : error));
        return 1;
    }
    Seconds now = std::time(nullptr);
    std::vector<PowerRequest> requests;
    for (const std::string& node : *nodes) requests.push_back({0, node, action, now, jobs.job_ids[node]});
    Ledger::open(conf.ledger_path()).push_power_requests(requests);
    poke(conf.cloud_socket());
    log_info("{}: {} queued", program, hosts);
    return 0;
}

}  // namespace

int run_hook(const char* program, PowerAction action, int argc, char** argv) {
    ensure_standard_fds();
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s HOSTLIST (started by slurmctld, see squall-resume(8))\n", program);
        return 2;
    }
    try {
        return queue(program, action, argv[1]);
    } catch (const std::exception& error) {
        complain(program, fmt::format("{}: {}", argv[1], error.what()));
        return 1;
    }
}

}  // namespace squall::cloud
