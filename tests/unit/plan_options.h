// SPDX-License-Identifier: GPL-3.0-or-later
// What tests of the planner share: options whose work limits end the search, so that no clock decides, and views of
// plans.
#pragma once
#include <string>
#include <vector>

#include "src/core/planner.h"

namespace squall {

inline PlanOptions work_limited(int rounds) {
    PlanOptions options;
    options.time_ms = 60000;  // the work limits end it
    options.rounds = rounds;
    options.refine = false;
    return options;
}

inline std::string first_line(const std::vector<std::string>& lines) { return lines.empty() ? "" : lines.front(); }

inline bool same_place(const Placement& a, const Placement& b) {
    return a.config == b.config && a.start == b.start && a.nodes == b.nodes && a.gpu_index == b.gpu_index;
}

// Jobs of both plans that are placed differently.
inline int differences(const Plan& a, const Plan& b) {
    int count = 0;
    for (std::size_t i = 0; i < a.placements.size() && i < b.placements.size(); ++i)
        count += !same_place(a.placements[i], b.placements[i]);
    return count;
}

}  // namespace squall
