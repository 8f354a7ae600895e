// SPDX-License-Identifier: GPL-3.0-or-later
// libslurm's records → the plain data of client.h. Here, and only here, NO_VAL and INFINITE are looked at.
#include "src/slurm/convert.h"

#include <fmt/format.h>
#include <pwd.h>
#include <slurm/slurm_errno.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

namespace squall::slurm {
namespace {

std::string text(const char* s) { return s ? s : ""; }

int count(std::uint32_t value) { return value >= NO_VAL ? 0 : static_cast<int>(value); }
int count(std::uint16_t value) { return value >= NO_VAL16 ? 0 : static_cast<int>(value); }
static_assert(INFINITE == NO_VAL + 1 && INFINITE16 == NO_VAL16 + 1, "both special values must be the two largest");

std::optional<Seconds> minutes(std::uint32_t value) {
    if (value >= NO_VAL) return std::nullopt;
    return static_cast<Seconds>(value) * 60;
}

JobState convert_state(std::uint32_t state) {
    switch (state & JOB_STATE_BASE) {
        case JOB_PENDING:
            return JobState::pending;
        case JOB_RUNNING:
            return JobState::running;
        case JOB_SUSPENDED:
            return JobState::suspended;
        case JOB_COMPLETE:
            return JobState::complete;
        case JOB_CANCELLED:
            return JobState::cancelled;
        case JOB_FAILED:
            return JobState::failed;
        case JOB_TIMEOUT:
            return JobState::timeout;
        case JOB_NODE_FAIL:
            return JobState::node_fail;
        case JOB_PREEMPTED:
            return JobState::preempted;
        case JOB_BOOT_FAIL:
            return JobState::boot_fail;
        case JOB_DEADLINE:
            return JobState::deadline;
        case JOB_OOM:
            return JobState::out_of_memory;
        default:
            return JobState::other;
    }
}

// libslurm exports no text for pending reasons; these are the ones a user meets.
std::string reason_text(unsigned reason) {
    switch (reason) {
        case WAIT_NO_REASON:
            return "";
        case WAIT_PRIORITY:
            return "Priority";
        case WAIT_DEPENDENCY:
            return "Dependency";
        case WAIT_RESOURCES:
            return "Resources";
        case WAIT_PART_NODE_LIMIT:
            return "PartitionNodeLimit";
        case WAIT_PART_TIME_LIMIT:
            return "PartitionTimeLimit";
        case WAIT_PART_DOWN:
            return "PartitionDown";
        case WAIT_PART_INACTIVE:
            return "PartitionInactive";
        case WAIT_HELD:
            return "JobHeldAdmin";
        case WAIT_HELD_USER:
            return "JobHeldUser";
        case WAIT_TIME:
            return "BeginTime";
        case WAIT_LICENSES:
            return "Licenses";
        case WAIT_RESERVATION:
            return "Reservation";
        case WAIT_NODE_NOT_AVAIL:
            return "ReqNodeNotAvail";
        case FAIL_BAD_CONSTRAINTS:
            return "BadConstraints";
        case WAIT_ASSOC_JOB_LIMIT:
        case WAIT_ASSOC_RESOURCE_LIMIT:
        case WAIT_ASSOC_TIME_LIMIT:
            return "a limit of its account";
        case WAIT_QOS_THRES:
        case WAIT_QOS_JOB_LIMIT:
        case WAIT_QOS_RESOURCE_LIMIT:
        case WAIT_QOS_TIME_LIMIT:
            return "a limit of its QOS";
        default:
            return "Slurm's reason number " + std::to_string(reason);
    }
}

std::string user_name(const slurm_job_info_t& job) {
    if (job.user_name && *job.user_name) return job.user_name;
    passwd entry{}, *found = nullptr;
    char buffer[4096];
    if (getpwuid_r(job.user_id, &entry, buffer, sizeof buffer, &found) == 0 && found) return entry.pw_name;
    return std::to_string(job.user_id);
}

void convert_shape(const slurm_job_info_t& job, JobShape& shape) {
    shape.partition = text(job.partition);
    shape.req_nodes = text(job.req_nodes);
    shape.tres_per_job = text(job.tres_per_job);
    shape.tres_per_node = text(job.tres_per_node);
    shape.tres_per_task = text(job.tres_per_task);
    shape.tres_per_socket = text(job.tres_per_socket);
    shape.min_nodes = std::max(1, count(job.num_nodes));
    shape.max_nodes = count(job.max_nodes);
    shape.tasks = std::max(1, count(job.num_tasks));
    shape.tasks_per_node = count(job.ntasks_per_node);
    shape.cpus = std::max(1, count(job.num_cpus));
    shape.cpus_per_node = count(job.pn_min_cpus);
}

void convert_allocations(const slurm_job_info_t& job, RawJob& raw) {
    std::vector<std::string> nodes = host_names(text(job.nodes));
    for (std::size_t i = 0; i < nodes.size(); i++) {
        const char* gres = i < job.gres_detail_cnt && job.gres_detail_str ? job.gres_detail_str[i] : nullptr;
        raw.allocations.push_back({nodes[i], text(gres)});
    }
}

void convert_memory(std::uint64_t pn_min_memory, RawJob& raw) {
    if (pn_min_memory == NO_VAL64) return;
    if (pn_min_memory & MEM_PER_CPU)
        raw.mem_mb_per_cpu = static_cast<std::int64_t>(pn_min_memory & ~MEM_PER_CPU);
    else
        raw.mem_mb_per_node = static_cast<std::int64_t>(pn_min_memory);
}

}  // namespace

RawJob convert_job(const slurm_job_info_t& job) {
    RawJob raw;
    raw.id = job.job_id;
    raw.array_job_id = job.array_job_id;
    raw.het_job_id = job.het_job_id;
    raw.array_tasks = text(job.array_task_str);
    raw.name = text(job.name);
    raw.user = user_name(job);
    raw.account = text(job.account);
    raw.comment = text(job.comment);
    raw.admin_comment = text(job.admin_comment);
    raw.state = convert_state(job.job_state);
    raw.completing = job.job_state & JOB_COMPLETING;
    raw.configuring = job.job_state & JOB_CONFIGURING;
    raw.held = raw.state == JobState::pending && job.priority == 0;
    raw.reason = job.state_desc && *job.state_desc ? job.state_desc : reason_text(job.state_reason);
    raw.launch_failed_held = raw.held && raw.reason.find("requeued held") != std::string::npos;
    raw.dependency = text(job.dependency);
    // Slurm takes fulfilled conditions out of the text; the pending reason is only as new as its last scheduling pass.
    raw.dependent = !raw.dependency.empty();
    raw.submit_at = job.submit_time;
    raw.begin_at = job.eligible_time;
    raw.start_at = job.start_time;
    raw.end_at = job.end_time;
    raw.time_limit_s = minutes(job.time_limit);
    if (job.deadline > 0) raw.deadline_at = job.deadline;
    convert_shape(job, raw.shape);
    raw.cpus_per_tres = text(job.cpus_per_tres);
    raw.mem_per_tres = text(job.mem_per_tres);
    raw.cpus_per_task = std::max(1, count(job.cpus_per_task));
    convert_memory(job.pn_min_memory, raw);
    raw.exclusive = job.shared == JOB_SHARED_NONE;
    raw.contiguous = job.contiguous;
    raw.switches = count(job.req_switch) > 0;
    raw.core_spec = job.core_spec != NO_VAL16 && job.core_spec != 0;
    raw.tasks_per_tres = count(job.ntasks_per_tres) > 0;
    raw.tasks_per_socket = count(job.ntasks_per_socket) > 0;
    raw.features = text(job.features);
    raw.exc_nodes = text(job.exc_nodes);
    raw.reservation = text(job.resv_name);
    raw.licenses = text(job.licenses);
    raw.restarts = job.restart_cnt;
    convert_allocations(job, raw);
    raw.tres_alloc = text(job.tres_alloc_str);
    raw.gres_total = text(job.gres_total);
    return raw;
}

RawNode convert_node(const node_info_t& node) {
    RawNode raw;
    std::uint32_t base = node.node_state & NODE_STATE_BASE;
    auto has = [&](std::uint32_t flag) { return (node.node_state & flag) != 0; };
    raw.name = text(node.name);
    raw.features = node.features_act && *node.features_act ? node.features_act : text(node.features);
    raw.gres = text(node.gres);
    raw.reason = text(node.reason);
    raw.cpus = node.cpus_efctv > 0 ? node.cpus_efctv : node.cpus;
    raw.threads_per_core = std::max<int>(1, node.threads);
    raw.mem_mb = static_cast<std::int64_t>(node.real_memory) - static_cast<std::int64_t>(node.mem_spec_limit);
    raw.down = base == NODE_STATE_DOWN || base == NODE_STATE_UNKNOWN || base == NODE_STATE_FUTURE ||
               base == NODE_STATE_ERROR || has(NODE_STATE_INVALID_REG);
    raw.drained = has(NODE_STATE_DRAIN);
    raw.failing = has(NODE_STATE_FAIL);
    raw.maintenance = has(NODE_STATE_MAINT);
    raw.not_responding = has(NODE_STATE_NO_RESPOND);
    raw.cloud = has(NODE_STATE_CLOUD);
    raw.powered_down = has(NODE_STATE_POWERED_DOWN);
    raw.powering_up = has(NODE_STATE_POWERING_UP) || has(NODE_STATE_POWER_UP);
    raw.powering_down = has(NODE_STATE_POWERING_DOWN) || has(NODE_STATE_POWER_DOWN) || has(NODE_STATE_POWER_DRAIN);
    raw.rebooting = has(NODE_STATE_REBOOT_ISSUED);
    raw.boot_at = node.boot_time;
    return raw;
}

RawPartition convert_partition(const partition_info_t& partition) {
    RawPartition raw;
    raw.name = text(partition.name);
    raw.nodes = host_names(text(partition.nodes));
    raw.is_default = partition.flags & PART_FLAG_DEFAULT;
    raw.starts_jobs = partition.state_up & PARTITION_SCHED;
    raw.max_time_s = minutes(partition.max_time);
    return raw;
}

RawReservation convert_reservation(const reserve_info_t& reservation) {
    RawReservation raw;
    raw.name = text(reservation.name);
    raw.users = text(reservation.users);
    raw.accounts = text(reservation.accounts);
    raw.nodes = host_names(text(reservation.node_list));
    raw.start_at = reservation.start_time;
    raw.end_at = reservation.end_time;
    raw.maintenance = reservation.flags & RESERVE_FLAG_MAINT;
    return raw;
}

// The connection errors are the ones a retry can mend.
Reply failure(const char* what) {
    int code = errno;
    bool unreachable = code == SLURM_COMMUNICATIONS_CONNECTION_ERROR || code == SLURM_COMMUNICATIONS_SEND_ERROR ||
                       code == SLURM_COMMUNICATIONS_RECEIVE_ERROR ||
                       code == SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR ||
                       code == SLURMCTLD_COMMUNICATIONS_SEND_ERROR || code == SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR ||
                       code == SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT || code == SLURM_PROTOCOL_SOCKET_ZERO_BYTES_SENT ||
                       code == ESLURM_IN_STANDBY_MODE || code == ECONNREFUSED || code == ETIMEDOUT ||
                       code == ESLURM_PROTOCOL_INCOMPLETE_PACKET || code == SLURM_PROTOCOL_AUTHENTICATION_ERROR;
    bool gone = code == ESLURM_INVALID_JOB_ID || code == ESLURM_ALREADY_DONE || code == ESLURM_JOB_FINISHED ||
                code == ESLURM_JOB_NOT_PENDING;
    Failure kind = unreachable ? Failure::unreachable : gone ? Failure::gone : Failure::refused;
    return {kind, fmt::format("{}: {}", what, slurm_strerror(code))};
}

}  // namespace squall::slurm
