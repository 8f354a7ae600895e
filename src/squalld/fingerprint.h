// SPDX-License-Identifier: GPL-3.0-or-later
// What of the cluster makes a new plan worth while, as one text to compare. Left out is what Squall itself writes
// (begin times, AdminComment) and what changes without meaning (expected starts, load). Pure.
#pragma once
#include <string>

#include "src/slurm/client.h"

namespace squall {

std::string fingerprint(const slurm::Cluster& cluster);

}  // namespace squall
