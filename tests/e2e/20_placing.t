#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Where and when jobs run: cheapest GPU in time, urgency, planned starts, shares, two nodes, and who is left alone.
set -u
# shellcheck source=tests/e2e/lib/tap.sh
. "$(dirname "$0")/lib/tap.sh"
plan 15
tap_cluster

# A turing node draws less than a v100 node: it is cheaper as long as it is in time.
slack=$(submit slack 'turing:1=12;v100:1=8' --due=now+300 --late-cost=50 --gpu-range=1)
tight=$(submit tight 'turing:1=90;v100:1=8' --due=now+60 --late-cost=500 --gpu-range=1)
wait_for 20 job_runs "$slack" && wait_for 20 job_runs "$tight"
check "the cheapest GPU that meets the due date is used" test "$(job_nodes "$slack")" = t1
check "where it would be late, the faster one is used" grep -q '^n' <<<"$(job_nodes "$tight")"
wait_for 60 all_done "$slack" "$tight"
check "both are done" all_done "$slack" "$tight"

# n1 and n2 are taken whole; an urgent job submitted last starts before one that was there first: behind it, it would be late.
first=$(submit first v100:4=22 --due=now+120 --late-cost=20 -N1 --gres=gpu:v100:4 -w n1)
second=$(submit second v100:4=22 --due=now+120 --late-cost=20 -N1 --gres=gpu:v100:4 -w n2)
wait_for 20 job_runs "$first" && wait_for 20 job_runs "$second"
relaxed=$(submit relaxed v100:4=50 --due=now+500 --late-cost=1 --burst=never --gres=gpu:v100:4 -w n1)
wait_for 10 job_word_is "$relaxed" state planned
planned=$(job_word "$relaxed" start)
shown=$(date -d "$(squeue --start -h -j "$relaxed" -o %S)" +%s)
urgent=$(submit urgent v100:4=10 --due=now+60 --late-cost=2000 --burst=never --gres=gpu:v100:4 -w n1)
wait_for 60 job_runs "$urgent"
check "a job that waits is shown with its planned start" test "$((shown - planned))" -le 30 -a "$((planned - shown))" -le 30
wait_for 120 all_done "$urgent" "$relaxed"
check "an urgent job overtakes" test "$(job_epoch "$urgent" StartTime)" -lt "$(job_epoch "$relaxed" StartTime)"
check "why names the numbers" grep -qE 'before due|late' <<<"$(splan --why "$urgent")"

# squeue --start shows the planned start, within 30 s of the real one.
block=$(submit block v100:4=15 --due=now+120 --late-cost=20 --gres=gpu:v100:4 -w n1)
wait_for 20 job_runs "$block"
behind=$(submit behind v100:4=4 --due=now+400 --late-cost=20 --burst=never --gres=gpu:v100:4 -w n1)
wait_for 10 job_word_is "$behind" state planned
shown=$(date -d "$(squeue --start -h -j "$behind" -o %S)" +%s)
wait_for 60 job_runs "$behind"
real=$(job_epoch "$behind" StartTime)
check "squeue --start is within 30 s of the real start" test "$((real - shown))" -le 30 -a "$((shown - real))" -le 30

# A large job of three GPUs and two small ones that share the fourth.
large=$(submit large v100:3=14 --due=now+120 --late-cost=20 --gres=gpu:v100:3 -w n2 --burst=never)
small1=$(submit small1 v100:1=10 --due=now+120 --late-cost=20 --gpu-share=50% -w n2)
small2=$(submit small2 v100:1=10 --due=now+120 --late-cost=20 --gpu-share=25% -w n2)
together() { job_is "$large" RUNNING && job_is "$small1" RUNNING && job_is "$small2" RUNNING; }
check "small jobs share a GPU beside a large job" wait_for 25 together
# What the jobs hold, not the node's GresUsed: Slurm 22.05 prints one of several jobs' shards there.
shards_held() { for id in "$small1" "$small2"; do scontrol show job "$id" -d | grep -oE 'GRES=shard[^ ]*'; done; }
together=$(shards_held)
check "together they hold 3 shards of one GPU" test "$(grep -o '(IDX:[0-9]*)' <<<"$together" | sort -u | wc -l)" = 1 \
    -a "$(grep -oE ':[0-9]+\(' <<<"$together" | tr -dc '0-9\n' | awk '{n += $1} END {print n}')" = 3
wait_for 60 all_done "$large" "$small1" "$small2"
check "all three are done" all_done "$large" "$small1" "$small2"

two=$(submit two v100:8=6 --due=now+120 --late-cost=20 -N2 --gres=gpu:v100:4)
wait_for 40 job_done "$two"
check "a two-node job runs on two nodes" test "$(job_field "$two" NumNodes)" = 2
check "and completes" job_done "$two"

cpu1=$(sbatch --parsable -p cpu -n 8 -t 1 -o /dev/null --wrap 'sleep 6')
cpu2=$(sbatch --parsable -p cpu -n 8 -t 5 -o /dev/null --wrap 'sleep 4')
small=$(sbatch --parsable -p cpu -n 1 -t 1 -o /dev/null --wrap 'sleep 1')
wait_for 60 all_done "$cpu1" "$cpu2" "$small"
check "CPU jobs run as ever" all_done "$cpu1" "$cpu2" "$small"
check "and carry nothing of Squall's" test -z "$(job_word "$cpu1" state)$(job_word "$small" state)"
check "every job with a due date was on time" test "$(report on_time)" = "$(report with_due)"
