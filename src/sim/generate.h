// SPDX-License-Identifier: GPL-3.0-or-later
// Synthetic scheduling problems for squall-sim and benchmarks: machines and prices as published, jobs large and small,
// due dates and weights as in doc/model.md. The same options give the same problem on every machine.
#pragma once
#include <cstdint>

#include "src/core/model.h"

namespace squall::sim {

struct GenerateOptions {
    int nodes = 30;  // local and rented together
    int jobs = 50;
    double load = 1.0;       // work of the jobs over what the free local GPUs do until the mean due date
    int small_pct = 35;      // jobs that take a share of one GPU
    bool contended = false;  // load 1.5: unmanaged jobs hold all but the fitting number of local GPUs; rent is capped
    std::uint64_t seed = 1;
};

Snapshot generate(const GenerateOptions& options);

}  // namespace squall::sim
