// SPDX-License-Identifier: GPL-3.0-or-later
// What became of the jobs: --report, --why and the progress line. Pure, from a View.
#pragma once
#include <string>
#include <vector>

#include "src/splan/view.h"

namespace squall::splan {

struct Report {
    int finished = 0, with_due = 0, on_time = 0;
    Seconds late_s = 0;                                            // sum over late jobs
    Micro late = 0, rent = 0, energy = 0;                          // as it happened
    Micro planned_late = 0, planned_rent = 0, planned_energy = 0;  // as decided when the jobs were started
    Seconds end_error_s = 0;                                       // mean |real end − planned end|
    int bursts = 0;                                                // leases that served
    int shared_gpus = 0;                                           // jobs that ran on a share of a GPU
    int two_node_jobs = 0;
    int open_leases = 0;
};
Report make_report(const View& view);
std::string report_text(const View& view, const Report& report);

// "9 jobs: 3 running, 2 planned, 4 done (4 on time) · plan cost 1.20, bound 1.10 · next start 14:05:30"
std::string progress_line(const View& view);

// All decisions on one job, oldest first, from the ledger; without it the one in AdminComment.
std::string why_text(const View& view, const JobLine& job, const std::vector<DecisionRow>& history);

}  // namespace squall::splan
