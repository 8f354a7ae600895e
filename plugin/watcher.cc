// SPDX-License-Identifier: GPL-3.0-or-later
#include "plugin/watcher.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "plugin/child_watch.h"
#include "plugin/dead_man.h"
#include "plugin/slurm_symbols.h"

namespace squall::plugin {
namespace {

// slurmctld's signals are for its own threads.
void block_signals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

void close_fd(int& fd) {
    if (fd >= 0) close(fd);
    fd = -1;
}

}  // namespace

std::shared_ptr<const Conf> Watcher::conf() const {
    std::lock_guard lock(mutex_);
    return conf_;
}

void Watcher::start(std::shared_ptr<const Conf> conf) {
    if (thread_.joinable()) return;
    conf_ = std::move(conf);
    stop_ = false;
    thread_ = std::thread([this] {
        try {
            run();
        } catch (const std::exception& e) {
            slurm_error("sched/squall: the watch thread ended: %s; parked jobs become eligible by themselves",
                        e.what());
        }
    });
}

void Watcher::stop() {
    if (!thread_.joinable()) return;
    stop_ = true;
    thread_.join();
}

void Watcher::reconfigure(std::shared_ptr<const Conf> conf) {
    std::lock_guard lock(mutex_);
    conf_ = std::move(conf);
    reload_ = true;
}

void Watcher::run() {
    block_signals();
    DeadMan dead_man;
    while (!stop_) {
        auto now = conf();
        if (!now && lifeline_write_ >= 0) disable();
        if (now && (lifeline_write_ >= 0 || enable())) {
            if (reload_.exchange(false)) planner_.reload(), leases_.reload();
            planner_.tick(now->program_dir, now->path, lifeline_read_);
            leases_.tick(now->program_dir, now->path, lifeline_read_);
        }
        if (dead_man.tick(now ? *now : Conf{})) planner_.kill_silent();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    disable();
}

bool Watcher::enable() {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) {
        slurm_error(
            "sched/squall: no pipe for the daemons' lifeline: %s; Squall is disabled until scontrol reconfigure",
            strerror(errno));
        std::lock_guard lock(mutex_);
        conf_ = nullptr;
        return false;
    }
    lifeline_read_ = fds[0];
    lifeline_write_ = fds[1];
    return true;
}

void Watcher::disable() {
    close_fd(lifeline_write_);
    planner_.stop();
    leases_.stop();
    close_fd(lifeline_read_);
}

}  // namespace squall::plugin
