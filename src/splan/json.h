// SPDX-License-Identifier: GPL-3.0-or-later
// The View as JSON for scripts: one object with now, currency, plan, classes, jobs; with the ledger also spend and
// report. Amounts are decimal numbers in the currency, times epoch seconds. Documented in splan(1).
#pragma once
#include <string>

#include "src/splan/report.h"
#include "src/splan/spend.h"

namespace squall::splan {

std::string to_json(const View& view, const Report& report, const Spend& spend);

}  // namespace squall::splan
