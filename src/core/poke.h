// SPDX-License-Identifier: GPL-3.0-or-later
// The poke: an empty datagram that says "look again now". Receivers are squalld (Conf::poke_socket) and squall-cloudd
// (Conf::cloud_socket); senders are the job_submit plugin, the power-save hooks and the daemons. It carries nothing:
// what there is to see is in Slurm and in the ledger, so a lost poke only costs a poll interval.
#pragma once
#include <string>

namespace squall {

// Never blocks, never fails, never raises a signal; usable under slurmctld's locks.
void poke(const std::string& socket_path) noexcept;

}  // namespace squall
