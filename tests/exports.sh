#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every plugin shows only what Slurm calls.
set -eu
build=${SQUALL_BUILD:-$(cd "$(dirname "$0")/.." && pwd)/build}
allowed='^(plugin_name|plugin_type|plugin_version|spank_plugin_version|init|fini|sched_p_reconfig|job_submit|job_modify|slurm_spank_init)$'
for plugin in sched_squall job_submit_squall spank_squall; do
    others=$(nm -D --defined-only "$build/.libs/$plugin.so" | awk '{print $3}' | grep -vE "$allowed" || true)
    [ -z "$others" ] || { echo "$plugin.so also exports: $others" >&2; exit 1; }
done
