// SPDX-License-Identifier: GPL-3.0-or-later
// The dead-man switch: when squalld has confirmed no cycle for DeadManTime, every parked job is released, so that a
// broken planner delays nobody. Used by the watch thread only; talks to slurmctld as any client does.
#pragma once
#include <chrono>

#include "src/core/conf.h"

namespace squall::plugin {

class DeadMan {
  public:
    // True once when the switch trips: the planner hangs or cannot start.
    bool tick(const Conf& conf);

  private:
    using Clock = std::chrono::steady_clock;  // a step of the wall clock must not look like silence
    bool overdue(const Conf& conf);
    Clock::time_point confirmed_ = Clock::now(), next_look_{};
    long long seen_mtime_ns_ = -1;
    bool tripped_ = false, failed_ = false;
};

}  // namespace squall::plugin
