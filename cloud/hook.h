// SPDX-License-Identifier: GPL-3.0-or-later
// What squall-resume, squall-suspend and squall-resume-fail do: put the nodes that slurmctld names into the ledger's
// queue, wake squall-cloudd, leave. slurmctld starts them with a bare environment and descriptors 0–2 closed.
#pragma once
#include "src/core/ledger.h"

namespace squall::cloud {

// The whole program: main's arguments in, its exit status out. 0: every node is in the queue, durably. Errors go to
// LogDir/squall-hooks.log and to stderr.
int run_hook(const char* program, PowerAction action, int argc, char** argv);

}  // namespace squall::cloud
