// SPDX-License-Identifier: GPL-3.0-or-later
// Both forms of the resume file: see resume_file.h.
#include "cloud/resume_file.h"

#include <optional>
#include <vector>

#include "src/core/hostlist.h"
#include "src/core/json.h"

namespace squall::cloud {
namespace {

// The nodes a job waits for. 22.05 calls them "nodes"; later "nodes_resume" names those to be resumed, out of
// "nodes_alloc".
std::string nodes_of(const json_t* job) {
    for (const char* key : {"nodes_resume", "nodes", "nodes_alloc"})
        if (std::string text = json_text(job, key); !text.empty()) return text;
    return "";
}

}  // namespace

ResumeFile read_resume_file(const std::string& path) {
    ResumeFile file;
    Json json = json_read(path, &file.error);
    if (!json) return file;
    const json_t* jobs = json_object_get(json.get(), "jobs");
    if (!json_is_array(jobs)) {
        file.error = path + ": no list \"jobs\" in it";
        return file;
    }
    std::size_t index = 0;
    const json_t* job = nullptr;
    json_array_foreach(jobs, index, job) {
        std::string id = std::to_string(json_integer(job, "job_id")), problem;
        std::optional<std::vector<std::string>> nodes = expand_hostlist(nodes_of(job), problem);
        if (!nodes || id == "0") {
            file.error = path + ": job " + id + ": " + (nodes ? "no job_id" : problem);
            continue;
        }
        for (const std::string& node : *nodes) {
            std::string& ids = file.job_ids[node];
            ids += (ids.empty() ? "" : ",") + id;
        }
    }
    return file;
}

}  // namespace squall::cloud
