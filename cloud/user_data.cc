// SPDX-License-Identifier: GPL-3.0-or-later
// Filling in the boot template: see user_data.h.
#include "cloud/user_data.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include "cloud/options.h"

namespace squall::cloud {
namespace {

constexpr std::size_t kMostBytes = 16 * 1024;  // EC2's limit, the smallest of the four clouds'

bool is_harmless(const std::string& value) {
    return std::all_of(value.begin(), value.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '.' || c == '_' || c == '-' || c == ':' || c == '/' || c == ',' || c == '@';
    });
}

std::map<std::string, std::string> values_of(const LaunchSpec& spec, const std::string& cluster) {
    std::map<std::string, std::string> values = {
        {"NODE", spec.node}, {"CLUSTER", cluster}, {"GENERATION", std::to_string(spec.generation)}};
    for (const auto& [name, value] : spec.options) {
        if (strncasecmp(name.c_str(), "Var.", 4) != 0) continue;
        std::string key = name.substr(4);
        std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return std::toupper(c); });
        values[key] = value;
    }
    return values;
}

// What stands between two '@', when it is a name of ours: capitals, digits and '_'.
std::string name_at(const std::string& text, std::size_t at) {
    std::size_t end = at + 1;
    while (end < text.size() && (std::isupper(static_cast<unsigned char>(text[end])) ||
                                 std::isdigit(static_cast<unsigned char>(text[end])) || text[end] == '_'))
        ++end;
    return end > at + 1 && end < text.size() && text[end] == '@' ? text.substr(at + 1, end - at - 1) : "";
}

}  // namespace

UserData make_user_data(const LaunchSpec& spec, const std::string& cluster) {
    UserData made;
    std::string path = option_text(spec.options, "UserDataFile", "");
    if (path.empty()) return made;
    std::ifstream in(path);
    std::stringstream whole;
    whole << in.rdbuf();
    if (!in) return {"", fmt::format("Driver.UserDataFile={}: cannot be read", path)};
    std::string text = whole.str();
    auto values = values_of(spec, cluster);
    for (std::size_t at = 0; at < text.size(); ++at) {
        std::string name = text[at] == '@' ? name_at(text, at) : "";
        if (name.empty()) {
            made.text += text[at];
            continue;
        }
        auto value = values.find(name);
        if (value == values.end())
            return {"",
                    fmt::format("Driver.UserDataFile={}: @{}@ has no value; write Driver.Var.{}=", path, name, name)};
        if (!is_harmless(value->second))
            return {"", fmt::format("Driver.Var.{}={}: only letters, digits and . _ - : / , @ go into user data", name,
                                    value->second)};
        made.text += value->second;
        at += name.size() + 1;
    }
    if (made.text.size() > kMostBytes)
        return {"", fmt::format("Driver.UserDataFile={}: {} bytes, {} at most", path, made.text.size(), kMostBytes)};
    return made;
}

std::string refuse_host_name(const std::string& name) {
    bool good = !name.empty() && name.size() <= 63 && name[0] != '-' && name[0] != '.' &&
                std::all_of(name.begin(), name.end(),
                            [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '.' || c == '_'; });
    return good ? "" : fmt::format("node \"{}\": not a host name", name);
}

}  // namespace squall::cloud
