// SPDX-License-Identifier: GPL-3.0-or-later
// What job_submit does with one job description: read the user's words, decide whether the job is Squall's, refuse
// with a message or park it. Runs under slurmctld's locks: no I/O, no waiting. Called by job_submit_squall.cc.
#pragma once
#include <string>

#include "plugin/slurm_symbols.h"
#include "src/core/conf.h"

namespace squall::plugin {

struct Verdict {
    bool refused = false;
    bool parked = false;  // poke the planner
    std::string message;  // for the user; with refused = false a note
};

// default_partition: what a job without --partition gets; "" = not known yet.
Verdict take_submission(const Conf& conf, const std::string& default_partition, job_desc_msg_t& job, Seconds now);

// A user's change of a job: a new "squall: …" comment replaces the request; AdminComment is not theirs to write.
Verdict take_change(const Conf& conf, job_desc_msg_t& change, Seconds now);

}  // namespace squall::plugin
