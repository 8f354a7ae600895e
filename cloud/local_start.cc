// SPDX-License-Identifier: GPL-3.0-or-later
// Starting a local instance's supervisor as a process of its own, which outlives squall-cloudd: see local_driver.h.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cloud/local_driver.h"
#include "src/core/daemon.h"

namespace squall::cloud {
namespace {

// In the child: only what is allowed between fork and exec. Reports errno through `report` if it cannot exec.
[[noreturn]] void become(const char* program, const char* folder, const char* log, const char* marker, int report) {
    setsid();
    reset_signals_in_child();
    // Real descriptors 0–2, or slurmd's listening socket becomes one of them.
    int in = open("/dev/null", O_RDONLY), out = open(log, O_WRONLY | O_APPEND | O_CREAT, 0640);
    if (out < 0) out = open("/dev/null", O_WRONLY);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
    const char* argv[] = {program, folder, nullptr};
    // Nothing of squall-cloudd's own environment: a cloud's credentials may be in it.
    const char* environment[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", marker, nullptr};
    execve(program, const_cast<char**>(argv), const_cast<char**>(environment));
    int code = errno;
    (void)!write(report, &code, sizeof code);
    _exit(127);
}

}  // namespace

Error LocalDriver::start_supervisor(const LocalSpec& spec) {
    std::string folder = folder_of(spec.id), marker = marker_of(folder);
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0)
        return {ErrorClass::transient, fmt::format("cannot make a pipe: {}", std::strerror(errno))};
    Fd from(report[0]), to(report[1]);
    pid_t pid = fork();
    if (pid < 0) return {ErrorClass::transient, fmt::format("cannot fork: {}", std::strerror(errno))};
    if (pid == 0) become(supervisor_.c_str(), folder.c_str(), spec.log.c_str(), marker.c_str(), to.get());
    children_[pid] = spec.id;
    to.reset();
    int code = 0;
    if (read(from.get(), &code, sizeof code) != static_cast<ssize_t>(sizeof code)) return {};
    return {ErrorClass::permanent,
            fmt::format("{}: cannot run: {}; is ProgramDir right?", supervisor_, std::strerror(code))};
}

}  // namespace squall::cloud
