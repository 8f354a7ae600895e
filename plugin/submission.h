// SPDX-License-Identifier: GPL-3.0-or-later
// What job_submit does with one job description: read the user's words, decide whether the job is Squall's, refuse
// with a message or park it. Runs under slurmctld's locks: no I/O, no waiting. Called by job_submit_squall.cc.
#pragma once
#include <optional>
#include <string>

#include "plugin/slurm_symbols.h"
#include "src/core/conf.h"
#include "src/core/request.h"

namespace squall::plugin {

struct Verdict {
    bool refused = false;
    bool parked = false;  // poke the planner
    std::string message;  // for the user; with refused = false a note
};

// default_partition: what a job without --partition gets; "" = not known yet.
Verdict take_submission(const Conf& conf, const std::string& default_partition, job_desc_msg_t& job, Seconds now);

// A change of a job: checks a new "squall: …" comment (parked = it has one, see ChangeQueue). AdminComment is Squall's
// alone to write. privileged: root or SlurmUser.
Verdict take_change(const Conf& conf, const job_desc_msg_t& change, bool privileged, Seconds now);

// What a new comment makes of the job: its words replace those of the stored request, the rest stays. No comment and no
// error: nothing to do (a finished job). begin: a job that becomes Squall's by it is parked until then.
struct Changed {
    std::optional<AdminComment> comment;
    std::optional<Seconds> begin;
    std::string error;
};
Changed apply_change(const Conf& conf, const slurm_job_info_t& job, std::string_view comment, Seconds now);

}  // namespace squall::plugin
