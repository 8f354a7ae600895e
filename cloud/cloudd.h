// SPDX-License-Identifier: GPL-3.0-or-later
// squall-cloudd as a process: configuration, log, lock, wake-ups, and a LeaseMachine tick each time. Called by
// cloudd_main.cc, and by tests with a Slurm and a cloud of their own.
#pragma once
#include <functional>
#include <memory>

#include "cloud/fleet.h"
#include "cloud/slurm_nodes.h"
#include "src/core/conf.h"

namespace squall::cloud {

struct CloudOptions {
    bool foreground = false;  // log to stderr
    int lifeline_fd = -1;     // end of file on it: stop
    Seconds patience_s = 30;  // LeaseMachine::Tools
};

// Where the configuration, the drivers and Slurm come from.
struct CloudSources {
    std::function<ConfResult()> read_conf;  // at the start and on SIGHUP
    MakeDriver make_driver;
    std::function<std::unique_ptr<SlurmNodes>(const Conf&)> make_slurm;
};

// Runs until told to stop. Returns the exit status: 0, or 1 with the reason in the log.
int run_cloudd(const CloudOptions& options, const CloudSources& sources);

}  // namespace squall::cloud
