// SPDX-License-Identifier: GPL-3.0-or-later
// Reading /proc and killing trees: see processes.h.
#include "cloud/processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <set>

#include "src/core/daemon.h"

namespace squall::cloud {
namespace {

// Not a stream: reading /proc of a process that just ended fails in the middle, and a stream buffer throws then.
std::string contents(const std::string& path) {
    Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string text;
    char part[4096];
    for (ssize_t got; fd && (got = read(fd.get(), part, sizeof part)) > 0;)
        text.append(part, static_cast<std::size_t>(got));
    return text;
}

using Key = std::pair<pid_t, unsigned long long>;
Key key_of(const Process& process) { return {process.pid, process.started}; }

}  // namespace

std::optional<Process> process(pid_t pid) {
    std::string text = contents(fmt::format("/proc/{}/stat", pid));
    // The command name may hold spaces and parentheses: fields are counted from behind it.
    std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return std::nullopt;
    Process found;
    char state = 0;
    if (std::sscanf(text.c_str() + name_end + 1,
                    " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &state,
                    &found.parent, &found.started) != 3)
        return std::nullopt;
    found.pid = pid;
    found.zombie = state == 'Z' || state == 'X';
    return found;
}

std::vector<Process> all_processes() {
    std::vector<Process> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        std::string name = entry.path().filename();
        pid_t pid = 0;
        auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (bad != std::errc() || end != name.data() + name.size()) continue;
        if (auto one = process(pid)) found.push_back(*one);
    }
    return found;
}

bool started_with(pid_t pid, const std::string& name_value) {
    std::string text = '\0' + contents(fmt::format("/proc/{}/environ", pid)) + '\0';
    return text.find('\0' + name_value + '\0') != std::string::npos;
}

std::vector<Process> tree_of(const IsRoot& is_root) {
    std::vector<Process> all = all_processes(), members;
    std::set<pid_t> in;
    for (const Process& one : all)
        if (one.pid != getpid() && !one.zombie && is_root(one)) in.insert(one.pid);
    for (bool grown = true; grown;) {
        grown = false;
        for (const Process& one : all)
            if (one.pid != getpid() && in.count(one.parent) && in.insert(one.pid).second) grown = true;
    }
    for (const Process& one : all)
        if (in.count(one.pid) && !one.zombie) members.push_back(one);
    return members;
}

std::vector<Process> kill_tree(const IsRoot& is_root) {
    std::set<Key> stopped;
    std::vector<Process> members;
    for (bool grown = true; grown;) {
        grown = false;
        members = tree_of(is_root);
        for (const Process& one : members) {
            if (!stopped.insert(key_of(one)).second) continue;
            grown = true;
            kill(one.pid, SIGSTOP);
        }
    }
    std::vector<Process> left;
    for (const Process& one : members)
        if (kill(one.pid, SIGKILL) != 0 && errno == EPERM) left.push_back(one);
    return left;
}

}  // namespace squall::cloud
