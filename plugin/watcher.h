// SPDX-License-Identifier: GPL-3.0-or-later
// The watch thread of sched/squall: keeps squalld and squall-cloudd running and looks at the dead-man switch. start(),
// stop() and reconfigure() come from slurmctld's threads, one at a time. Without a valid squall.conf no daemon runs,
// but the dead-man switch still releases what is parked.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "plugin/child_watch.h"
#include "src/core/conf.h"

namespace squall::plugin {

class Watcher {
  public:
    void start(std::shared_ptr<const Conf> conf);  // null: disabled
    void stop();
    void reconfigure(std::shared_ptr<const Conf> conf);

  private:
    void run();
    bool enable();   // opens the lifeline
    void disable();  // closes it and waits for the daemons
    std::shared_ptr<const Conf> conf() const;

    std::thread thread_;
    std::atomic<bool> stop_{false}, reload_{false};
    mutable std::mutex mutex_;
    std::shared_ptr<const Conf> conf_;
    // The watch thread's own:
    ChildWatch planner_{"squalld"}, leases_{"squall-cloudd"};
    int lifeline_read_ = -1, lifeline_write_ = -1;
};

}  // namespace squall::plugin
