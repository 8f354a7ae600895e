# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# TAP for end-to-end tests. A test sources this, calls `plan N`, starts a cluster, and says ok or not for each claim:
#   check "an urgent job overtakes" test "$a" -lt "$b"
# At the first failure the logs are printed once; at the end everything is stopped.

# shellcheck source=tests/e2e/lib/cluster.sh
. "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"
# shellcheck source=tests/e2e/lib/jobs.sh
. "$(dirname "${BASH_SOURCE[0]}")/jobs.sh"

TAP_COUNT=0
TAP_FAILED=0

plan() { echo "1..$1"; }

check() { # check NAME COMMAND…
    local name=$1
    shift
    TAP_COUNT=$((TAP_COUNT + 1))
    if "$@"; then
        echo "ok $TAP_COUNT - $name"
    else
        echo "not ok $TAP_COUNT - $name"
        echo "#   failed: $*"
        [ "$TAP_FAILED" != 0 ] || [ -z "${CLUSTER_DIR:-}" ] || tap_state
        TAP_FAILED=$((TAP_FAILED + 1))
    fi
}

tap_state() {
    { squeue -a -o '%i %j %T %r %S %P %N' ; sinfo -N -o '%N %t %P'; splan -j -o jobid,state,config,nodes,start,end,why; } 2>&1 | sed 's/^/#   /'
    cluster_logs
}

tap_end() {
    local status=$?
    trap - EXIT INT TERM
    cluster_down
    [ "$status" = 0 ] && [ "$TAP_FAILED" = 0 ]
    exit
}
trap tap_end EXIT
trap 'exit 1' INT TERM

tap_cluster() {
    cluster_up || { echo "Bail out! the private cluster does not start"; exit 1; }
    wait_for 15 planner_confirmed || { cluster_logs; echo "Bail out! squalld does not plan"; exit 1; }
}

planner_confirmed() { [ -e "$CLUSTER_DIR/squall/confirmed" ]; }
