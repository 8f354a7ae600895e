// SPDX-License-Identifier: GPL-3.0-or-later
// A history to replay: jobs with what was known about them (estimates, which policies see) and what is true (which only
// the engine sees), the machines they ran on where the format says so, and every row that could not be used. The
// importers make it (src/sim/import_*.cc), the engine and the reports read it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "src/core/model.h"

namespace squall::sim {

struct SimJob {
    Job job;                          // estimates; configs[0] is the shape as asked, where there was one
    std::vector<Seconds> true_run_s;  // full run of each configuration
    double ends_after = 1;            // share of its work after which it really ends (training that stops early)
    int line = 0;                     // of the file it came from
};

struct BadRow {
    std::string file;
    int line = 0;
    std::string what;
};

// How jobs and rented nodes may be used, where a format's own rules differ from a real cluster's.
struct Rules {
    bool free_moves = false;  // jobs are stopped and moved without loss, machines open at once (the three-file format)
};

struct Workload {
    std::string name;
    std::vector<SimJob> jobs;  // by release, then id
    Snapshot cluster;          // classes, groups and nodes; no jobs. Empty: the format does not say
    Rules rules;
    bool runs_from_limits = false;  // estimates are the users' time limits
    int rows = 0;                   // data rows read
    int left_out = 0;               // rows that are no GPU jobs, on purpose
    std::vector<BadRow> bad;        // rows that could not be used, each named in the report
    std::vector<std::string> notes;
    std::string error;  // set: nothing could be read; "FILE:LINE: what is wrong; what to do"
};

struct ImportOptions {
    Micro late_micro_h = 10 * 1000000;  // of jobs whose format has no weight
    double due_limits = 2;              // due date of jobs without one: submit + this × time limit; 0 = none
    Seconds restart_s = 30;             // elastic jobs: what a move costs
    int max_gpus = 64;                  // elastic jobs: at most
    const Snapshot* cluster = nullptr;  // machines given by the user, for formats that need them; may be null
};

// source: "FORMAT:PATH". Never throws on bad input: Workload::error or bad rows tell it.
Workload read_workload(const std::string& source, const ImportOptions& options);

// Estimates become true × (1 ± error), uniformly, one draw a job; error 0 = exactly true.
void set_runtime_error(Workload& workload, double error, std::uint64_t seed);

}  // namespace squall::sim
