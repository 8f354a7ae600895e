#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Clouds that fail, on real Slurm daemons: no capacity, and a machine that dies under its job. Jobs that ask for the
# rented partition themselves, so only the lease daemon is at work.
set -u
# shellcheck source=tests/e2e/lib/tap.sh
. "$(dirname "$0")/lib/tap.sh"
plan 11
tap_cluster
faults=$CLUSTER_DIR/squall/local/faults
mkdir -p "${faults%/*}"

rented() { sbatch --parsable -p cloud -w c1 -t 5 -J "$1" -o "$CLUSTER_DIR/jobs/%j.out" --wrap "$2"; }
requeued() { [ "$(job_state "$1")" = PENDING ] && [ "$(job_field "$1" Restarts)" -ge 1 ]; }
start_again() { scontrol update jobid="$1" starttime=now; }
node_has() { scontrol -o show node "$1" | grep -q "$2"; }
node_is_off_and_fit() { node_has "$1" POWERED_DOWN && ! node_has "$1" State=DOWN; }
no_open_lease() { [ "$(report open_leases)" = 0 ]; }
instance_pid() { pgrep -f "slurmd -N $1 .*$CLUSTER_DIR"; }
has_instance() { [ -n "$(instance_pid "$1")" ]; }
# A time that no other process on this machine is likely to sleep.
nap=$((200000 + RANDOM))
nap_is_over() { ! pgrep -f "^sleep $nap\$" >/dev/null; }

echo 'c1 no_capacity 1' >"$faults"
job=$(rented sold-out 'sleep 1')
check "no capacity: the job is requeued within seconds" wait_for 20 requeued "$job"
check "no lease is left" wait_for 20 no_open_lease
check "the log says why" grep -q 'no_capacity' "$CLUSTER_DIR/squall-log/squall-cloudd.log"
check "the node is powered down and can be used again" wait_for 40 node_is_off_and_fit c1

# Blocked at first: then it works.
comes_up() { start_again "$job" 2>/dev/null; has_instance c1; }
check "after its block the class is used again" wait_for 100 comes_up
check "and the job runs there" wait_for 100 job_done "$job"
check "the node is given back after idle" wait_for 60 no_open_lease

job=$(rented dies "sleep $nap")
wait_for 100 job_runs "$job"
job_process() { ! nap_is_over; }
wait_for 20 job_process || echo "# the job's process was not seen"
kill -9 "$(instance_pid c1)"
check "a dead machine: its job is requeued within seconds" wait_for 30 requeued "$job"
check "its job's processes are gone" wait_for 30 nap_is_over
check "and its lease is closed" wait_for 30 no_open_lease
scancel "$job"
check "the node comes back into use" wait_for 60 node_is_off_and_fit c1
