// SPDX-License-Identifier: GPL-3.0-or-later
// What is taken away from the plan: GPUs, CPUs and memory of running jobs, and whole nodes of reservations. Pure.
// Called by the reader.
#pragma once
#include <vector>

#include "src/slurm/client.h"
#include "src/slurm/topology.h"

namespace squall::slurm {

// Holds of one running, suspended or completing job on the nodes the topology knows. snapshot_job: its index in
// Snapshot::jobs, -1 for a job that is not Squall's. CPUs and memory are spread evenly over its nodes.
void add_job_holds(const RawJob& job, int snapshot_job, Seconds start, Seconds end, const Topology& topology,
                   std::vector<Hold>& holds);

// Reserved nodes are taken from everybody for the time of the reservation (jobs that use a reservation are left to
// Slurm). Where a running job holds a part, the reservation holds the rest. Call it after every add_job_holds.
void add_reservation_holds(const std::vector<RawReservation>& reservations, Seconds now, const Topology& topology,
                           std::vector<Hold>& holds);

// From when on the nodes of a job are held by others is not the plan's to decide: the end of a job Squall does not
// manage is its time limit, kForever when it has none.
Seconds unmanaged_end(const RawJob& job, Seconds now);

}  // namespace squall::slurm
