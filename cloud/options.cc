// SPDX-License-Identifier: GPL-3.0-or-later
// Driver options: see options.h.
#include "cloud/options.h"

#include <fmt/format.h>
#include <strings.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <sstream>

#include "src/core/amount.h"

namespace squall::cloud {
std::string option_text(const Options& options, const std::string& key, const std::string& fallback) {
    for (const auto& [name, value] : options)
        if (strcasecmp(name.c_str(), key.c_str()) == 0) return value;
    return fallback;
}

std::string option_seconds(const Options& options, const std::string& key, Seconds fallback, Seconds* value) {
    std::string text = option_text(options, key, "");
    *value = fallback;
    if (text.empty()) return "";
    std::optional<Seconds> parsed = parse_duration(text);
    if (!parsed) return fmt::format("Driver.{}={}: write a time, like 90, 90s, 5m or 2h", key, text);
    *value = *parsed;
    return "";
}

std::string find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
    const char* path = std::getenv("PATH");
    std::istringstream folders(std::string(path ? path : "") + ":/usr/local/sbin:/usr/sbin:/usr/local/bin:/usr/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        std::string candidate = folder + "/" + name;
        if (!folder.empty() && access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    return "";
}

}  // namespace squall::cloud
