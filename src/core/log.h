// SPDX-License-Identifier: GPL-3.0-or-later
// The log of squalld and squall-cloudd: lines in Slurm's form, "[2026-12-01T09:02:12.123] error: text", appended to
// a file or sent to stderr (-D). One log a process; any thread may write, a line is one write(2). The plugins do not
// use it: inside slurmctld Slurm's own log is the log. Nothing here throws or exits.
#pragma once
#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>

namespace squall {

enum class LogLevel { error = 1, warning = 2, info = 3, debug = 4 };

// Appends to `path` from now on; "" = stderr. Returns "" or why the file cannot be opened (the log then stays where
// it was). Call it again after a rotation (SIGHUP). `level`: the chattiest level that is written.
std::string log_open(const std::string& path, LogLevel level);
bool log_enabled(LogLevel level);
void log_line(LogLevel level, std::string_view text);

// fmt-style: log_error("{}: {}", path, reason).
template <typename... Args>
void log_at(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
    if (log_enabled(level)) log_line(level, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
    log_at(LogLevel::error, format, std::forward<Args>(args)...);
}
template <typename... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
    log_at(LogLevel::warning, format, std::forward<Args>(args)...);
}
template <typename... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
    log_at(LogLevel::info, format, std::forward<Args>(args)...);
}
template <typename... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
    log_at(LogLevel::debug, format, std::forward<Args>(args)...);
}

// Conditions that last, logged once when they begin, when their text changes, and when they end. Belongs to one thread.
class Conditions {
  public:
    // True when the condition is new or its text changed, and then logs `text`.
    bool raise(const std::string& key, const std::string& text, LogLevel level = LogLevel::error);
    // True when the condition was there, and then logs `text` at level info (nothing when it is empty).
    bool clear(const std::string& key, const std::string& text = "");
    bool raised(const std::string& key) const { return texts_.count(key) > 0; }

  private:
    std::map<std::string, std::string> texts_;
};

}  // namespace squall
