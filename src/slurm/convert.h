// SPDX-License-Identifier: GPL-3.0-or-later
// libslurm's records → the plain data of client.h. Called by LibslurmClient only.
#pragma once
#include <slurm/slurm.h>

#include "src/slurm/client.h"

namespace squall::slurm {

RawJob convert_job(const slurm_job_info_t& job);
RawNode convert_node(const node_info_t& node);
RawPartition convert_partition(const partition_info_t& partition);
RawReservation convert_reservation(const reserve_info_t& reservation);

std::vector<std::string> expand_hosts(const char* hosts);  // null and "(null)" = none

}  // namespace squall::slurm
