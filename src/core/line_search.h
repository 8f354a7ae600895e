// SPDX-License-Identifier: GPL-3.0-or-later
// From the relaxed solution to a good plan: sequences sampled from the bound's shares (GRASP: greedy randomized starts,
// Feo and Resende 1995), the best of them annealed, the result put on a Schedule with exact nodes and costs.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>

#include "src/core/bound.h"
#include "src/core/schedule.h"

namespace squall {

struct LineSearchOptions {
    std::uint64_t seed = 1;
    int threads = 1;                         // each anneals with a seed of its own; the best one counts
    std::int64_t rounds = INT64_C(1) << 60;  // of annealing a thread: the work limit
    std::function<double()> progress;        // share of the time that is used, 0 … 1; called by every thread
    bool small_changes = false;              // the start is a good plan already
    const BoundResult* relaxed = nullptr;
};

// `start` holds a plan with every job that fits; its score is not always beaten.
std::unique_ptr<Schedule> search_lines(const Schedule& start, const LineSearchOptions& options);

}  // namespace squall
