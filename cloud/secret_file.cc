// SPDX-License-Identifier: GPL-3.0-or-later
// Checked reading of secrets: see secret_file.h.
#include "cloud/secret_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "src/core/daemon.h"

namespace squall::cloud {
namespace {

constexpr off_t kMostBytes = 1 << 20;

std::string trimmed(const std::string& text) {
    auto from = text.find_first_not_of(" \t\r");
    return from == text.npos ? "" : text.substr(from, text.find_last_not_of(" \t\r") - from + 1);
}

}  // namespace

std::string read_secret_file(const std::string& path, std::string* text) {
    Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!fd && errno == ELOOP) return path + ": a symbolic link; name the file itself";
    if (!fd) return fmt::format("{}: {}", path, std::strerror(errno));
    struct stat info {};
    if (fstat(fd.get(), &info) != 0) return fmt::format("{}: {}", path, std::strerror(errno));
    if (!S_ISREG(info.st_mode)) return path + ": not a file";
    if (info.st_uid != geteuid())
        return fmt::format("{}: owned by user {}, must be owned by SlurmUser ({}); chown it", path, info.st_uid,
                           geteuid());
    if ((info.st_mode & 077) != 0)
        return fmt::format("{}: mode {:04o} lets others at the credentials; chmod 600 it", path, info.st_mode & 07777);
    if (info.st_size > kMostBytes) return path + ": too large for a credentials file";
    text->clear();
    char part[4096];
    for (ssize_t got; (got = read(fd.get(), part, sizeof part)) > 0;) text->append(part, static_cast<std::size_t>(got));
    return "";
}

std::map<std::string, std::string> ini_section(const std::string& text, const std::string& section) {
    std::map<std::string, std::string> found;
    bool inside = false;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        line = trimmed(line);
        if (line.empty() || line[0] == '#' || line[0] == ';') continue;
        if (line[0] == '[') {
            std::string name = trimmed(line.substr(1, line.find(']') - 1));
            inside = name == section || name == "profile " + section;
            continue;
        }
        auto equal = line.find('=');
        if (!inside || equal == line.npos) continue;
        std::string key = trimmed(line.substr(0, equal));
        std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return std::tolower(c); });
        found[key] = trimmed(line.substr(equal + 1));
    }
    return found;
}

}  // namespace squall::cloud
