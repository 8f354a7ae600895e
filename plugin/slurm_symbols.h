// SPDX-License-Identifier: GPL-3.0-or-later
// The one place for what plugins need of Slurm beyond its public headers: exported symbols of libslurmfull that they
// resolve inside slurmctld, and every difference between Slurm versions.
#pragma once
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
// spank.h declares its callbacks outside extern "C"; what it includes itself comes first.
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>
extern "C" {
#include <slurm/spank.h>
}

extern "C" {
char* slurm_xstrdup(const char* text);
void slurm_xfree(void** item);
extern slurm_conf_t slurm_conf;
}

// job_modify() got an err_msg in 23.02.
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
#define SQUALL_JOB_MODIFY_ERR_MSG , char** err_msg
#define SQUALL_JOB_MODIFY_ERR_ARG err_msg
#else
#define SQUALL_JOB_MODIFY_ERR_MSG
#define SQUALL_JOB_MODIFY_ERR_ARG nullptr
#endif

namespace squall::plugin {

// Texts inside Slurm's structures come from its allocator.
inline void set_text(char*& to, const char* text) {
    slurm_xfree(reinterpret_cast<void**>(&to));
    to = slurm_xstrdup(text);
}

}  // namespace squall::plugin
