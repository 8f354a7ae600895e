// SPDX-License-Identifier: GPL-3.0-or-later
// The command lines of `squall-sim run` and `squall-sim experiment`: options, output, exit status. Called by
// sim_main.cc.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace squall::sim {

// Adds the subcommands; the function runs whichever was given and returns the exit status, -1: none of them.
std::function<int()> declare_run(CLI::App& app);

}  // namespace squall::sim
