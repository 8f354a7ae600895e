// SPDX-License-Identifier: GPL-3.0-or-later
// Results of a run as a table for the terminal, JSON and CSV: the same figures everywhere.
#pragma once
#include <string>

#include "src/sim/run.h"

namespace squall::sim {

std::string results_table(const RunReport& report);
std::string results_json(const RunReport& report);
std::string results_csv(const RunReport& report);
// Bad rows, rows left out, notes and unplaceable jobs, one line each; at most `most` of a kind.
std::string remarks(const RunReport& report, int most);

double median_of(std::vector<double> values);  // 0 where there is none

}  // namespace squall::sim
