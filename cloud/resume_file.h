// SPDX-License-Identifier: GPL-3.0-or-later
// SLURM_RESUME_FILE: which job each resumed node is for. slurmctld writes it for ResumeProgram, in one form up to 22.05
// and in another from 23.02 on; both are read. Used by squall-resume only; pure but for reading the file.
#pragma once
#include <map>
#include <string>

namespace squall::cloud {

struct ResumeFile {
    std::map<std::string, std::string> job_ids;  // node → "13,14"
    std::string error;                           // the file could not be used, or only in part; job_ids is what could
};

// The file lives only while slurmctld waits for the hook to start: read it at once.
ResumeFile read_resume_file(const std::string& path);

}  // namespace squall::cloud
