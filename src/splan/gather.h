// SPDX-License-Identifier: GPL-3.0-or-later
// Slurm's answers, squall.conf where it can be read, and the ledger where it can be opened (on the controller) → View.
#pragma once
#include "src/core/conf.h"
#include "src/slurm/client.h"
#include "src/splan/view.h"

namespace squall::splan {

// conf: null where squall.conf cannot be read; classes then come from the nodes' GRES, without prices.
View make_view(const slurm::Cluster& cluster, const Conf* conf, Ledger* ledger, const std::string& no_ledger_why,
               Seconds now);

}  // namespace squall::splan
