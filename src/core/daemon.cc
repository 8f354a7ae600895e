// SPDX-License-Identifier: GPL-3.0-or-later
// Signals, lifeline, lock and poke socket of the two daemons: see daemon.h.
#include "src/core/daemon.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <thread>
#include <utility>

namespace squall {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLockRetry{100};

sigset_t signal_set(std::initializer_list<int> signals) {
    sigset_t set;
    sigemptyset(&set);
    for (int signal : signals) sigaddset(&set, signal);
    return set;
}

std::string system_error(const std::string& what) { return fmt::format("{}: {}", what, std::strerror(errno)); }

// A record lock, not flock(2): a forked child (the solver's) does not inherit it, so it cannot keep the lock when the
// daemon itself is killed. command: F_SETLK, or F_GETLK to learn the holder's pid.
int lock_whole_file(int fd, int command, pid_t* holder = nullptr) {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    int result = fcntl(fd, command, &lock);
    if (holder) *holder = lock.l_type == F_UNLCK ? 0 : lock.l_pid;
    return result;
}

}  // namespace

Fd& Fd::operator=(Fd&& other) noexcept {
    if (this != &other) {
        reset();
        fd_ = other.release();
    }
    return *this;
}

int Fd::release() { return std::exchange(fd_, -1); }

void Fd::reset() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
}

Daemon::Daemon(int lifeline_fd) : lifeline_(lifeline_fd) {
    ensure_standard_fds();
    // slurmctld blocks signals in every thread and a child inherits that: start from a known mask.
    sigset_t watched = signal_set({SIGTERM, SIGINT, SIGHUP, SIGCHLD});
    sigprocmask(SIG_SETMASK, &watched, nullptr);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    // The stop signals have a descriptor of their own that is never read, so it stays ready for leave_within's thread.
    sigset_t stop = signal_set({SIGTERM, SIGINT}), others = signal_set({SIGHUP, SIGCHLD});
    stop_signals_ = Fd(signalfd(-1, &stop, SFD_CLOEXEC | SFD_NONBLOCK));
    signals_ = Fd(signalfd(-1, &others, SFD_CLOEXEC | SFD_NONBLOCK));
    if (lifeline_) fcntl(lifeline_.get(), F_SETFD, FD_CLOEXEC);
}

Daemon::~Daemon() {
    if (socket_) unlink(socket_path_.c_str());
}

bool Daemon::become_active(const std::string& lock_path, const std::string& socket_path, std::string* error,
                           void (*waiting)(pid_t holder)) {
    lock_ = Fd(open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640));
    if (!lock_) {
        *error = system_error(fmt::format("{}: cannot open the lock file", lock_path));
        return false;
    }
    bool told = false;
    while (lock_whole_file(lock_.get(), F_SETLK) != 0) {
        if (errno != EAGAIN && errno != EACCES && errno != EINTR) {
            *error = system_error(fmt::format("{}: cannot lock", lock_path));
            return false;
        }
        pid_t holder = 0;
        lock_whole_file(lock_.get(), F_GETLK, &holder);
        if (holder != 0 && !std::exchange(told, true) && waiting) waiting(holder);
        if (wait(kLockRetry).stop) return false;
    }
    std::string pid = fmt::format("{}\n", getpid());
    if (ftruncate(lock_.get(), 0) != 0 || pwrite(lock_.get(), pid.data(), pid.size(), 0) < 0) {
        *error = system_error(fmt::format("{}: cannot write the pid", lock_path));
        return false;
    }
    return socket_path.empty() || bind_socket(socket_path, error);
}

bool Daemon::bind_socket(const std::string& path, std::string* error) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        *error = fmt::format("{}: socket path longer than {} bytes; choose a shorter StateDir", path,
                             sizeof address.sun_path - 1);
        return false;
    }
    std::memcpy(address.sun_path, path.data(), path.size());
    Fd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    unlink(path.c_str());  // a killed predecessor's; we hold the lock, so nobody uses it
    if (!fd || bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
        *error = system_error(fmt::format("{}: cannot bind the socket", path));
        return false;
    }
    socket_ = std::move(fd);
    socket_path_ = path;
    return true;
}

// One poll of everything, repeated when a signal handler's return interrupts it.
void Daemon::look(Wake* wake, milliseconds timeout) {
    auto deadline = steady_clock::now() + timeout;
    pollfd fds[] = {{stop_signals_.get(), POLLIN, 0},
                    {signals_.get(), POLLIN, 0},
                    {lifeline_.get(), POLLIN, 0},
                    {socket_.get(), POLLIN, 0}};
    int ready;
    do {
        auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now()).count();
        ready = poll(fds, std::size(fds), left > 0 ? static_cast<int>(left) : 0);
    } while (ready < 0 && errno == EINTR);
    if (fds[0].revents) wake->stop = true;
    signalfd_siginfo info;
    while (fds[1].revents && read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        if (info.ssi_signo == SIGHUP) wake->reload = true;
        if (info.ssi_signo == SIGCHLD) wake->child = true;
    }
    char byte;
    if (fds[2].revents && read(lifeline_.get(), &byte, 1) <= 0) wake->stop = true;
    while (fds[3].revents && recv(socket_.get(), &byte, 1, MSG_DONTWAIT) >= 0) wake->poked = true;
    stop_ = stop_ || wake->stop;
}

Wake Daemon::wait(milliseconds timeout) {
    Wake wake = std::exchange(seen_, Wake{});
    wake.stop = stop_;
    look(&wake, wake.stop || wake.reload || wake.poked || wake.child ? milliseconds(0) : timeout);
    return wake;
}

bool Daemon::stopping() {
    if (!stop_) look(&seen_, milliseconds(0));
    return stop_;
}

void Daemon::leave_within(milliseconds grace) {
    std::thread([stop = stop_signals_.get(), lifeline = lifeline_.get(), grace] {
        pollfd fds[] = {{stop, POLLIN, 0}, {lifeline, 0, 0}};  // the lifeline's end of file shows as POLLHUP
        while (poll(fds, std::size(fds), -1) <= 0) {
        }
        std::this_thread::sleep_for(grace);
        _exit(0);
    }).detach();
}

void reset_signals_in_child() {
    for (int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGPIPE}) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

void ensure_standard_fds() {
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0) continue;
        int opened = open("/dev/null", fd == STDIN_FILENO ? O_RDONLY : O_WRONLY);
        if (opened >= 0 && opened != fd) {
            dup2(opened, fd);
            close(opened);
        }
    }
}

std::string make_directory(const std::string& path) {
    if (mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return "";
    return system_error(fmt::format("{}: cannot make the directory", path));
}

}  // namespace squall
