// SPDX-License-Identifier: GPL-3.0-or-later
// AlertProgram=: tells the admin. The program is started with two arguments, a word for the kind (quota, auth,
// permanent, boot, cap) and one line of text, with a bare environment, and not waited for. The same alert is not
// repeated within an hour. Used by the lease daemon, in its one thread.
#pragma once
#include <sys/types.h>

#include <map>
#include <set>
#include <string>

#include "src/core/units.h"

namespace squall::cloud {

class Alerts {
  public:
    // program: "" = none. Logs that it cannot be started.
    void send(const std::string& program, const std::string& kind, const std::string& text, Seconds now);
    void reap();  // called each tick, so that no zombies stay

  private:
    std::map<std::string, Seconds> sent_at_;  // by kind and text
    std::set<pid_t> running_;
};

}  // namespace squall::cloud
