# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Starting and stopping the private cluster's daemons, by pid; and waiting. Sourced by cluster.sh.

# wait_for SECONDS COMMAND…: polls until the command succeeds; false when the time is over.
wait_for() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.2
    done
}

# A base port with COUNT free ports from it on.
free_port_range() {
    local base port used
    used=$(awk 'NR > 1 {split($2, a, ":"); print a[2]}' /proc/net/tcp /proc/net/tcp6 2>/dev/null)
    while :; do
        base=$((20000 + RANDOM % 10000))
        for ((port = base; port < base + $1; port++)); do
            grep -qix "$(printf '%04X' "$port")" <<<"$used" && continue 2
        done
        echo "$base"
        return
    done
}

start_munged() {
    munged --key-file="$CLUSTER_DIR/etc/munge.key" --socket="$CLUSTER_DIR/run/munge.socket" \
        --pid-file="$CLUSTER_DIR/run/munged.pid" --log-file="$CLUSTER_DIR/log/munged.log" \
        --seed-file="$CLUSTER_DIR/run/munge.seed" --num-threads=2 --force 2>>"$CLUSTER_DIR/log/munged.err"
    wait_for 10 test -S "$CLUSTER_DIR/run/munge.socket" || { cat "$CLUSTER_DIR"/log/munged.*; return 1; }
}

start_slurmctld() {
    slurmctld -f "$SLURM_CONF" || return 1
    wait_for 20 slurmctld_answers || { cluster_logs; return 1; }
}

slurmctld_answers() { scontrol ping 2>/dev/null | grep -q 'is UP'; }

slurmctld_pid() { cat "$CLUSTER_DIR/run/slurmctld.pid" 2>/dev/null; }

start_slurmd() { slurmd -N "$1" -f "$SLURM_CONF"; }

stop_slurmctld() {
    local pid
    pid=$(slurmctld_pid)
    [ -n "$pid" ] && kill "$pid" 2>/dev/null
    wait_for 20 pid_gone "${pid:-0}"
}

pid_gone() { [ "$1" = 0 ] || ! kill -0 "$1" 2>/dev/null || is_zombie "$1"; }
is_zombie() { grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }

# All processes that carry DIR in their command line or environment; this shell and its own ancestors are left out.
processes_of() {
    local dir=$1 entry pid
    for entry in /proc/[0-9]*; do
        pid=${entry#/proc/}
        [ "$pid" = $$ ] || [ "$pid" = "$BASHPID" ] || [ "$pid" = "$PPID" ] && continue
        if grep -qaF "$dir" "$entry/cmdline" 2>/dev/null; then
            echo "$pid"
        elif grep -qaF "$dir" "$entry/environ" 2>/dev/null && is_slurm_process "$pid"; then
            echo "$pid"
        fi
    done
}

# Daemons and what runs below them (jobs); not the test that asks.
is_slurm_process() {
    local pid=$1
    while [ "$pid" -gt 1 ]; do
        [ "$pid" = $$ ] && return 1
        pid=$(awk '/^PPid:/ {print $2}' "/proc/$pid/status" 2>/dev/null) || return 1
        [ -n "$pid" ] || return 1
    done
}

stop_processes_of() {
    local signal pids
    for signal in TERM KILL; do
        mapfile -t pids < <(processes_of "$1")
        [ ${#pids[@]} -eq 0 ] && return
        kill -s "$signal" "${pids[@]}" 2>/dev/null
        wait_for 5 no_processes_of "$1" && return
    done
}

no_processes_of() { [ -z "$(processes_of "$1")" ]; }
