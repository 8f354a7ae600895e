// SPDX-License-Identifier: GPL-3.0-or-later
// What several policies share: which shapes a job was asked in, what a configuration costs, and the published rule
// "cheapest that meets the due date, else fastest".
#pragma once
#include <functional>
#include <vector>

#include "src/sim/control.h"

namespace squall::sim {

// Configurations with as many GPUs as the first: the shape as asked, on every class that has it, local ones first.
std::vector<int> asked_configs(const Control& control, int j, bool rented);

// Estimated end when started now, boot of nodes that are down included.
Seconds end_if_started(const Control& control, int j, int config, const Place& place);

// Of those that have room now: the cheapest whose job ends by its due date, else the one that ends first. -1: none.
struct Choice {
    int config = -1;
    Place place;
};
Choice cheapest_in_time(const Control& control, int j);

// Starts every waiting job it can in this order, each as cheapest_in_time() says.
void start_in_order(Control& control, std::vector<int> order);

// Longest it may run, as Slurm knows it: the time limit, else the estimate.
Seconds limit_of(const Control& control, int j, int config);

}  // namespace squall::sim
