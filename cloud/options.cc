// SPDX-License-Identifier: GPL-3.0-or-later
// Driver options: see options.h.
#include "cloud/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "src/core/amount.h"

namespace squall::cloud {
namespace {

// Read by the lease daemon itself, whatever the driver.
constexpr const char* kCommon[] = {"BootTimeout", "BlockTime", "OrphanAge", "DeadTime", "Cluster"};

bool same(const std::string& a, const char* b) { return strcasecmp(a.c_str(), b) == 0; }

}  // namespace

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

std::string option_flag(const Options& options, const std::string& key, bool fallback, bool* value) {
    std::string text = option_text(options, key, fallback ? "yes" : "no");
    *value = same(text, "yes") || same(text, "true") || text == "1";
    if (*value || same(text, "no") || same(text, "false") || text == "0") return "";
    return fmt::format("Driver.{}={}: write yes or no", key, text);
}

std::vector<std::string> split_text(const std::string& text, char by) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, by);) parts.push_back(part);
    return parts;
}

std::string read_public_file(const std::string& key, const std::string& path, std::string* line) {
    std::ifstream in(path);
    if (std::getline(in, *line) && !line->empty()) return "";
    return fmt::format("Driver.{}={}: cannot be read, or is empty", key, path);
}

std::vector<std::string> option_list(const Options& options, const std::string& key) {
    std::vector<std::string> found;
    std::istringstream in(option_text(options, key, ""));
    for (std::string part; std::getline(in, part, ',');)
        if (!part.empty()) found.push_back(part);
    return found;
}

std::string unknown_option(const Options& options, std::initializer_list<const char*> known) {
    for (const auto& [name, value] : options) {
        auto is = [&, &key = name](const char* word) { return same(key, word); };
        if (std::any_of(known.begin(), known.end(), is) || std::any_of(std::begin(kCommon), std::end(kCommon), is))
            continue;
        return fmt::format("Driver.{}={}: no such option; this driver has {}", name, value, fmt::join(known, ", "));
    }
    return "";
}

std::string missing_option(const Options& options, std::initializer_list<const char*> needed) {
    for (const char* key : needed)
        if (option_text(options, key, "").empty()) return fmt::format("Driver.{}= is missing", key);
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
