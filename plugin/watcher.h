// SPDX-License-Identifier: GPL-3.0-or-later
// The watch thread of sched/squall: keeps squalld and squall-cloudd running and looks at the dead-man switch. start(),
// stop() and reconfigure() come from slurmctld's threads, one at a time.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "src/core/conf.h"

namespace squall::plugin {

class Watcher {
  public:
    void start(std::shared_ptr<const Conf> conf);  // null: no daemons, the thread does not run
    void stop();
    void reconfigure(std::shared_ptr<const Conf> conf);

  private:
    void run();
    std::shared_ptr<const Conf> conf() const;

    std::thread thread_;
    std::atomic<bool> stop_{false}, reload_{false};
    mutable std::mutex mutex_;
    std::shared_ptr<const Conf> conf_;
    int lifeline_read_ = -1, lifeline_write_ = -1;
};

}  // namespace squall::plugin
