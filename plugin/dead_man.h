// SPDX-License-Identifier: GPL-3.0-or-later
// The dead-man switch: when squalld has confirmed no cycle for DeadManTime, every parked job is released, so that a
// broken planner delays nobody. Used by the watch thread only; talks to slurmctld as any client does.
#pragma once
#include <chrono>

#include "src/core/conf.h"

namespace squall::plugin {

class DeadMan {
  public:
    void tick(const Conf& conf);

  private:
    bool overdue(const Conf& conf) const;
    std::chrono::system_clock::time_point began_ = std::chrono::system_clock::now();
    std::chrono::steady_clock::time_point next_look_{};
    bool tripped_ = false;
};

}  // namespace squall::plugin
