// SPDX-License-Identifier: GPL-3.0-or-later
// libslurm's records → the plain data of client.h. Called by LibslurmClient and NodeControl only.
#pragma once
#include <slurm/slurm.h>

#include "src/slurm/client.h"

namespace squall::slurm {

RawJob convert_job(const slurm_job_info_t& job);
RawNode convert_node(const node_info_t& node);
RawPartition convert_partition(const partition_info_t& partition);
RawReservation convert_reservation(const reserve_info_t& reservation);

// errno after a libslurm call that failed, as "WHAT: Slurm's words".
Reply failure(const char* what);

}  // namespace squall::slurm
