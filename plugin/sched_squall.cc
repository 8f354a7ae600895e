// SPDX-License-Identifier: GPL-3.0-or-later
// sched/squall: SchedulerType=sched/squall. Every entry point Slurm calls is here and only dispatches: the daemons and
// the dead-man switch to Watcher, the site's backfill to ChainBackfill. Nothing thrown leaves this file; init()
// always succeeds, since slurmctld exits when a sched plugin's does not.
#include <cstdint>
#include <exception>

#include "plugin/chain_backfill.h"
#include "plugin/site_conf.h"
#include "plugin/slurm_symbols.h"
#include "plugin/watcher.h"

namespace {

// Never destroyed: slurmctld may leave by exit() without calling fini(), and a running thread must not be destructed.
squall::plugin::Watcher& watcher = *new squall::plugin::Watcher;
squall::plugin::ChainBackfill& backfill = *new squall::plugin::ChainBackfill;

template <typename Work>
int guarded(Work work) noexcept {
    try {
        work();
    } catch (const std::exception& e) {
        slurm_error("sched/squall: %s", e.what());
    } catch (...) {
        slurm_error("sched/squall: unknown error");
    }
    return SLURM_SUCCESS;
}

}  // namespace

extern "C" {

extern const char plugin_name[], plugin_type[];
extern const uint32_t plugin_version;
const char plugin_name[] = "Squall due-date and cost scheduler";
const char plugin_type[] = "sched/squall";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

int init() {
    return guarded([] {
        auto conf = squall::plugin::load_conf("sched/squall");
        if (!conf || conf->backfill) backfill.start();
        watcher.start(conf);
    });
}

void fini() {
    guarded([] {
        watcher.stop();
        backfill.stop();
    });
}

int sched_p_reconfig() {
    return guarded([] {
        auto conf = squall::plugin::load_conf("sched/squall");
        watcher.reconfigure(conf);
        bool wanted = !conf || conf->backfill;
        if (wanted && backfill.running()) backfill.reconfigure();
        if (wanted) backfill.start();
        if (!wanted) backfill.stop();
    });
}

}  // extern "C"
