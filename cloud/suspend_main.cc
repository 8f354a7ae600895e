// SPDX-License-Identifier: GPL-3.0-or-later
// squall-suspend HOSTLIST: Slurm's SuspendProgram. See hook.h.
#include "cloud/hook.h"

int main(int argc, char** argv) {
    return squall::cloud::run_hook("squall-suspend", squall::PowerAction::suspend, argc, argv);
}
