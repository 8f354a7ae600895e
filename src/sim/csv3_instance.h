// SPDX-License-Identifier: GPL-3.0-or-later
// The published study's instances in its three-file format: the same numbers its generator gives for the same seed.
// Used by `squall-sim experiment csv3` and by tests.
#pragma once
#include <cstdint>
#include <string>

namespace squall::sim {

struct Csv3Options {
    int nodes = 3;
    int jobs = 0;               // 0: ten a node
    std::string load = "high";  // high, mixed or low
    std::uint64_t seed = 1000;
};

// Writes the three files into the folder, which exists. Returns "" or what could not be written.
std::string write_csv3(const std::string& folder, const Csv3Options& options);

}  // namespace squall::sim
