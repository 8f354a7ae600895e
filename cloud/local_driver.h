// SPDX-License-Identifier: GPL-3.0-or-later
// The local driver: an "instance" is a slurmd on this machine. For trying Squall out, for demos and for tests of
// everything around a cloud, with failures injected by ROOT/faults (local_faults.h). What exists is what is on disk
// and which locks are held (local_instance.h); killing squall-cloudd loses nothing.
//
// NodeClass options: Driver.StateDir (ROOT; default StateDir/local), Driver.SlurmdPath (default: PATH, then
// /usr/sbin), Driver.SlurmConf (default: SLURM_CONF, then slurm.conf beside squall.conf), Driver.BootDelay (seconds
// before slurmd starts, default 0), Driver.Address (NodeAddr, default 127.0.0.1).
#pragma once
#include <sys/types.h>

#include <map>
#include <string>

#include "cloud/driver.h"
#include "cloud/local_faults.h"
#include "cloud/local_instance.h"

namespace squall::cloud {

class LocalDriver : public Driver {
  public:
    // root: absolute. supervisor: the program squall-local-instance. slurm_conf: for classes that name none.
    LocalDriver(std::string root, std::string supervisor, std::string slurm_conf);

    std::string name() const override { return "local"; }
    LaunchResult launch(const LaunchSpec& spec) override;
    ListResult list() override;
    Error terminate(const std::string& instance_id) override;
    Seconds list_every_s(bool busy) const override { return busy ? 1 : 2; }

  private:
    std::string folder_of(const std::string& id) const { return root_ + "/instances/" + id; }
    std::string ended_folder_of(const std::string& id) const { return root_ + "/ended/" + id; }
    Error injected_error(const std::string& node);
    Error make_spec(const LaunchSpec& spec, LocalSpec* out);
    Error start_supervisor(const LocalSpec& spec);
    Instance look(const std::string& id);
    bool settle(const std::string& id, Instance* instance);
    bool bury(const std::string& id);
    void forget_old_ended();
    void reap();

    std::string root_, supervisor_, slurm_conf_;
    LocalFaults faults_;
    std::map<pid_t, std::string> children_;  // only to leave no zombies: supervisors this process started
};

}  // namespace squall::cloud
