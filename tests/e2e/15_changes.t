#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Changes after submission: scontrol update, reconfigure, daemons that hang or cannot start.
set -u
# shellcheck source=tests/e2e/lib/tap.sh
. "$(dirname "$0")/lib/tap.sh"
plan 14
CLUSTER_DEAD_MAN_TIME=5
tap_cluster
ctld_log=$CLUSTER_DIR/log/slurmctld.log
logged() { grep -qF -- "$1" "$ctld_log"; }
request_has() { scontrol -o show job "$1" | grep -qE "AdminComment=squall: [^|]*$2"; }
a_cycle() { # the planner confirms one more
    local before
    before=$(stat -c %y "$CLUSTER_DIR/squall/confirmed")
    wait_for 10 confirmed_after "$before"
}
confirmed_after() { [ "$(stat -c %y "$CLUSTER_DIR/squall/confirmed")" != "$1" ]; }
comment() { scontrol update "JobId=$1" Comment="$2" 2>/dev/null; }

# A job that begins later is planned, and its request can be changed by its comment.
id=$(submit later v100:1=2 --due=now+2hours --gpu-range=1-2 --begin=now+1hour --gres=gpu:v100:1)
check "a job for later is planned" wait_for 20 job_word_is "$id" state planned
begin=$(job_word "$id" begin)
check "its own begin time is kept" test -n "$begin"
comment "$id" 'squall: due=now+3hours late-cost=7'
check "a changed comment changes the request" wait_for 5 request_has "$id" 'late-cost=7'
check "what it does not name stays" request_has "$id" 'gpu-range=1,2'
a_cycle && a_cycle   # which writes AdminComment as well
check "the planner's writing does not undo it" request_has "$id" 'late-cost=7'
check "the begin time is still known" job_word_is "$id" begin "$begin"
refused_whole() { ! comment "$id" 'squall: due=whenever' && request_has "$id" 'late-cost=7'; }
check "a wrong comment is refused and changes nothing" refused_whole

plain=$(submit plain '' --gres=gpu:v100:1 --begin=now+1hour)
check "a job without due date is Slurm's" test -z "$(job_word "$plain" state)"
comment "$plain" 'squall: due=now+3hours'
check "until its comment asks for one" wait_for 10 job_word_is "$plain" state planned

# A planner that hangs is killed and started again.
old=$(squall_pids squalld)
kill -STOP "$old"
replaced() { local now; now=$(squall_pids squalld); [ -n "$now" ] && [ "$now" != "$old" ]; }
check "a planner that hangs is replaced" wait_for 30 replaced
check "and slurmctld.log says what was released" logged 'parked jobs to Slurm'
check "the new one plans" wait_for 20 logged 'the planner is back'

# One that dies at once leaves its last words in slurmctld.log; a mended ProgramDir is used as soon as Slurm is told.
programs=$CLUSTER_DIR/programs
mkdir "$programs"
ln -s "$SQUALL_BUILD/squall-cloudd" "$programs/squall-cloudd"
printf '#!/bin/sh\necho "no such library" >&2\nexit 3\n' >"$programs/squalld"
chmod +x "$programs/squalld"
sed -i "s#^ProgramDir=.*#ProgramDir=$programs#" "$CLUSTER_DIR/etc/squall.conf"
scontrol reconfigure
kill "$(squall_pids squalld)"
said() { grep -qE 'squalld .*exited with 3 .*no such library' "$ctld_log"; }
check "a planner that dies at once: slurmctld.log has its last words" wait_for 20 said
sed -i "s#^ProgramDir=.*#ProgramDir=$SQUALL_BUILD#" "$CLUSTER_DIR/etc/squall.conf"
scontrol reconfigure
check "mended: it starts at once" wait_for 5 one_runs squalld
