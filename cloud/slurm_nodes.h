// SPDX-License-Identifier: GPL-3.0-or-later
// The seam between the lease daemon and Slurm: how its rented nodes stand and the few things it may change about them.
// LibslurmNodes is the real one; tests put a fake in its place. Calls return "" or what went wrong; one thread.
#pragma once
#include <map>
#include <string>

namespace squall::cloud {

struct SlurmNode {
    bool cloud = false;         // State=CLOUD in slurm.conf
    bool powered_down = false;  // includes nodes that slurmctld does not show
    bool powering_up = false, powering_down = false;
    bool down = false, not_responding = false;
    std::string reason;
    // Registered and able to run jobs.
    bool usable() const { return !powered_down && !powering_up && !powering_down && !down && !not_responding; }
};

class SlurmNodes {
  public:
    virtual ~SlurmNodes() = default;
    // Every node by name; a node that is missing is powered down. Untouched on failure.
    virtual std::string load(std::map<std::string, SlurmNode>& nodes) = 0;
    virtual std::string set_address(const std::string& node, const std::string& address) = 0;
    // Fast ways out: for a node that is still powering up, and for one that was up and whose slurmd is gone. Both
    // requeue its jobs and make Slurm run SuspendProgram. `reason` begins with kReasonPrefix.
    virtual std::string power_down_force(const std::string& node, const std::string& reason) = 0;
    virtual std::string set_down(const std::string& node, const std::string& reason) = 0;
    virtual std::string resume(const std::string& node) = 0;  // DOWN → usable again
};

inline constexpr const char* kReasonPrefix = "squall: ";

}  // namespace squall::cloud
