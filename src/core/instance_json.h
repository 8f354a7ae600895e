// SPDX-License-Identifier: GPL-3.0-or-later
// A Snapshot as a JSON file: what squall-sim solves and what `squalld --dump-snapshot` writes. Fields have the names of
// src/core/model.h; those at their default are left out. Amounts are micro-units, times epoch seconds.
#pragma once
#include <string>

#include "src/core/model.h"

namespace squall {

std::string snapshot_to_json(const Snapshot& snapshot);

struct SnapshotResult {
    Snapshot snapshot;
    std::string error;  // "" or "FILE:LINE: …" naming the path in the document, the value and what is accepted
};
// Checks every index and range, so that what it returns is safe to plan. `name` is for messages.
SnapshotResult snapshot_from_json(const std::string& text, const std::string& name);

}  // namespace squall
