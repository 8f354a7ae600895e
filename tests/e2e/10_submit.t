#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What users type: options, comments, refusals.
set -u
# shellcheck source=tests/e2e/lib/tap.sh
. "$(dirname "$0")/lib/tap.sh"
plan 15
tap_cluster
write_job_script
job=$CLUSTER_DIR/jobs/train.sh

says() { # says TEXT COMMAND…: the command fails and its message has the text
    local text=$1 out
    shift
    out=$("$@" 2>&1) && return 1
    grep -qF -- "$text" <<<"$out"
}
helps() { sbatch --help | grep -q -- "--$1"; }

check "sbatch --help lists the options" helps late-cost
check "a time that is none is refused, saying what to write" says 'write a time such as 18:00' sbatch --due=whenever --gres=gpu:1 "$job"
check "a due date that has passed is refused" says 'has passed' sbatch --due=2020-01-01 --gres=gpu:1 "$job"
check "a late cost without due date is refused" says 'add --due=TIME' sbatch --late-cost=5 --gres=gpu:1 "$job"
check "a due date without GPUs is refused" says 'add --gres=gpu:1' sbatch --due=now+60 "$job"
check "a share beside whole GPUs is refused" says 'leave out --gres' sbatch --due=now+60 --gpu-share=25% --gres=gpu:1 "$job"
check "an unknown profile is refused" says 'no such profile' sbatch --due=now+60 --run-profile=nix --gres=gpu:1 "$job"
check "wrong words in the comment are refused" says 'write what an hour late costs' sbatch --comment='squall: due=now+60 late-cost=x' --gres=gpu:1 "$job"

id=$(sbatch --parsable --comment='squall: due=now+600 late-cost=20 runtime=v100:1=3' -t 1 -o /dev/null --gres=gpu:v100:1 "$job")
check "the same words in the comment make it Squall's" test "$(splan -h -j "$id" -o jobid | tr -d ' ')" = "$id"

comment=$'quotes " \' and\na new line, emoji 😀, end'
id=$(sbatch --parsable --comment="$comment" -t 1 -o /dev/null --gres=gpu:v100:1 "$job")
stored() { [[ $(scontrol show job "$id") == *"$comment"* ]]; }
check "any other comment is stored as it is" stored
check "such a job is left to Slurm" test -z "$(job_word "$id" state)"
big=$(printf 'x%.0s' {1..10000})
kept_or_refused() { # Slurm itself refuses a comment this long; it is never cut
    local big_id
    big_id=$(sbatch --parsable --comment="$big" -t 1 -o /dev/null --gres=gpu:v100:1 "$job" 2>/dev/null) || return 0
    [[ $(scontrol show job "$big_id") == *"$big"* ]]
}
check "10 kB of comment are kept or refused, never cut" kept_or_refused

long=$(printf "$(printf 't%.0s' {1..60})%s:1=1;" {1..60})
check "a request that is too long is refused" says 'longer than 2048' sbatch --due=now+60 --runtime="${long%;}" --gres=gpu:1 "$job"
refused_or_stored() { sbatch --comment="squall: $(printf 'y%.0s' {1..10000})" --gres=gpu:1 "$job" 2>&1 | grep -q 'squall:'; }
check "10 kB after squall: are refused with a message" refused_or_stored

id=$(submit keep v100:1=3 --due=now+600 --gres=gpu:v100:1)
wait_for 20 job_done "$id"
check "a planned job runs and completes" job_done "$id"
