// SPDX-License-Identifier: GPL-3.0-or-later
#include "plugin/dead_man.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <utility>

#include "plugin/slurm_symbols.h"
#include "src/core/request.h"

namespace squall::plugin {
namespace {

using namespace std::chrono_literals;

// Makes one parked job eligible again (at the user's own begin time, if that is still to come).
bool release(const slurm_job_info_t& job, AdminComment comment) {
    comment.plan["state"] = "unmanaged";
    comment.plan["why"] = "the planner was silent, so the job was released to Slurm as it is";
    auto text = format_admin_comment(comment);
    job_desc_msg_t update;
    slurm_init_job_desc_msg(&update);
    update.job_id = job.job_id;
    update.begin_time = time(nullptr);
    if (auto begin = comment.plan.find("begin"); begin != comment.plan.end())
        update.begin_time = std::max<time_t>(update.begin_time, std::atoll(begin->second.c_str()));
    update.admin_comment = text.data();
    return slurm_update_job(&update) == SLURM_SUCCESS;
}

// Returns how many jobs were released; -1: slurmctld did not answer.
int release_parked_jobs() {
    job_info_msg_t* raw = nullptr;
    if (slurm_load_jobs(0, &raw, SHOW_ALL) != SLURM_SUCCESS) return -1;
    std::unique_ptr<job_info_msg_t, void (*)(job_info_msg_t*)> jobs(raw, slurm_free_job_info_msg);
    int released = 0;
    for (uint32_t i = 0; i < jobs->record_count; ++i) {
        const auto& job = jobs->job_array[i];
        if ((job.job_state & JOB_STATE_BASE) != JOB_PENDING || job.priority == 0 || !job.admin_comment) continue;
        auto comment = parse_admin_comment(job.admin_comment);
        if (!comment) continue;
        const auto& state = comment->plan["state"];
        if (state == "parked" || state == "planned" || state == "unplaceable")
            released += release(job, std::move(*comment));
    }
    return released;
}

}  // namespace

bool DeadMan::overdue(const Conf& conf) {
    struct stat file {};
    if (stat((conf.state_dir + "/confirmed").c_str(), &file) == 0) {
        long long mtime_ns = file.st_mtim.tv_sec * 1000000000LL + file.st_mtim.tv_nsec;
        bool first = seen_mtime_ns_ < 0;
        if (std::exchange(seen_mtime_ns_, mtime_ns) != mtime_ns && !first) confirmed_ = Clock::now();
    } else {
        seen_mtime_ns_ = 0;  // its creation will be news
    }
    return Clock::now() - confirmed_ > std::chrono::seconds(conf.dead_man_s);
}

bool DeadMan::tick(const Conf& conf) {
    auto now = Clock::now();
    if (now < next_look_) return false;
    next_look_ = now + 2s;
    if (!overdue(conf) || conf.dry_run) {
        if (tripped_) slurm_info("sched/squall: the planner is back");
        tripped_ = false;
        return false;
    }
    int released = release_parked_jobs();
    if (released < 0) {
        if (!std::exchange(failed_, true))
            slurm_error("sched/squall: no plan confirmed for DeadManTime=%lld s, and jobs cannot be listed; trying on",
                        static_cast<long long>(conf.dead_man_s));
        return false;
    }
    failed_ = false;
    if (released > 0 || !tripped_)
        slurm_error(
            "sched/squall: no plan confirmed for DeadManTime=%lld s: released %d parked jobs to Slurm; see "
            "%s/squalld.log",
            static_cast<long long>(conf.dead_man_s), released, conf.log_dir.c_str());
    return !std::exchange(tripped_, true);
}

}  // namespace squall::plugin
