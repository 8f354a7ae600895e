// SPDX-License-Identifier: GPL-3.0-or-later
// The process's log: see log.h. The descriptor is an atomic, so that a reopen never leaves a thread with a closed one.
#include "src/core/log.h"

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace squall {
namespace {

std::atomic<int> g_fd{STDERR_FILENO};
std::atomic<int> g_level{static_cast<int>(LogLevel::info)};

const char* prefix(LogLevel level) {
    switch (level) {
        case LogLevel::error:
            return "error: ";
        case LogLevel::warning:
            return "warning: ";
        case LogLevel::debug:
            return "debug: ";
        case LogLevel::info:
            break;
    }
    return "";
}

std::string time_stamp() {
    timeval now{};
    gettimeofday(&now, nullptr);
    tm local{};
    localtime_r(&now.tv_sec, &local);
    char text[32];
    std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &local);
    return fmt::format("[{}.{:03}] ", std::string_view(text, length), now.tv_usec / 1000);
}

}  // namespace

std::string log_open(const std::string& path, LogLevel level) {
    g_level = static_cast<int>(level);
    int opened = STDERR_FILENO;
    if (!path.empty()) {
        opened = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
        if (opened < 0) return fmt::format("{}: cannot open the log: {}", path, std::strerror(errno));
        // The old number stays the log's number, so a thread between load and write still writes to the log.
        if (int old = g_fd.load(); old > STDERR_FILENO) {
            dup3(opened, old, O_CLOEXEC);
            close(opened);
            opened = old;
        }
    }
    g_fd = opened;
    return "";
}

bool log_enabled(LogLevel level) { return static_cast<int>(level) <= g_level.load(std::memory_order_relaxed); }

void log_line(LogLevel level, std::string_view text) {
    std::string line = time_stamp();
    line += prefix(level);
    // One line a message: what users and clouds send may hold control characters.
    for (char c : text) line += (c >= 0 && c < ' ') ? ' ' : c;
    line += '\n';
    ssize_t written = write(g_fd.load(), line.data(), line.size());
    (void)written;  // nowhere left to report a full disk
}

bool Conditions::raise(const std::string& key, const std::string& text, LogLevel level) {
    auto [at, fresh] = texts_.emplace(key, text);
    if (!fresh && at->second == text) return false;
    at->second = text;
    if (log_enabled(level)) log_line(level, text);
    return true;
}

bool Conditions::clear(const std::string& key, const std::string& text) {
    if (texts_.erase(key) == 0) return false;
    if (!text.empty() && log_enabled(LogLevel::info)) log_line(LogLevel::info, text);
    return true;
}

}  // namespace squall
