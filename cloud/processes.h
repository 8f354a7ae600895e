// SPDX-License-Identifier: GPL-3.0-or-later
// Trees of processes as /proc shows them, and their sudden end. Used by the local driver and its supervisor, where a
// dead instance must take its slurmd, slurmstepds and job processes with it. No state; any thread.
#pragma once
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace squall::cloud {

struct Process {
    pid_t pid = 0, parent = 0;
    unsigned long long started = 0;  // clock ticks since boot: with the pid it names one process for ever
    bool zombie = false;
};

std::vector<Process> all_processes();
std::optional<Process> process(pid_t pid);

// Did `pid` get NAME=VALUE in the environment it was started with? False when that cannot be read.
bool started_with(pid_t pid, const std::string& name_value);

using IsRoot = std::function<bool(const Process&)>;

// Those for which is_root holds and everything below them; never the caller itself nor zombies.
std::vector<Process> tree_of(const IsRoot& is_root);

// Stops the whole tree first, so that nothing escapes by forking while it is killed, then SIGKILL. Returns what
// could not be signalled (another user's); the rest is dead or dying.
std::vector<Process> kill_tree(const IsRoot& is_root);

}  // namespace squall::cloud
