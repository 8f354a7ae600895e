// SPDX-License-Identifier: GPL-3.0-or-later
// What slurmctld, squall.conf and the ledger say → the Snapshot the planner reads, and beside it what the applier must
// know of each job. Pure: no I/O, no clock. Called by squalld once a cycle.
//
// A job is Squall's when its AdminComment parses as Squall's. Of those, pending ones are planned unless they are held
// by somebody, wait for a dependency, or cannot be planned at all (no GPU, a job array, a heterogeneous job, a
// reservation): the last are given up, i.e. left to Slurm as asked. A job that was released by somebody else and still
// waits (begin time over, state not "released") is simply planned again.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/core/conf.h"
#include "src/core/ledger.h"
#include "src/core/model.h"
#include "src/slurm/client.h"
#include "src/slurm/shape.h"

namespace squall::slurm {

// (job id, first submit time): Slurm reuses ids, and a requeue changes its submit time.
using JobKey = std::pair<std::uint32_t, Seconds>;

// What the reader needs of the ledger and of the last cycles.
struct Knowledge {
    std::vector<Lease> open_leases;
    std::vector<Block> blocks;
    Micro rent_today = 0, rent_this_month = 0;
    Seconds day_ends_at = kForever, month_ends_at = kForever;
    std::map<JobKey, Original> originals;  // as asked, of jobs Squall has written to
    std::map<JobKey, Seconds> not_before;  // Slurm did not start it, or refused it: wait until then
};

// Beside each Snapshot::jobs entry.
struct JobView {
    const RawJob* raw = nullptr;  // into the Cluster
    JobKey key;
    AdminComment comment;
    JobShape original;  // as asked
    AskedShape asked;
    std::optional<Seconds> asked_begin;  // the user's own --begin
    bool pin_nodes = true;
    bool released = false;         // pending, released by us, waiting for Slurm to start it
    bool stuck = false;            // … for too long: to be parked and planned again
    bool first_sight = false;      // nothing of ours in its AdminComment yet but the plugin's words
    bool changed_by_user = false;  // parked, but no longer in the shape kept for it: `original` is the new one
    bool molded = false;           // its shape is the plan's, not the one asked
};

enum class LeftOut { held, dependent, give_up };

struct LeftOutJob {
    JobView view;
    LeftOut why = LeftOut::held;
    std::string reason;  // one sentence
};

struct Reading {
    Snapshot snapshot;
    std::vector<JobView> views;        // views[i] belongs to snapshot.jobs[i]
    std::vector<LeftOutJob> left_out;  // Squall's, pending, not planned now
    std::vector<JobView> finished;     // Squall's, finished, still shown by Slurm
    std::vector<std::string> warnings;
};

Reading read_cluster(const Cluster& cluster, const Conf& conf, const Knowledge& knowledge, Seconds now,
                     Seconds utc_offset_s);

// A word of the plan part; "" where there is none.
std::string plan_word(const AdminComment& comment, const char* key);

// Seconds after which a released job that Slurm has looked at and not started is parked again.
inline constexpr Seconds kStuckResources = 10;  // Slurm says its resources are taken
inline constexpr Seconds kStuckOther = 60;      // anything else, e.g. waiting for the next backfill pass

// A job that was requeued is not released again for so long: slurmd refuses, and Slurm then fails the job for good, a
// launch whose credential is of the second in which the node last ended that job (or an earlier one).
inline constexpr Seconds kRevoked = 3;

}  // namespace squall::slurm
