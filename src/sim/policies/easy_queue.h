// SPDX-License-Identifier: GPL-3.0-or-later
// One pass of EASY backfill over the local nodes: jobs in submit order as asked; the first that does not fit gets a
// reservation at the earliest time the limits of running jobs allow; later ones start if they do not delay it. Used by
// easy and by the policies that burst. Keeps what it knows of running jobs from pass to pass.
#pragma once
#include <functional>
#include <set>
#include <vector>

#include "src/sim/control.h"

namespace squall::sim {

class EasyQueue {
  public:
    // Jobs for which `skip` is true are left alone. rented: jobs may use rented nodes like local ones.
    void pass(Control& control, bool rented, const std::function<bool(int)>& skip = {});

  private:
    struct Reservation {
        int class_id = -1;
        Seconds at = kForever;
        int gpus = 0;
        std::vector<int> nodes;
    };
    std::vector<int> choices(const Control& control, int j, bool rented) const;
    void start(Control& control, int j, int config, const Place& place);
    Reservation reserve(const Control& control, int j, const std::vector<int>& configs);
    Reservation earliest(const Control& control, const Config& config);
    bool delays(const Control& control, int j, int config, const Place& place);

    struct Running {
        Seconds end;
        int job, generation;
        bool operator<(const Running& o) const { return end != o.end ? end < o.end : job < o.job; }
    };
    std::set<Running> ends_;  // of jobs this queue started; those that have ended are dropped when met
    std::vector<int> free_;   // scratch: by node, at the reservation
    Reservation reserved_;
};

}  // namespace squall::sim
