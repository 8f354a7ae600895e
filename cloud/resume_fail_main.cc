// SPDX-License-Identifier: GPL-3.0-or-later
// squall-resume-fail HOSTLIST: Slurm's ResumeFailProgram. See hook.h.
#include "cloud/hook.h"

int main(int argc, char** argv) {
    return squall::cloud::run_hook("squall-resume-fail", squall::PowerAction::resume_fail, argc, argv);
}
