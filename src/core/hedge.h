// SPDX-License-Identifier: GPL-3.0-or-later
// What to plan with where the future is not known: run times at a quantile that fits what lateness costs, and weights
// that grow while a job is late, so that none waits for ever. Changes a Snapshot before it is planned. Called by
// squalld for every cycle and by squall-sim's policy; pure.
#pragma once
#include "src/core/model.h"

namespace squall {

// Config::run_high_s is this quantile of the run time.
inline constexpr int kHighPct = 90;

struct HedgeOptions {
    int quantile_pct = 0;     // 50 (the mean) … 90; 0 = by what lateness and GPUs cost
    Seconds aging_s = kDay;   // a job this late counts twice, twice this late three times, and so on; 0 = never more
    Micro least_micro_h = 0;  // what a job without a weight counts for once it has waited for aging_s
};

// The quantile to plan a run with (newsvendor): late / (late + early), in steps of ten from 50 to 90. late: money an
// hour late; early: money an hour that the GPUs are held too long.
int quantile_for(double late_per_h, double early_per_h);

// The run time at a quantile, between mean and high one, as if it were log-normal.
Seconds run_at(const Config& config, int quantile_pct);

// Weight of a job at `now`: late_micro_h, and as much again for every aging_s that it is late already.
Micro aged_weight(const Job& job, Seconds now, const HedgeOptions& options);

// Waiting jobs get run_s at their quantile and their aged weight. Idempotent only on a fresh Snapshot.
void hedge(Snapshot& snapshot, const HedgeOptions& options);

}  // namespace squall
