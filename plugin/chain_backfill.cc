// SPDX-License-Identifier: GPL-3.0-or-later
#include "plugin/chain_backfill.h"

#include <dlfcn.h>
#include <unistd.h>

#include <string>

#include "plugin/slurm_symbols.h"

namespace squall::plugin {
namespace {

std::string find_backfill() {
    std::string dirs = slurm_conf.plugindir ? slurm_conf.plugindir : "";
    for (std::size_t from = 0; from <= dirs.size();) {
        auto end = dirs.find(':', from);
        auto path = dirs.substr(from, end - from) + "/sched_backfill.so";
        if (access(path.c_str(), R_OK) == 0) return path;
        if (end == dirs.npos) break;
        from = end + 1;
    }
    return "";
}

template <typename Function>
Function symbol(void* handle, const char* name) {
    return reinterpret_cast<Function>(dlsym(handle, name));
}

}  // namespace

void ChainBackfill::start() {
    if (handle_) return;
    auto path = find_backfill();
    if (path.empty()) {
        slurm_error("sched/squall: no sched_backfill.so in PluginDir=%s; jobs are not backfilled",
                    slurm_conf.plugindir ? slurm_conf.plugindir : "");
        return;
    }
    void* handle = dlopen(path.c_str(), RTLD_LAZY);
    auto* init = handle ? symbol<int (*)()>(handle, "init") : nullptr;
    if (!init || init() != SLURM_SUCCESS) {
        slurm_error("sched/squall: cannot start %s: %s; jobs are not backfilled", path.c_str(),
                    init ? "its init failed" : dlerror());
        if (handle) dlclose(handle);
        return;
    }
    handle_ = handle;
    slurm_info("sched/squall: running %s beside Squall", path.c_str());
}

void ChainBackfill::stop() {
    if (!handle_) return;
    // Not unloaded afterwards: a thread of its may still be on its way out of its code.
    if (auto* fini = symbol<void (*)()>(handle_, "fini")) fini();
    handle_ = nullptr;
}

void ChainBackfill::reconfigure() {
    if (auto* reconfig = handle_ ? symbol<int (*)()>(handle_, "sched_p_reconfig") : nullptr) reconfig();
}

}  // namespace squall::plugin
