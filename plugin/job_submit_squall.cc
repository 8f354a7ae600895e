// SPDX-License-Identifier: GPL-3.0-or-later
// job_submit/squall: JobSubmitPlugins=squall. Every entry point Slurm calls is here and only dispatches to
// submission.cc. Runs under slurmctld's locks: nothing here waits, and nothing thrown leaves. A failure of ours lets
// the job pass.
#include <cstdint>
#include <ctime>
#include <exception>
#include <string>

#include "plugin/change_queue.h"
#include "plugin/conf_watch.h"
#include "plugin/slurm_symbols.h"
#include "plugin/submission.h"
#include "src/core/poke.h"

namespace {

// Never destroyed: their threads may still run when slurmctld leaves by exit().
squall::plugin::ConfWatch& site = *new squall::plugin::ConfWatch;
squall::plugin::ChangeQueue& changes = *new squall::plugin::ChangeQueue;

int answer(const squall::plugin::Verdict& verdict, const squall::Conf& conf, char** err_msg) {
    if (!verdict.message.empty() && err_msg) squall::plugin::set_text(*err_msg, verdict.message.c_str());
    if (verdict.parked) squall::poke(conf.poke_socket());
    return verdict.refused ? SLURM_ERROR : SLURM_SUCCESS;
}

// 0: not one job (part of an array).
uint32_t job_of(const job_desc_msg_t& change) {
    if (!change.job_id_str) return change.job_id == NO_VAL ? 0 : change.job_id;
    char* end = nullptr;
    auto id = std::strtoul(change.job_id_str, &end, 10);
    return *end == 0 ? static_cast<uint32_t>(id) : 0;
}

template <typename Work>
int guarded(Work work) noexcept {
    try {
        return work();
    } catch (const std::exception& e) {
        slurm_error("job_submit/squall: %s; the job is left to Slurm", e.what());
    } catch (...) {
        slurm_error("job_submit/squall: unknown error; the job is left to Slurm");
    }
    return SLURM_SUCCESS;
}

}  // namespace

extern "C" {

extern const char plugin_name[], plugin_type[];
extern const uint32_t plugin_version;
const char plugin_name[] = "Squall job submission";
const char plugin_type[] = "job_submit/squall";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

int init() {
    return guarded([] { return site.start(), changes.start(), SLURM_SUCCESS; });
}

void fini() {
    guarded([] { return changes.stop(), site.stop(), SLURM_SUCCESS; });
}

int job_submit(job_desc_msg_t* job, uint32_t, char** err_msg) {
    return guarded([&] {
        auto now = site.get();
        if (!now.conf) return SLURM_SUCCESS;
        return answer(squall::plugin::take_submission(*now.conf, now.default_partition, *job, time(nullptr)), *now.conf,
                      err_msg);
    });
}

int job_modify(job_desc_msg_t* change, void*, uint32_t uid SQUALL_JOB_MODIFY_ERR_MSG) {
    return guarded([&] {
        auto now = site.get();
        if (!now.conf) return SLURM_SUCCESS;
        bool privileged = uid == 0 || uid == slurm_conf.slurm_user_id;
        auto at = time(nullptr);
        auto verdict = squall::plugin::take_change(*now.conf, *change, privileged, at);
        if (auto id = job_of(*change); verdict.parked && id != 0) changes.push(now.conf, {id, change->comment, at});
        if (verdict.refused) slurm_info("job_submit/squall: uid %u: %s", uid, verdict.message.c_str());
        return answer(verdict, *now.conf, SQUALL_JOB_MODIFY_ERR_ARG);
    });
}

}  // extern "C"
