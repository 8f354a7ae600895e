// SPDX-License-Identifier: GPL-3.0-or-later
// Workloads like those of the published studies of planned GPU clusters: local V100 and Turing nodes with measured
// draw, rented K80 and M60 machines at published prices, Poisson arrivals, due dates between the fastest and the
// slowest run. What the studies do not publish (speeds, loads) is stated in doc/experiments.md. The same options give
// the same jobs.
#pragma once
#include <cstdint>
#include <string>

#include "src/sim/workload.h"

namespace squall::sim {

struct StudyOptions {
    int nodes = 10;  // local: half V100 with 4 GPUs, half Turing with 2
    int jobs_a_node = 10;
    std::string load = "high";  // high: the jobs fill all local GPUs; low: a quarter; mixed: by turns, ten jobs each
    bool rented = false;        // rented machines as well, as many of each kind as there are local nodes
    double least_weight = 0.000254, most_weight = 0.000444;  // tardiness, money a second
    Seconds restart_s = 60;
    std::uint64_t seed = 1;
};

Workload make_study(const StudyOptions& options);

}  // namespace squall::sim
