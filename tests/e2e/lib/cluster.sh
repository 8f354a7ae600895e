# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# A private Slurm in one temporary folder: its own munged, slurmctld, slurmds, ports and state. Sourced by the end-to-end
# tests, tests/e2e/cluster and ./demo. Never touches a Slurm on the machine; several may run at once.
#
#   cluster_up [--plain]     starts it (plain: sched/backfill, no Squall) and exports SLURM_CONF
#   cluster_down             stops everything it started and removes the folder
# Before cluster_up a caller may set CLUSTER_SQUALL_CONF (more lines for squall.conf), CLUSTER_SLURM_CONF (for
# slurm.conf), CLUSTER_BOOT_DELAY, CLUSTER_SUSPEND_TIME [s].

CLUSTER_SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
SQUALL_BUILD=${SQUALL_BUILD:-$CLUSTER_SOURCE/build}
CLUSTER_LOCAL_NODES="n1 n2 t1 x1"
# shellcheck source=tests/e2e/lib/slurm_files.sh
. "$CLUSTER_SOURCE/tests/e2e/lib/slurm_files.sh"
# shellcheck source=tests/e2e/lib/processes.sh
. "$CLUSTER_SOURCE/tests/e2e/lib/processes.sh"

cluster_up() {
    local plain=no
    [ "${1:-}" = --plain ] && plain=yes
    CLUSTER_DIR=$(mktemp -d "${TMPDIR:-/tmp}/squall-e2e.XXXXXX") || return 1
    mkdir -p "$CLUSTER_DIR"/{etc,log,run,state,spool,squall,squall-log,jobs}
    chmod 755 "$CLUSTER_DIR" "$CLUSTER_DIR/run"
    export SLURM_CONF=$CLUSTER_DIR/etc/slurm.conf
    unset SQUALL_CONF
    PATH=$SQUALL_BUILD:$PATH:/usr/sbin:/sbin
    CLUSTER_PORT=$(free_port_range 16)
    write_slurm_files "$plain" || return 1
    start_munged && start_slurmctld || return 1
    local node
    for node in $CLUSTER_LOCAL_NODES; do start_slurmd "$node" || return 1; done
    wait_for 30 nodes_idle || { cluster_logs; return 1; }
}

nodes_idle() { [ "$(sinfo -h -N -n n1,n2,t1,x1 -o %t 2>/dev/null | grep -c '^idle$')" -ge 4 ]; }

cluster_down() {
    [ -n "${CLUSTER_DIR:-}" ] || return 0
    stop_slurmctld
    stop_processes_of "$CLUSTER_DIR"
    [ "${CLUSTER_KEEP_FILES:-no}" = yes ] || rm -rf "$CLUSTER_DIR"
    CLUSTER_DIR=
}

# The tails of all logs, for a test that failed.
cluster_logs() {
    local log
    for log in "$CLUSTER_DIR"/log/slurmctld.log "$CLUSTER_DIR"/squall-log/*.log; do
        [ -f "$log" ] || continue
        printf '# --- %s\n' "${log##*/}"
        tail -n "${CLUSTER_LOG_LINES:-25}" "$log" | cut -c1-220 | sed 's/^/#   /'
    done
}
