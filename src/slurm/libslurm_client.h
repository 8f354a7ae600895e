// SPDX-License-Identifier: GPL-3.0-or-later
// The real Client: libslurm's RPCs, with SLURM_CONF from the environment. Only public headers of Slurm are used, the
// same from 22.05 on. Messages are freed as soon as they are copied.
#pragma once
#include <ctime>

#include "src/slurm/client.h"

namespace squall::slurm {

class LibslurmClient : public Client {
  public:
    LibslurmClient();  // slurm_init; libslurm ends the process when slurm.conf cannot be found
    ~LibslurmClient() override;
    LibslurmClient(const LibslurmClient&) = delete;
    LibslurmClient& operator=(const LibslurmClient&) = delete;

    Reply refresh(Cluster& cluster, bool all_of_jobs = false) override;
    Reply update_job(const JobUpdate& update) override;
    std::string gres_prefix() const override;

  private:
    std::time_t jobs_at_ = 0, nodes_at_ = 0, partitions_at_ = 0, reservations_at_ = 0, conf_at_ = 0;
};

}  // namespace squall::slurm
