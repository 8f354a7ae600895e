// SPDX-License-Identifier: GPL-3.0-or-later
// squall-local-instance FOLDER: the machine that a local "instance" pretends to be. Started by the local driver, in a
// session of its own. Waits the boot delay, runs slurmd, and when slurmd ends, the stop comes or the injected death
// does, takes every process of the instance with it: it is their subreaper, so none escapes.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "cloud/local_instance.h"
#include "cloud/processes.h"
#include "src/core/daemon.h"

namespace squall::cloud {
namespace {

constexpr Seconds kSlurmdGraceS = 2;  // between SIGTERM and SIGKILL

Seconds monotonic_s() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

// One of the blocked signals, or 0 when `until` (monotonic; nullopt = never) has come first.
int next_signal(std::optional<Seconds> until) {
    sigset_t set;
    sigemptyset(&set);
    for (int number : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    for (;;) {
        timespec left{until ? *until - monotonic_s() : 3600, 0};
        if (left.tv_sec <= 0) return 0;
        int number = sigtimedwait(&set, nullptr, &left);
        if (number > 0) return number;
    }
}

bool is_stop(int number) { return number == SIGTERM || number == SIGINT; }

pid_t start_slurmd(const LocalSpec& spec) {
    pid_t pid = fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // a machine without its supervisor is off
    reset_signals_in_child();
    // -b: report a fresh boot, which is what slurmctld waits for after a resume.
    const char* argv[] = {
        spec.slurmd.c_str(), "-N", spec.node.c_str(), "-f", spec.slurm_conf.c_str(), "-D", "-b", nullptr};
    execv(spec.slurmd.c_str(), const_cast<char**>(argv));
    std::fprintf(stderr, "squall-local-instance: %s: %s\n", spec.slurmd.c_str(), std::strerror(errno));
    _exit(127);
}

std::string describe(int status) {
    if (WIFSIGNALED(status)) return fmt::format("slurmd was killed by signal {}", WTERMSIG(status));
    return fmt::format("slurmd exited with status {}", WEXITSTATUS(status));
}

// Reaps; true (with its status) once slurmd itself has ended.
bool reap(pid_t slurmd, int* status) {
    bool ended = false;
    int one = 0;
    for (pid_t pid; (pid = waitpid(-1, &one, WNOHANG)) > 0;) {
        if (pid != slurmd) continue;
        ended = true;
        *status = one;
    }
    return ended;
}

// Until slurmd ends, a stop comes or the injected death does. Returns why; *slurmd becomes 0 when it has ended.
std::string run(const LocalSpec& spec, pid_t* slurmd) {
    std::optional<Seconds> death;
    if (spec.dies_after_s >= 0) death = monotonic_s() + spec.dies_after_s;
    for (;;) {
        int number = next_signal(death), status = 0;
        if (is_stop(number)) return "stopped";
        if (number == 0) return fmt::format("injected: died {} s after its start", spec.dies_after_s);
        if (reap(*slurmd, &status)) {
            *slurmd = 0;
            return fmt::format("{}; see {}", describe(status), spec.log);
        }
    }
}

void end_all(pid_t slurmd) {
    if (slurmd > 0) {
        kill(slurmd, SIGTERM);
        Seconds until = monotonic_s() + kSlurmdGraceS;
        int status = 0;
        while (!reap(slurmd, &status) && next_signal(until) != 0) {
        }
    }
    // Our own children are the roots: as subreaper we have adopted whatever lost its parent.
    auto is_child = [](const Process& one) { return one.parent == getpid(); };
    while (!tree_of(is_child).empty()) {
        kill_tree(is_child);
        next_signal(monotonic_s() + 1);
        while (waitpid(-1, nullptr, WNOHANG) > 0) {
        }
    }
}

int supervise(const std::string& folder) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    LocalSpec spec;
    std::string error = read_spec(folder, &spec);  // before locking: closing the file again would drop the lock
    SpecLock lock(folder);
    if (!lock.take()) return 0;  // another supervisor runs it, or it is over
    if (error.empty()) error = mark(folder, "started");
    if (!error.empty()) {
        std::fprintf(stderr, "squall-local-instance: %s\n", error.c_str());
        return 1;
    }
    if (marked(folder, "stop")) return 0;
    std::optional<Seconds> boot;
    if (!spec.never_boots) boot = monotonic_s() + spec.boot_delay_s;
    for (int number; (number = next_signal(boot)) != 0;)
        if (is_stop(number)) return 0;
    pid_t slurmd = start_slurmd(spec);
    mark(folder, "booted");
    std::string why = slurmd > 0 ? run(spec, &slurmd) : "cannot fork";
    if (why != "stopped") mark(folder, "ended", why);
    end_all(slurmd);
    return 0;
}

}  // namespace
}  // namespace squall::cloud

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: squall-local-instance FOLDER (started by squall-cloudd's local driver)\n");
        return 2;
    }
    return squall::cloud::supervise(argv[1]);
}
