// SPDX-License-Identifier: GPL-3.0-or-later
// squall-resume HOSTLIST: Slurm's ResumeProgram. See hook.h.
#include "cloud/hook.h"

int main(int argc, char** argv) {
    return squall::cloud::run_hook("squall-resume", squall::PowerAction::resume, argc, argv);
}
