// SPDX-License-Identifier: GPL-3.0-or-later
// A checked plan and what Slurm has now → the few updates that bring Slurm there. diff_plan is pure; squalld sends its
// actions in order, one update_job each. Nothing is sent for a job whose state, configuration, place, times and cost
// are what its AdminComment already says, give or take.
//
// A job that waits is parked by its begin time: planned start plus a guard, so that Slurm cannot start it before
// squalld has pinned it, and starts it as asked soon after if squalld is gone. A parked job always has the shape the
// user asked; only the update that starts it now changes partition, nodes and GPUs.
#pragma once
#include <string>
#include <vector>

#include "src/core/plan.h"
#include "src/slurm/reader.h"

namespace squall::slurm {

enum class ActionKind { give_up, park, release, note };  // note: AdminComment only
const char* to_string(ActionKind kind);

struct Action {
    ActionKind kind = ActionKind::note;
    JobKey key;
    JobUpdate update;
    bool molds = false;  // changes the shape: the shape as asked must be in the ledger first
    // For the ledger; state "" = nothing new to record.
    DecisionRow decision;
};

struct ApplyOptions {
    Seconds guard_s = 5;   // see above
    Seconds park_s = 300;  // begin time of a job without a planned start: now + this
    std::string gres_prefix = "gres:";
};
// 3 polls, twice the plan time and a little more: squalld sees a due start at least once inside it.
ApplyOptions apply_options(const Conf& conf, const std::string& gres_prefix);

// Actions in the order to send them: what frees resources first. plan.placements[i] is for reading.views[i].
std::vector<Action> diff_plan(const Reading& reading, const Plan& plan, const Conf& conf, const Cluster& cluster,
                              const ApplyOptions& options);

// How far a planned time may drift before it is written again: 5 s and 2 % of the time until then.
Seconds tolerance(Seconds at, Seconds now);

}  // namespace squall::slurm
