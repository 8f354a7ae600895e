// SPDX-License-Identifier: GPL-3.0-or-later
// Starting the alert program: see alert.h.
#include "cloud/alert.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "src/core/daemon.h"
#include "src/core/log.h"

namespace squall::cloud {
namespace {

constexpr Seconds kRepeatS = kHour;
constexpr std::size_t kMostRunning = 8;  // a program that hangs shall not pile up

[[noreturn]] void become(const char* program, const char* kind, const char* text) {
    reset_signals_in_child();
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++) dup2(null, fd);
    close_range(3, ~0u, 0);
    const char* argv[] = {program, kind, text, nullptr};
    const char* environment[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", nullptr};
    execve(program, const_cast<char**>(argv), const_cast<char**>(environment));
    _exit(127);
}

}  // namespace

void Alerts::send(const std::string& program, const std::string& kind, const std::string& text, Seconds now) {
    if (program.empty()) return;
    std::erase_if(sent_at_, [&](const auto& entry) { return now - entry.second >= kRepeatS; });
    if (!sent_at_.emplace(kind + " " + text, now).second) return;
    if (access(program.c_str(), X_OK) != 0)
        return log_error("AlertProgram={}: {}; not told: {}: {}", program, std::strerror(errno), kind, text);
    if (running_.size() >= kMostRunning)
        return log_error("AlertProgram={}: {} are still running; not told: {}: {}", program, running_.size(), kind,
                         text);
    pid_t pid = fork();
    if (pid == 0) become(program.c_str(), kind.c_str(), text.c_str());
    if (pid > 0) running_.insert(pid);
}

void Alerts::reap() {
    for (auto at = running_.begin(); at != running_.end();)
        at = waitpid(*at, nullptr, WNOHANG) != 0 ? running_.erase(at) : std::next(at);
}

}  // namespace squall::cloud
