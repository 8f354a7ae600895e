// SPDX-License-Identifier: GPL-3.0-or-later
// squall-cloudd: the daemon that launches and ends rented nodes. Spawned and watched by sched_squall.so.
#include <config.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>

#include "cloud/cloudd.h"
#include "cloud/libslurm_nodes.h"
#include "src/core/log.h"

namespace squall::cloud {
namespace {

std::unique_ptr<SlurmNodes> make_slurm(const Conf& conf) {
    auto beside = std::filesystem::path(conf.path).parent_path() / "slurm.conf";
    if (!std::getenv("SLURM_CONF") && std::filesystem::exists(beside)) setenv("SLURM_CONF", beside.c_str(), 0);
    return std::make_unique<LibslurmNodes>();
}

int run(int argc, char** argv) {
    CLI::App app("Launches, watches and ends the rented nodes that Slurm resumes and suspends.", "squall-cloudd");
    std::string conf_path;
    CloudOptions options;
    app.add_option("-f,--conf", conf_path, "squall.conf [$SQUALL_CONF, or beside slurm.conf]")->type_name("FILE");
    app.add_flag("-D,--foreground", options.foreground, "log to stderr");
    app.add_option("--lifeline-fd", options.lifeline_fd, "stop at end of file on this descriptor")->type_name("N");
    app.set_version_flag("-V,--version", std::string("squall-cloudd ") + VERSION);
    CLI11_PARSE(app, argc, argv);
    std::string path = std::filesystem::absolute(find_conf(conf_path));
    return run_cloudd(options, {[path] { return read_conf(path); }, make_driver, make_slurm});
}

}  // namespace
}  // namespace squall::cloud

int main(int argc, char** argv) {
    try {
        return squall::cloud::run(argc, argv);
    } catch (const std::exception& error) {
        squall::log_error("squall-cloudd: {}", error.what());
        return 1;
    }
}
