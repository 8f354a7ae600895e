// SPDX-License-Identifier: GPL-3.0-or-later
// The site's own sched/backfill, run beside Squall: SchedulerType is exclusive, but CPU partitions and unmanaged jobs
// must keep their backfill. Called from the entry points of sched_squall.cc, one thread at a time.
#pragma once

namespace squall::plugin {

class ChainBackfill {
  public:
    void start();  // finds sched_backfill.so in PluginDir, calls its init(); logs and goes on without if it cannot
    void stop();   // its fini()
    void reconfigure();  // its sched_p_reconfig()
    bool running() const { return handle_ != nullptr; }

  private:
    void* handle_ = nullptr;
};

}  // namespace squall::plugin
