// SPDX-License-Identifier: GPL-3.0-or-later
// What squalld and squall-cloudd share as daemons: signals, the lifeline to the slurmctld that spawned them, the
// exclusive lock that makes exactly one of each active, and the poke socket. One Daemon a process, made and used by
// the main thread before other threads exist. Nothing here throws.
//
//   Daemon daemon(lifeline_fd);                      // signals and descriptors in order
//   if (!daemon.become_active(lock, socket, &error)) return error.empty() ? 0 : 1;
//   while (!daemon.stopping()) { work(); Wake wake = daemon.wait(interval_ms); … }
#pragma once
#include <sys/types.h>

#include <chrono>
#include <string>

namespace squall {

// Why wait() came back; several may hold. None: the time is over.
struct Wake {
    bool stop = false;    // SIGTERM, SIGINT, or end of file on the lifeline: leave cleanly, soon
    bool reload = false;  // SIGHUP: read the configuration again, reopen the log
    bool poked = false;   // a poke came in
    bool child = false;   // SIGCHLD: some child has ended
};

// A descriptor that closes itself.
class Fd {
  public:
    Fd() = default;
    explicit Fd(int fd) : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(other.release()) {}
    Fd& operator=(Fd&& other) noexcept;
    ~Fd() { reset(); }
    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    int release();
    void reset();

  private:
    int fd_ = -1;
};

class Daemon {
  public:
    // Gives fds 0–2 something to be if they are closed, blocks the signals above and reads them from a signalfd,
    // ignores SIGPIPE, marks the lifeline close-on-exec. lifeline_fd: -1 = none (started by hand).
    explicit Daemon(int lifeline_fd);
    ~Daemon();
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;

    // Waits for the exclusive lock on lock_path as long as nobody asks to stop, writes the pid into the file, then
    // binds the poke socket. False: stop was asked for (*error empty) or it cannot be done (*error says why).
    // waiting: called once, with the holder's pid, when another process has the lock.
    bool become_active(const std::string& lock_path, const std::string& socket_path, std::string* error,
                       void (*waiting)(pid_t holder) = nullptr);

    // Sleeps until something of Wake happens or the time is over. Pokes are drained: many make one.
    Wake wait(std::chrono::milliseconds timeout);

    // Stop was asked for; looks without sleeping.
    bool stopping();

    // From now on a thread sees to it that the process is gone at most `grace` after stop was asked for, whatever
    // call the main thread is stuck in. Everything that matters is in Slurm and in the ledger, so leaving by _exit(0)
    // loses nothing. REQUIRES: this Daemon lives as long as the process.
    void leave_within(std::chrono::milliseconds grace);

  private:
    void look(Wake* wake, std::chrono::milliseconds timeout);
    bool bind_socket(const std::string& path, std::string* error);

    Fd stop_signals_, signals_, lifeline_, lock_, socket_;
    std::string socket_path_;
    bool stop_ = false;
    Wake seen_;  // by stopping(), to be told by the next wait()
};

// For a forked child before it works or execs: empty signal mask, default handlers. A child that keeps the daemon's
// mask cannot be stopped with SIGTERM.
void reset_signals_in_child();

// Gives descriptors 0–2 something to be: slurmctld closes them for what it spawns, and without this the first socket or
// file opened would become "stderr". Daemon does it; programs without a Daemon call it first of all.
void ensure_standard_fds();

// mkdir -p of the last component only, mode 0755; "" or a message naming the path.
std::string make_directory(const std::string& path);

}  // namespace squall
