# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# The configuration files of the private cluster. Sourced by cluster.sh.

# Where the distribution's Slurm plugins are.
slurm_plugin_dir() {
    local dir
    for dir in /usr/lib/*/slurm-wlm /usr/lib/*/slurm /usr/lib64/slurm; do
        [ -e "$dir/sched_backfill.so" ] && { echo "$dir"; return; }
    done
    echo "no Slurm plugins found below /usr/lib: install slurmctld" >&2
    return 1
}

write_slurm_files() {
    local plain=$1 plugins user
    plugins=$(slurm_plugin_dir) || return 1
    user=$(id -un)
    dd if=/dev/urandom of="$CLUSTER_DIR/etc/munge.key" bs=128 count=1 2>/dev/null
    chmod 400 "$CLUSTER_DIR/etc/munge.key"
    cat >"$SLURM_CONF" <<EOF
ClusterName=squall
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
SlurmctldPort=$CLUSTER_PORT
AuthType=auth/munge
AuthInfo=socket=$CLUSTER_DIR/run/munge.socket
StateSaveLocation=$CLUSTER_DIR/state
SlurmdSpoolDir=$CLUSTER_DIR/spool/%n
SlurmctldPidFile=$CLUSTER_DIR/run/slurmctld.pid
SlurmdPidFile=$CLUSTER_DIR/run/slurmd-%n.pid
SlurmctldLogFile=$CLUSTER_DIR/log/slurmctld.log
SlurmdLogFile=$CLUSTER_DIR/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
PrivateData=cloud
GresTypes=gpu,shard
DefMemPerCPU=10
MinJobAge=600
KillWait=2
SlurmctldTimeout=30
SlurmdTimeout=30
TreeWidth=65533
SchedulerParameters=bf_interval=2,sched_interval=5,batch_sched_delay=1
SuspendTime=INFINITE
SuspendTimeout=10
ResumeTimeout=${CLUSTER_RESUME_TIMEOUT:-40}
ResumeRate=0
SuspendRate=0
NodeName=n[1-2] NodeAddr=127.0.0.1 Port=[$((CLUSTER_PORT + 1))-$((CLUSTER_PORT + 2))] CPUs=16 RealMemory=4000 Gres=gpu:v100:4,shard:16
NodeName=t1 NodeAddr=127.0.0.1 Port=$((CLUSTER_PORT + 3)) CPUs=8 RealMemory=4000 Gres=gpu:turing:2,shard:8
NodeName=x1 NodeAddr=127.0.0.1 Port=$((CLUSTER_PORT + 4)) CPUs=8 RealMemory=4000
NodeName=c[1-4] NodeAddr=127.0.0.1 Port=[$((CLUSTER_PORT + 5))-$((CLUSTER_PORT + 8))] CPUs=16 RealMemory=4000 Gres=gpu:a100:4,shard:16 State=CLOUD
PartitionName=gpu Nodes=n[1-2],t1 Default=YES MaxTime=INFINITE DefaultTime=60
PartitionName=cpu Nodes=x1 MaxTime=INFINITE DefaultTime=60
PartitionName=cloud Nodes=c[1-4] MaxTime=INFINITE DefaultTime=60 SuspendTime=${CLUSTER_SUSPEND_TIME:-8}
EOF
    if [ "$plain" = yes ]; then
        printf 'SchedulerType=sched/backfill\nPluginDir=%s\nResumeProgram=/bin/true\nSuspendProgram=/bin/true\n' "$plugins" >>"$SLURM_CONF"
    else
        write_squall_files "$plugins"
    fi
    printf '%s\n' "${CLUSTER_SLURM_CONF:-}" >>"$SLURM_CONF"
    write_gres_conf
    # From 23.11 on a container has no cgroup tree of its own to manage.
    case $(slurmctld -V) in *" 22."* | *"23.02"*) ;; *) echo CgroupPlugin=disabled >"$CLUSTER_DIR/etc/cgroup.conf" ;; esac
}

# GPUs are faked by device nodes that every machine has.
write_gres_conf() {
    local device
    {
        for device in null zero full random; do
            echo "NodeName=n[1-2] Name=gpu Type=v100 File=/dev/$device"
            echo "NodeName=c[1-4] Name=gpu Type=a100 File=/dev/$device"
        done
        for device in null zero; do echo "NodeName=t1 Name=gpu Type=turing File=/dev/$device"; done
        echo "NodeName=n[1-2],c[1-4] Name=shard Count=16"
        echo "NodeName=t1 Name=shard Count=8"
    } >"$CLUSTER_DIR/etc/gres.conf"
}

write_squall_files() {
    local plugins=$1
    cat >>"$SLURM_CONF" <<EOF
PluginDir=$SQUALL_BUILD/.libs:$plugins
SchedulerType=sched/squall
JobSubmitPlugins=squall
PlugStackConfig=$CLUSTER_DIR/etc/plugstack.conf
ResumeProgram=$SQUALL_BUILD/squall-resume
SuspendProgram=$SQUALL_BUILD/squall-suspend
ResumeFailProgram=$SQUALL_BUILD/squall-resume-fail
EOF
    echo "required $SQUALL_BUILD/.libs/spank_squall.so" >"$CLUSTER_DIR/etc/plugstack.conf"
    cat >"$CLUSTER_DIR/etc/squall.conf" <<EOF
Currency=EUR
StateDir=$CLUSTER_DIR/squall
LogDir=$CLUSTER_DIR/squall-log
ProgramDir=$SQUALL_BUILD
LogLevel=debug
PlanTime=300ms
PollInterval=200ms
Interval=5
ParkTime=60
DeadManTime=${CLUSTER_DEAD_MAN_TIME:-60}
NodeClass=v100 Nodes=n[1-2] GpuType=v100 IdleWatts=350 BusyWatts=530,700,870,1040 Tariff=${CLUSTER_TARIFF:-0.17168} PUE=1.33
NodeClass=turing Nodes=t1 GpuType=turing IdleWatts=350 BusyWatts=400,470 Tariff=${CLUSTER_TARIFF:-0.17168} PUE=1.33
NodeClass=a100 Nodes=c[1-4] GpuType=a100 Rented=yes Price=${CLUSTER_PRICE:-12.24} BillingStep=1 BillingMin=${CLUSTER_BILLING_MIN:-10} BootTime=${CLUSTER_BOOT_TIME:-8} ReleaseTime=${CLUSTER_SUSPEND_TIME:-8} MaxNodes=4 Driver=local Driver.BootDelay=${CLUSTER_BOOT_DELAY:-2}
Partition=gpu Manage=due BurstTo=cloud LateCost=20
${CLUSTER_SQUALL_CONF:-}
EOF
}
