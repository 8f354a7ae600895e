// SPDX-License-Identifier: GPL-3.0-or-later
// Reading a file that holds a secret: only when it is a regular file, owned by this process's user (SlurmUser) and
// closed to everybody else. Used for credentials of all drivers.
#pragma once
#include <map>
#include <string>

namespace squall::cloud {

// "" or "PATH: what is wrong; what to do". The text is read from the very file that was checked.
std::string read_secret_file(const std::string& path, std::string* text);

// One section of an INI file; keys in lower case. Empty when there is no such section.
std::map<std::string, std::string> ini_section(const std::string& text, const std::string& section);

}  // namespace squall::cloud
