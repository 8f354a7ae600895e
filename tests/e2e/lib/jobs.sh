# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Submitting jobs and asking about them. Sourced by tap.sh and ./demo.

# A job that sleeps as long as the GPUs it got make it: SLEEP="v100:1=8,2=5;a100:1=3" in its environment, the same text
# as --runtime. Prints nothing; knows its node's GPU type by the node's name.
write_job_script() {
    cat >"$CLUSTER_DIR/jobs/train.sh" <<'EOF'
#!/bin/bash
case $SLURMD_NODENAME in n*) type=v100 ;; t*) type=turing ;; c*) type=a100 ;; *) type=cpu ;; esac
per_node=$(grep -o , <<<"${CUDA_VISIBLE_DEVICES:-0}" | wc -l)
gpus=$(((per_node + 1) * ${SLURM_JOB_NUM_NODES:-1}))
seconds=
IFS=';' read -ra groups <<<"$SLEEP"
for group in "${groups[@]}"; do
    [ "${group%%:*}" = "$type" ] || continue
    IFS=, read -ra entries <<<"${group#*:}"
    for entry in "${entries[@]}"; do [ "${entry%%=*}" = "$gpus" ] && seconds=${entry#*=}; done
done
sleep "${seconds:-${SLEEP_ELSE:-5}}"
EOF
}

# submit NAME RUNTIME OPTION…: a job with that --runtime that really takes so long; prints its id.
submit() {
    local name=$1 runtime=$2
    shift 2
    [ -e "$CLUSTER_DIR/jobs/train.sh" ] || write_job_script
    SLEEP=$runtime sbatch --parsable -J "$name" -t 5 -o "$CLUSTER_DIR/jobs/%j.out" ${runtime:+--runtime="$runtime"} "$@" \
        "$CLUSTER_DIR/jobs/train.sh"
}

# job_field ID FIELD: one field of scontrol show job.
job_field() { scontrol -o show job "$1" 2>/dev/null | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1; }
job_state() { job_field "$1" JobState; }
job_nodes() { job_field "$1" NodeList; }
job_epoch() { date -d "$(job_field "$1" "$2")" +%s; }
job_is() { [ "$(job_state "$1")" = "$2" ]; }
# A word of the plan part of its AdminComment.
job_word() { scontrol -o show job "$1" 2>/dev/null | sed -n "s/.*AdminComment=squall:.* | .*\b$2=\([^ ]*\).*/\1/p"; }
job_word_is() { [ "$(job_word "$1" "$2")" = "$3" ]; }
job_runs() { case $(job_state "$1") in RUNNING | COMPLETING | COMPLETED) ;; *) false ;; esac; }
job_done() { job_is "$1" COMPLETED; }
all_done() {
    local id
    for id in "$@"; do job_done "$id" || return 1; done
}
on_time() { [ "$(job_epoch "$1" EndTime)" -le "$2" ]; }
# squall_pids NAME: this cluster's squalld or squall-cloudd.
squall_pids() {
    local pid
    for pid in $(pgrep -f -- "$SQUALL_BUILD/$1 -f $CLUSTER_DIR/" ); do echo "$pid"; done
}
one_runs() { [ "$(squall_pids "$1" | wc -l)" = 1 ]; }
report() { splan --json | jq -r ".report.$1"; }
