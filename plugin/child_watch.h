// SPDX-License-Identifier: GPL-3.0-or-later
// One daemon that slurmctld keeps running: spawned on a lifeline, restarted with back-off when it ends. Owned and used
// by the watch thread only (watcher.h); never touches SIGCHLD or children of others.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <string>

namespace squall::plugin {

class ChildWatch {
  public:
    using Clock = std::chrono::steady_clock;
    explicit ChildWatch(std::string name) : name_(std::move(name)) {}

    // Reaps the child if it has ended and starts it when it is due. lifeline_fd: the read end of the pipe whose write
    // end slurmctld keeps.
    void tick(const std::string& program_dir, const std::string& conf, int lifeline_fd);
    // The configuration has changed: SIGHUP; and if it does not run, what kept it from that may be mended: start now.
    void reload();
    // It hangs: SIGKILL; the next ticks start it again.
    void kill_silent() const;
    // After the lifeline is closed: waits until it is gone, with SIGTERM after 3 s and SIGKILL after 5 s.
    void stop();

  private:
    void spawn(const std::string& program_dir, const std::string& conf, int lifeline_fd);
    void reap();
    void listen();  // what it says on stderr, before it has a log of its own
    void forget_child();

    std::string name_, last_error_, said_;
    int stderr_ = -1;
    pid_t pid_ = -1;
    Clock::time_point started_{}, next_start_{};
    std::chrono::milliseconds back_off_{200};
};

}  // namespace squall::plugin
