// SPDX-License-Identifier: GPL-3.0-or-later
#include "plugin/child_watch.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "plugin/slurm_symbols.h"

extern char** environ;

namespace squall::plugin {
namespace {

using namespace std::chrono_literals;

constexpr int kChildLifeline = 3;
constexpr auto kFirstBackOff = 200ms;
constexpr std::chrono::milliseconds kLongestBackOff = 60s;
constexpr std::chrono::milliseconds kLongestAfterKill = 2s;  // nothing is wrong with it: somebody killed it
constexpr auto kStable = 60s;                                // having lived this long, it starts again at once
constexpr std::size_t kMostSaid = 400;                       // bytes of stderr kept for the message about its end

// slurmctld blocks most signals in every thread: the child gets an empty mask and default handlers, or it could not
// be stopped. Of the files it gets the lifeline alone.
int spawn_on_lifeline(const std::string& program, const std::string& conf, int lifeline_fd, int stderr_fd, pid_t* pid) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    for (int fd = 0; fd < 3; ++fd)
        posix_spawn_file_actions_addopen(&files, fd, "/dev/null", fd == 0 ? O_RDONLY : O_WRONLY, 0);
    if (stderr_fd >= 0) posix_spawn_file_actions_adddup2(&files, stderr_fd, 2);
    posix_spawn_file_actions_adddup2(&files, lifeline_fd, kChildLifeline);
    posix_spawn_file_actions_addclosefrom_np(&files, kChildLifeline + 1);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    std::vector<std::string> words{program, "-f", conf, "--lifeline-fd", std::to_string(kChildLifeline)};
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    std::string slurm_conf_variable = std::string("SLURM_CONF=") + (slurm_conf.slurm_conf ? slurm_conf.slurm_conf : "");
    std::vector<char*> environment;
    for (char** e = environ; *e; ++e)
        if (strncmp(*e, "SLURM_CONF=", 11) != 0) environment.push_back(*e);
    if (slurm_conf.slurm_conf) environment.push_back(slurm_conf_variable.data());
    environment.push_back(nullptr);
    int error = posix_spawn(pid, program.c_str(), &files, &attributes, argv.data(), environment.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

std::string how_it_ended(int status) {
    if (WIFSIGNALED(status)) return std::string("killed by signal ") + std::to_string(WTERMSIG(status));
    return std::string("exited with ") + std::to_string(WEXITSTATUS(status));
}

}  // namespace

void ChildWatch::tick(const std::string& program_dir, const std::string& conf, int lifeline_fd) {
    listen();
    if (pid_ > 0) reap();
    if (pid_ < 0 && Clock::now() >= next_start_) spawn(program_dir, conf, lifeline_fd);
}

void ChildWatch::spawn(const std::string& program_dir, const std::string& conf, int lifeline_fd) {
    auto program = program_dir + "/" + name_;
    int pipe_fds[2] = {-1, -1};
    if (pipe2(pipe_fds, O_CLOEXEC) == 0) fcntl(pipe_fds[0], F_SETFL, O_NONBLOCK);
    int error = spawn_on_lifeline(program, conf, lifeline_fd, pipe_fds[1], &pid_);
    if (pipe_fds[1] >= 0) close(pipe_fds[1]);
    stderr_ = pipe_fds[0];
    started_ = Clock::now();
    if (error == 0) {
        last_error_.clear();
        slurm_info("sched/squall: started %s, pid %d", program.c_str(), static_cast<int>(pid_));
        return;
    }
    forget_child();
    next_start_ = started_ + back_off_;
    back_off_ = std::min(back_off_ * 2, kLongestBackOff);
    if (last_error_ != strerror(error)) {  // once per change
        last_error_ = strerror(error);
        slurm_error(
            "sched/squall: cannot start %s: %s; parked jobs become eligible by themselves. Is ProgramDir right in %s?",
            program.c_str(), last_error_.c_str(), conf.c_str());
    }
}

void ChildWatch::reap() {
    int status = 0;
    pid_t got = waitpid(pid_, &status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR)) return;
    listen();
    auto lived = Clock::now() - started_;
    bool killed = got > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (lived >= kStable) back_off_ = kFirstBackOff;
    if (killed) back_off_ = std::min(back_off_, kLongestAfterKill);
    next_start_ = Clock::now() + back_off_;
    slurm_error("sched/squall: %s (pid %d) %s after %lld s%s; starting it again in %lld ms", name_.c_str(),
                static_cast<int>(pid_), got > 0 ? how_it_ended(status).c_str() : "is gone",
                static_cast<long long>(std::chrono::duration_cast<std::chrono::seconds>(lived).count()),
                said_.empty() ? "" : (", saying \"" + said_ + "\"").c_str(), static_cast<long long>(back_off_.count()));
    // Short lives in a row back off; one kill now and then does not keep the planner away for long.
    back_off_ = lived >= 2s ? std::chrono::milliseconds(kFirstBackOff) : std::min(back_off_ * 2, kLongestBackOff);
    forget_child();
}

void ChildWatch::listen() {
    char buffer[1024];
    ssize_t got;
    while (stderr_ >= 0 && (got = read(stderr_, buffer, sizeof buffer)) > 0) {
        for (ssize_t i = 0; i < got; ++i) said_ += buffer[i] >= 32 && buffer[i] < 127 ? buffer[i] : ' ';
        if (said_.size() > kMostSaid) said_.erase(0, said_.size() - kMostSaid);
    }
}

void ChildWatch::forget_child() {
    pid_ = -1;
    if (stderr_ >= 0) close(stderr_);
    stderr_ = -1;
    said_.clear();
}

void ChildWatch::kill_silent() const {
    if (pid_ > 0) kill(pid_, SIGKILL);
}

void ChildWatch::reload() {
    if (pid_ > 0) kill(pid_, SIGHUP);
    back_off_ = kFirstBackOff;
    next_start_ = {};
}

void ChildWatch::stop() {
    if (pid_ <= 0) return;
    auto begun = Clock::now();
    int sent = 0;
    while (true) {
        pid_t got = waitpid(pid_, nullptr, WNOHANG);
        if (got == pid_ || (got < 0 && errno != EINTR)) break;
        auto waited = Clock::now() - begun;
        if (waited > 3s && sent == 0) kill(pid_, sent = SIGTERM);
        if (waited > 5s && sent == SIGTERM) kill(pid_, sent = SIGKILL);
        std::this_thread::sleep_for(20ms);
    }
    forget_child();
}

}  // namespace squall::plugin
