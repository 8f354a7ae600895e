// SPDX-License-Identifier: GPL-3.0-or-later
// Reading a NodeClass's Driver.Key=Value options: keys in any case, values checked where they are used. Pure but for
// find_program.
#pragma once
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "src/core/units.h"

namespace squall::cloud {

using Options = std::map<std::string, std::string>;

std::string option_text(const Options& options, const std::string& key, const std::string& fallback);

// "" or "Driver.KEY=VALUE: what to write". Takes what parse_duration() takes.
std::string option_seconds(const Options& options, const std::string& key, Seconds fallback, Seconds* value);

std::vector<std::string> split_text(const std::string& text, char by);
// The first line of a file that is no secret; "" or "Driver.KEY=PATH: why not".
std::string read_public_file(const std::string& key, const std::string& path, std::string* line);

// yes/no, true/false, 1/0.
std::string option_flag(const Options& options, const std::string& key, bool fallback, bool* value);
// "a,b" → {"a", "b"}; empty parts are left out.
std::vector<std::string> option_list(const Options& options, const std::string& key);
// "" or the first option that is in none of `known` (comparing without case), with what may be written.
std::string unknown_option(const Options& options, std::initializer_list<const char*> known);
// "" or "Driver.KEY= is missing".
std::string missing_option(const Options& options, std::initializer_list<const char*> needed);

// An absolute path as it is, a name from PATH or the usual folders for daemons (a daemon of slurmctld's may have no
// PATH); "" when there is no such program.
std::string find_program(const std::string& name);

}  // namespace squall::cloud
