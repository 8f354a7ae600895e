#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Killing what can be killed: nothing lost, nothing run twice, nothing leaked, back in five seconds.
set -u
# shellcheck source=tests/e2e/lib/tap.sh
. "$(dirname "$0")/lib/tap.sh"
plan 13
tap_cluster

many() { # many COUNT: short jobs with due dates; prints their ids
    local i
    for ((i = 0; i < $1; i++)); do submit "many$i" v100:1=6,2=4 --due=now+200 --late-cost=5 --gpu-range=1,2; done
}
kill_at_random() { # kill_at_random NAME TIMES
    local i pid
    for ((i = 0; i < $2; i++)); do
        wait_for 10 one_runs "$1" || return 1
        sleep "0.$((RANDOM % 10))$((RANDOM % 10))"
        for pid in $(squall_pids "$1"); do kill -9 "$pid" 2>/dev/null; done
        wait_for 5 one_runs "$1" || return 1
    done
}

mapfile -t ids < <(many 12)
check "squalld is back within 5 s of kill -9, ten times" kill_at_random squalld 10
check "squall-cloudd too" kill_at_random squall-cloudd 10
check "no job is lost" wait_for 120 all_done "${ids[@]}"
once() { local id; for id in "${ids[@]}"; do [ "$(job_field "$id" Restarts)" = 0 ] || return 1; done; }
check "and none ran twice" once

mapfile -t ids < <(many 8)
# What slurmctld has not saved yet is lost with it, with Squall or without: kill it once it has saved these jobs.
touch "$CLUSTER_DIR/submitted"
state_saved() { [ "$CLUSTER_DIR/state/job_state" -nt "$CLUSTER_DIR/submitted" ]; }
check "slurmctld has saved the jobs" wait_for 30 state_saved
kill -9 "$(slurmctld_pid)"
wait_for 10 pid_gone "$(slurmctld_pid)"
start_slurmctld
check "slurmctld killed by -9 and started: one squalld" wait_for 15 one_runs squalld
check "and one squall-cloudd" wait_for 15 one_runs squall-cloudd
stop_slurmctld
none_left() { [ -z "$(squall_pids squalld)$(squall_pids squall-cloudd)" ]; }
check "slurmctld stopped: no daemon of ours left" wait_for 10 none_left
start_slurmctld
check "slurmctld restarted mid-plan: every job is done" wait_for 120 all_done "${ids[@]}"

mapfile -t ids < <(many 4)
for _ in 1 2 3 4 5 6 7 8 9 10; do scontrol reconfigure; done
check "ten reconfigures: one squalld" wait_for 15 one_runs squalld
check "every job is done" wait_for 90 all_done "${ids[@]}"
zombies() { local pid; for pid in $(pgrep -P "$(slurmctld_pid)"); do is_zombie "$pid" && return; done; return 1; }
no_zombies() { ! zombies; }
check "no zombies below slurmctld" no_zombies
lifelines() { find "/proc/$(slurmctld_pid)/fd" -lname 'pipe:*' 2>/dev/null | wc -l; }
before=$(lifelines)
kill_at_random squalld 3
check "restarts leak no descriptors" test "$(lifelines)" -le "$before"
