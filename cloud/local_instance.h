// SPDX-License-Identifier: GPL-3.0-or-later
// One "instance" of the local driver as it is on disk, shared by the driver and the supervisor program
// (squall-local-instance). An instance is a folder ROOT/instances/ID:
//
//   spec.json   what to run; written before anything is started, never changed. The supervisor holds a record lock on
//               it as long as it lives: that lock, not a remembered pid, says whether the instance runs.
//   started     the supervisor has begun          booted   slurmd has been started
//   stop        it has been told to end           ended    why it ended
//   tree        its processes when last listed
//
// A folder whose instance is over moves to ROOT/ended, so that its token is never used twice.
#pragma once
#include <sys/types.h>

#include <string>

#include "cloud/driver.h"
#include "src/core/daemon.h"
#include "src/core/units.h"

namespace squall::cloud {

struct LocalSpec {
    std::string id, node;
    int generation = 0;
    std::string slurmd, slurm_conf;  // absolute paths
    std::string address;
    std::string log;  // slurmd's stdout and stderr
    Seconds boot_delay_s = 0;
    bool never_boots = false;   // injected
    Seconds dies_after_s = -1;  // injected: this long after slurmd's start; -1 = never
};

// Both return "" or what went wrong, with the path.
std::string write_spec(const LocalSpec& spec, const std::string& folder);  // makes the folder, durable when it returns
std::string read_spec(const std::string& folder, LocalSpec* spec);

// The environment entry of every process of the instance but the users' own.
std::string marker_of(const std::string& folder);

std::string mark(const std::string& folder, const char* name, const std::string& text = "");
bool marked(const std::string& folder, const char* name);
std::string mark_text(const std::string& folder, const char* name);

// The lock on spec.json. Record locks are the process's: closing any descriptor of the file drops them, so who holds
// one must not read the spec again.
class SpecLock {
  public:
    explicit SpecLock(const std::string& folder);
    bool take();           // false: another process has it, or the folder has been moved away
    pid_t holder() const;  // 0 = nobody (or this process)

  private:
    std::string path_;
    Fd fd_;
};

}  // namespace squall::cloud
