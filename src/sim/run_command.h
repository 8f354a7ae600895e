// SPDX-License-Identifier: GPL-3.0-or-later
// The command lines of `squall-sim run` and `squall-sim experiment`: options, output, exit status. Called by
// sim_main.cc.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace squall::sim {

// Adds the subcommand; the function runs it and returns the exit status, -1: it was not given.
std::function<int()> declare_run(CLI::App& app);
std::function<int()> declare_experiment(CLI::App& app);

}  // namespace squall::sim
