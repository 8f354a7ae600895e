// SPDX-License-Identifier: GPL-3.0-or-later
#include "plugin/site_conf.h"

#include "plugin/slurm_symbols.h"

namespace squall::plugin {

std::string conf_path() {
    if (const char* path = getenv("SQUALL_CONF"); path && *path) return path;
    if (slurm_conf.slurm_conf && *slurm_conf.slurm_conf) {
        std::string path(slurm_conf.slurm_conf);
        return path.substr(0, path.rfind('/') + 1) + "squall.conf";
    }
    return find_conf("");
}

std::shared_ptr<const Conf> load_conf(const char* who, bool quiet) {
    auto result = read_conf(conf_path());
    if (result.errors.empty()) return std::make_shared<const Conf>(std::move(result.conf));
    if (!quiet) {
        for (const auto& error : result.errors) slurm_error("%s: %s", who, error.c_str());
        slurm_error("%s: Squall is disabled; jobs run unplanned. Mend the file and run scontrol reconfigure", who);
    }
    return nullptr;
}

}  // namespace squall::plugin
