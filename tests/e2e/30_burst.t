#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Renting: when being late costs more than rent, and only then; leases closed and booked; nodes that never boot.
set -u
# shellcheck source=tests/e2e/lib/tap.sh
. "$(dirname "$0")/lib/tap.sh"
plan 11
export CLUSTER_RESUME_TIMEOUT=25
tap_cluster

fill=()
for node in n1 n2; do fill+=("$(submit fill v100:4=25 --due=now+60 --late-cost=1 --burst=never --gres=gpu:v100:4 -w $node)"); done
wait_for 20 job_runs "${fill[0]}" && wait_for 20 job_runs "${fill[1]}"

patient=$(submit patient 'v100:4=8;a100:4=5' --due=now+35 --late-cost=1 --gpu-range=4)
wait_for 10 job_word_is "$patient" state planned
check "no burst when waiting is cheaper" test "$(job_word "$patient" where)" = local

hasty=$(submit hasty 'v100:4=8;a100:4=5' --due=now+25 --late-cost=3000 --gpu-range=4)
wait_for 30 job_runs "$hasty"
check "burst when lateness costs more than rent" grep -q '^c' <<<"$(job_nodes "$hasty")"
check "the reason names the alternative" grep -q 'waiting for' <<<"$(splan --why "$hasty")"
wait_for 40 job_done "$hasty"
check "the rented node does the job" job_done "$hasty"
no_open_lease() { [ "$(report open_leases)" = 0 ]; }
check "the lease is closed after idle" wait_for 60 no_open_lease
booked() { splan --json | jq -e '.spend.rent_today > 0' >/dev/null; }
check "and its rent is booked" booked
check "the instance is gone" test -z "$(pgrep -f "slurmd -N c.* $CLUSTER_DIR" )"
wait_for 60 all_done "${fill[@]}" "$patient"
check "the patient job ran at home" grep -q '^n' <<<"$(job_nodes "$patient")"

# Now every rented node hangs in its boot: the lease fails, the job is requeued and placed elsewhere.
echo '* never_boots' >"$CLUSTER_DIR/squall/local/faults"
fill=()
for node in n1 n2; do fill+=("$(submit fill2 v100:4=30 --due=now+60 --late-cost=1 --burst=never --gres=gpu:v100:4 -w $node)"); done
wait_for 20 job_runs "${fill[0]}" && wait_for 20 job_runs "${fill[1]}"
stuck=$(submit stuck 'v100:4=5;a100:4=5' --due=now+25 --late-cost=3000 --gpu-range=4)
check "a rented node that never boots: the job is placed elsewhere" wait_for 120 job_done "$stuck"
check "on a node of the site" grep -q '^n' <<<"$(job_nodes "$stuck")"
check "and no lease stays open" wait_for 60 no_open_lease
