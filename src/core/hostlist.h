// SPDX-License-Identifier: GPL-3.0-or-later
// Slurm's hostlist notation without Slurm: for squall.conf, the hooks and tools that run where libslurm is not.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace squall {

// "n[1-3,07-09],c1" → n1 n2 n3 n07 n08 n09 c1. nullopt: not a hostlist, or more than 65,536 names; `error` says why.
std::optional<std::vector<std::string>> expand_hostlist(std::string_view text, std::string& error);

// The other way: names with one numeric suffix in ascending runs share brackets; order is kept otherwise.
std::string compress_hostlist(const std::vector<std::string>& names);

}  // namespace squall
