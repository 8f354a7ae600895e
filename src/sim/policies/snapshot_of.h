// SPDX-License-Identifier: GPL-3.0-or-later
// The planner's view of a moment of virtual time, as squalld would have read it from Slurm: estimates only.
#pragma once
#include <vector>

#include "src/sim/control.h"

namespace squall::sim {

struct Moment {
    Snapshot snapshot;
    std::vector<int> jobs;  // Snapshot::jobs index → the simulation's job
};

// Running jobs hold their nodes, waiting ones (at most `most`, by release) are to be planned.
Moment snapshot_of(const Control& control, int most);

}  // namespace squall::sim
