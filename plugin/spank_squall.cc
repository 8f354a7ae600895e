// SPDX-License-Identifier: GPL-3.0-or-later
// spank_squall.so: the options of sbatch, salloc and srun. Checks them where they are typed; Slurm itself carries
// them to job_submit (job_desc->spank_job_env). One line in plugstack.conf: required spank_squall.so
#include <cstdint>
#include <ctime>
#include <exception>
#include <string>

#include "plugin/slurm_symbols.h"
#include "src/core/request.h"

namespace {

// Called by Slurm's option parser with the option's position in option_specs().
int take_option(int which, const char* value, int remote) {
    try {
        if (remote) return 0;  // checked before
        squall::Request request;
        const auto& spec = squall::option_specs().at(static_cast<std::size_t>(which));
        auto error = squall::set_option(request, spec.name, value ? value : "", time(nullptr));
        if (error.empty()) return 0;
        slurm_error("squall: %s", error.c_str());
    } catch (const std::exception& e) {
        slurm_error("squall: %s", e.what());
    }
    return -1;
}

}  // namespace

extern "C" {

extern const char plugin_name[], plugin_type[];
extern const unsigned int plugin_version, spank_plugin_version;
const char plugin_name[] = "squall";
const char plugin_type[] = "spank";
const unsigned int plugin_version = SLURM_VERSION_NUMBER;
const unsigned int spank_plugin_version = 1;

int slurm_spank_init(spank_t spank, int, char**) {
    auto context = spank_context();
    if (context != S_CTX_LOCAL && context != S_CTX_ALLOCATOR) return 0;
    int which = 0;
    for (const auto& spec : squall::option_specs()) {
        spank_option option{};
        option.name = const_cast<char*>(spec.name);
        option.arginfo = const_cast<char*>(spec.arg);
        option.usage = const_cast<char*>(spec.help);
        option.has_arg = !spec.arg ? 0 : spec.arg_optional ? 2 : 1;
        option.val = which++;
        option.cb = take_option;
        if (spank_option_register(spank, &option) != ESPANK_SUCCESS)
            slurm_error("squall: cannot register --%s; is another SPANK plugin using the name?", spec.name);
    }
    return 0;
}

}  // extern "C"
