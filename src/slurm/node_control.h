// SPDX-License-Identifier: GPL-3.0-or-later
// What squall-cloudd asks of slurmctld about nodes: how they stand, their address once an instance has one, and the
// fast way out when it will never come. As SlurmUser or root. One thread; a call may block for Slurm's message timeout.
#pragma once
#include <ctime>
#include <string>
#include <vector>

#include "src/slurm/client.h"

namespace squall::slurm {

class NodeControl {
  public:
    NodeControl();  // slurm_init; libslurm ends the process when slurm.conf cannot be found
    ~NodeControl();
    NodeControl(const NodeControl&) = delete;
    NodeControl& operator=(const NodeControl&) = delete;

    // Brings `nodes` up to date, cheaply when nothing changed; untouched on failure. Before 23.02 powered-down cloud
    // nodes are left out unless PrivateData=cloud.
    Reply refresh(std::vector<RawNode>& nodes);

    // NodeAddr; NodeHostName too unless `host` is empty. An old reason of the node is cleared.
    Reply set_address(const std::string& node, const std::string& address, const std::string& host);

    // State=POWER_DOWN_FORCE: runs SuspendProgram and requeues the node's jobs, but waits for the slurmd of a node that
    // was up to finish them.
    Reply power_down_force(const std::string& node, const std::string& reason);

    // State=DOWN: frees the jobs of a node whose slurmd is gone at once. Stays so until resume().
    Reply set_down(const std::string& node, const std::string& reason);
    Reply resume(const std::string& node);

  private:
    std::time_t nodes_at_ = 0;
};

}  // namespace squall::slurm
