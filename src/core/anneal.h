// SPDX-License-Identifier: GPL-3.0-or-later
// Simulated annealing over sequences (Kirkpatrick, Gelatt and Vecchi, Science 220, 1983): move a job to another place
// in its line or another configuration, swap two, keep what is better and, less and less often, what is worse.
// Deterministic for a seed and a number of rounds.
#pragma once
#include <cstdint>
#include <functional>

#include "src/core/sequence.h"

namespace squall {

struct AnnealOptions {
    std::uint64_t seed = 1;
    std::int64_t rounds = INT64_C(1) << 60;     // the work limit
    std::function<double()> progress;           // share of the time that is used, 0 … 1; may be empty
    double start_heat = 0.1, end_heat = 0.003;  // of the mean cost of a job at the start
};

// The start heat that pays off where each job is tried so often: hotter the more often.
double heat_for(double rounds_per_job);

// Ends at the best sequence found. Returns the number of rounds done.
std::int64_t anneal(Sequence& sequence, const Shops& shops, const AnnealOptions& options);

}  // namespace squall
