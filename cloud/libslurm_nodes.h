// SPDX-License-Identifier: GPL-3.0-or-later
// The real SlurmNodes, over src/slurm/node_control.h. Made by squall-cloudd's main only.
#pragma once
#include <string>
#include <vector>

#include "cloud/slurm_nodes.h"
#include "src/slurm/node_control.h"

namespace squall::cloud {

class LibslurmNodes : public SlurmNodes {
  public:
    std::string load(std::map<std::string, SlurmNode>& nodes) override;
    std::string set_address(const std::string& node, const std::string& address) override;
    std::string power_down_force(const std::string& node, const std::string& reason) override;
    std::string set_down(const std::string& node, const std::string& reason) override;
    std::string resume(const std::string& node) override;

  private:
    slurm::NodeControl control_;
    std::vector<slurm::RawNode> raw_;
};

}  // namespace squall::cloud
