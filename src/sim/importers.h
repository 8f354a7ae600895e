// SPDX-License-Identifier: GPL-3.0-or-later
// One importer a format (src/sim/import_*.cc) and what they share. Called by read_workload() alone.
#pragma once
#include <string>

#include "src/sim/csv.h"
#include "src/sim/workload.h"

namespace squall::sim {

// PATH: a folder with the three files Lof_Selectjobs.csv, SelectJobs_times.csv and tNodes.csv.
Workload import_csv3(const std::string& path, const ImportOptions& options);
// PATH: what `sacct --parsable2` wrote; see squall-sim(1) for the command.
Workload import_sacct(const std::string& path, const ImportOptions& options);
// PATH: a log in the Standard Workload Format.
Workload import_swf(const std::string& path, const ImportOptions& options);
// PATH: a CSV of jobs beside a folder throughputs*/ with one CSV a model.
Workload import_elasticflow(const std::string& path, const ImportOptions& options);
// PATH: a trace of jobs with the throughputs (JSON) beside it, or the throughputs alone.
Workload import_gavel(const std::string& path, const ImportOptions& options);
// PATH: a CSV of pods beside one of nodes.
Workload import_openb(const std::string& path, const ImportOptions& options);

// `count` identical local nodes named NAME-1 …
void add_class(Snapshot& cluster, NodeClass node_class, int count);
// Reads the rows of a table into jobs: bad ones are noted. `read` returns false to leave a row out on purpose.
template <typename Read>
void read_rows(Table& table, Workload& workload, Read read) {
    while (table.next()) {
        ++workload.rows;
        SimJob job;
        job.line = table.line();
        bool wanted = table.complaint().empty() ? read(job) : true;
        if (!table.complaint().empty())
            workload.bad.push_back(table.bad());
        else if (wanted)
            workload.jobs.push_back(std::move(job));
        else
            ++workload.left_out;
    }
}

}  // namespace squall::sim
