// SPDX-License-Identifier: GPL-3.0-or-later
// squall.conf as lines of Key=Value tokens: comments, '\' continuation, Include. What the keys mean is conf.cc's.
#pragma once
#include <string>
#include <vector>

namespace squall {

struct ConfToken {
    std::string key, value;  // key as written
};

struct ConfLine {
    std::string file;
    int line = 0;  // where it begins
    std::vector<ConfToken> tokens;
};

struct ConfLines {
    std::vector<ConfLine> lines;
    std::vector<std::string> errors;  // "FILE:LINE: …"
};

// Relative Include paths are relative to the file that names them. Never throws for what the files hold.
ConfLines read_conf_lines(const std::string& path);

}  // namespace squall
