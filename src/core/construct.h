// SPDX-License-Identifier: GPL-3.0-or-later
// Orders of jobs, and placing them one after the other where each adds least cost.
#pragma once
#include <vector>

#include "src/core/find.h"

namespace squall {

// Jobs without a spot, most pressing first: least (due − fastest run); jobs without a due date last.
std::vector<int> order_by_pressure(const Schedule& schedule);

// By release, then id: plain Slurm order.
std::vector<int> order_by_release(const Schedule& schedule);

// Places each job of the order; one that fits nowhere keeps no spot. Stops early at `deadline_passed`.
template <typename Stop>
bool place_in_order(Schedule& schedule, const std::vector<int>& order, const FindOptions& options, Stop stop) {
    int count = 0;
    for (int job : order) {
        if ((++count & 63) == 0 && stop()) return false;
        if (auto found = find_best(schedule, job, options)) schedule.place(job, found->spot);
    }
    return true;
}

}  // namespace squall
