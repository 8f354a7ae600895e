// SPDX-License-Identifier: GPL-3.0-or-later
// Inside of Ledger, for ledger*.cc alone.
#pragma once
#include "src/core/ledger.h"
#include "src/core/sqlite.h"

namespace squall {

struct Ledger::Impl {
    sqlite::Database db;
    Impl(const std::string& path, sqlite::Mode mode);
};

}  // namespace squall
