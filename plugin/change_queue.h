// SPDX-License-Identifier: GPL-3.0-or-later
// Changes users make with scontrol update Comment="squall: …". job_modify() runs under slurmctld's locks, cannot see
// the job's AdminComment, and Slurm refuses AdminComment from users: so the change is queued, and a thread brings it
// to AdminComment as SlurmUser. push() comes from slurmctld's threads and never waits.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "src/core/conf.h"

namespace squall::plugin {

struct Change {
    std::uint32_t job_id = 0;
    std::string comment;  // the whole comment, "squall: …"
    Seconds at = 0;       // when it was asked for: what relative times count from
};

class ChangeQueue {
  public:
    void start();
    void stop();
    void push(std::shared_ptr<const Conf> conf, Change change);  // a newer change of a job replaces the older

  private:
    using Clock = std::chrono::steady_clock;
    struct Entry {
        std::shared_ptr<const Conf> conf;
        Change change;
        Clock::time_point next, settled;  // when to look, and when to stop looking
        int version = 0;
    };
    void run();
    bool look(const Entry& entry);  // false: no need to look again

    std::mutex mutex_;
    std::condition_variable woken_;
    std::map<std::uint32_t, Entry> entries_;
    std::thread thread_;
    int version_ = 0;
    bool stop_ = false;
};

}  // namespace squall::plugin
