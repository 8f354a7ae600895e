// SPDX-License-Identifier: GPL-3.0-or-later
// squall.conf as a plugin sees it: beside slurm.conf, errors into slurmctld.log. A broken file disables Squall, never
// slurmctld.
#pragma once
#include <memory>
#include <string>

#include "src/core/conf.h"

namespace squall::plugin {

std::string conf_path();

// nullptr: disabled. Logs each error once per call, prefixed with `who`; quiet = no log.
std::shared_ptr<const Conf> load_conf(const char* who, bool quiet = false);

}  // namespace squall::plugin
