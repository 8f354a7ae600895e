// SPDX-License-Identifier: GPL-3.0-or-later
// squall.conf and the cluster's default partition, kept fresh by a thread of its own, because job_submit runs under
// slurmctld's locks and must not wait for a file or an answer. get() is for any thread.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "src/core/conf.h"

namespace squall::plugin {

class ConfWatch {
  public:
    struct Now {
        std::shared_ptr<const Conf> conf;  // null: Squall is disabled
        std::string default_partition;
    };
    void start();
    void stop();
    Now get() const;

  private:
    void run();
    bool changed();
    mutable std::mutex mutex_;
    Now now_;
    std::thread thread_;
    bool stop_ = false;
    long seen_mtime_ns_ = -1;
};

}  // namespace squall::plugin
