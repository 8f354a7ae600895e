#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# When Squall cannot work, Slurm does: no planner, a stopped planner, a broken squall.conf.
set -u
# shellcheck source=tests/e2e/lib/tap.sh
. "$(dirname "$0")/lib/tap.sh"
plan 10

# The planner cannot start at all: its program is not there.
empty=$(mktemp -d "${TMPDIR:-/tmp}/squall-e2e.XXXXXX")
export CLUSTER_DEAD_MAN_TIME=6
cluster_up '' || exit 1
sed -i "s#^ProgramDir=.*#ProgramDir=$empty#; s/^ParkTime=.*/ParkTime=8/" "$CLUSTER_DIR/etc/squall.conf"
scontrol reconfigure
stop_slurmctld
start_slurmctld
id=$(submit alone v100:1=2 --due=now+60 --late-cost=5 --gres=gpu:v100:1)
check "squalld cannot start: the job is accepted" test -n "$id"
check "and runs all the same" wait_for 60 job_done "$id"
logged() { grep -q "$1" "$CLUSTER_DIR/log/slurmctld.log"; }
check "slurmctld.log says why" logged "cannot start $empty/squalld"
rmdir "$empty"
cluster_down

# The planner is there but silent: the dead-man switch releases what it parked.
tap_cluster
sed -i 's/^ParkTime=.*/ParkTime=600/' "$CLUSTER_DIR/etc/squall.conf"
scontrol reconfigure
wait_for 5 one_runs squalld
sleep 1.5   # job_submit follows squall.conf within a second
kill -STOP "$(squall_pids squalld)"
id=$(submit silent v100:1=2 --due=now+600 --late-cost=5 --gres=gpu:v100:1)
check "a stopped planner: the dead-man switch releases the job" wait_for 40 job_runs "$id"
check "and says so in slurmctld.log" logged 'released 1 parked jobs'
for pid in $(squall_pids squalld); do kill -CONT "$pid"; done
check "the planner is back" wait_for 20 logged 'the planner is back'
cluster_down

# A broken squall.conf: slurmctld starts, names the mistake, jobs run unplanned.
export CLUSTER_SQUALL_CONF='PlanTimes=soon'
cluster_up '' || exit 1
check "broken squall.conf: slurmctld starts" slurmctld_answers
names_it() { logged "squall.conf:[0-9]*: PlanTimes=soon: no such key; did you mean PlanTime?"; }
check "the log names file, line, key and value" names_it
id=$(SLEEP='' sbatch --parsable --due=now+60 --gres=gpu:v100:1 -t 1 -o /dev/null --wrap 'sleep 1')
check "jobs run unplanned" wait_for 40 job_done "$id"
sed -i '/PlanTimes/d' "$CLUSTER_DIR/etc/squall.conf"
scontrol reconfigure
check "mended and reconfigured: it plans again" wait_for 20 one_runs squalld
