// SPDX-License-Identifier: GPL-3.0-or-later
// The real Client: see libslurm_client.h.
#include "src/slurm/libslurm_client.h"

#include <fmt/format.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <cerrno>
#include <memory>

#include "src/slurm/convert.h"

namespace squall::slurm {
namespace {

// SelectTypeParameters' memory bit: CR_MEMORY up to Slurm 25.11, SELECT_MEMORY after; the value never changed.
constexpr std::uint16_t kSelectMemory = 0x10;

template <typename Message>
using Owned = std::unique_ptr<Message, void (*)(Message*)>;

// One load call: nullptr with ok = nothing new.
template <typename Message, typename Load, typename Free>
Owned<Message> load(const char* what, Load call, Free release, Reply* reply) {
    Message* message = nullptr;
    errno = 0;
    if (call(&message) != SLURM_SUCCESS) {
        message = nullptr;
        if (errno != SLURM_NO_CHANGE_IN_DATA) *reply = failure(what);
    }
    return Owned<Message>(message, release);
}

// libslurm takes char* but only reads it.
char* in(const std::string& text) { return const_cast<char*>(text.c_str()); }

// Only what differs is sent: an empty TRES text is a change of its own. Slurm keeps the GRES of a request in one list;
// GPUs a task or a socket live on there as GPUs a job unless the whole family is sent together.
void fill_shape(const JobShape& from, const JobShape& to, job_desc_msg_t& message) {
    bool family = from.tres_per_task != to.tres_per_task || from.tres_per_socket != to.tres_per_socket;
    if (from.partition != to.partition) message.partition = in(to.partition);
    if (from.req_nodes != to.req_nodes) message.req_nodes = in(to.req_nodes);
    if (family || from.tres_per_job != to.tres_per_job) message.tres_per_job = in(to.tres_per_job);
    if (family || from.tres_per_node != to.tres_per_node) message.tres_per_node = in(to.tres_per_node);
    if (from.tres_per_task != to.tres_per_task) message.tres_per_task = in(to.tres_per_task);
    if (from.tres_per_socket != to.tres_per_socket) message.tres_per_socket = in(to.tres_per_socket);
    if (from.min_nodes != to.min_nodes || from.max_nodes != to.max_nodes) {
        message.min_nodes = static_cast<std::uint32_t>(to.min_nodes);
        message.max_nodes = static_cast<std::uint32_t>(to.max_nodes);
    }
    if (from.tasks != to.tasks) message.num_tasks = static_cast<std::uint32_t>(to.tasks);
    if (from.tasks_per_node != to.tasks_per_node)
        message.ntasks_per_node = static_cast<std::uint16_t>(to.tasks_per_node);
    if (from.cpus != to.cpus) message.min_cpus = static_cast<std::uint32_t>(to.cpus);
    if (from.cpus_per_node != to.cpus_per_node) message.pn_min_cpus = static_cast<std::uint16_t>(to.cpus_per_node);
}

}  // namespace

LibslurmClient::LibslurmClient() { slurm_init(nullptr); }
LibslurmClient::~LibslurmClient() { slurm_fini(); }

std::string LibslurmClient::gres_prefix() const {
    return SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0) ? "gres/" : "gres:";
}

Reply LibslurmClient::refresh(Cluster& cluster, bool all_of_jobs) {
    Reply reply;
    if (all_of_jobs) jobs_at_ = 0;
    auto conf = load<slurm_conf_t>(
        "cannot load Slurm's configuration", [&](slurm_conf_t** m) { return slurm_load_ctl_conf(conf_at_, m); },
        slurm_free_ctl_conf, &reply);
    if (!reply) return reply;
    auto jobs = load<job_info_msg_t>(
        "cannot load jobs", [&](job_info_msg_t** m) { return slurm_load_jobs(jobs_at_, m, SHOW_ALL | SHOW_DETAIL); },
        slurm_free_job_info_msg, &reply);
    if (!reply) return reply;
    auto nodes = load<node_info_msg_t>(
        "cannot load nodes", [&](node_info_msg_t** m) { return slurm_load_node(nodes_at_, m, SHOW_ALL | SHOW_DETAIL); },
        slurm_free_node_info_msg, &reply);
    if (!reply) return reply;
    auto partitions = load<partition_info_msg_t>(
        "cannot load partitions",
        [&](partition_info_msg_t** m) { return slurm_load_partitions(partitions_at_, m, SHOW_ALL); },
        slurm_free_partition_info_msg, &reply);
    if (!reply) return reply;
    auto reservations = load<reserve_info_msg_t>(
        "cannot load reservations",
        [&](reserve_info_msg_t** m) { return slurm_load_reservations(reservations_at_, m); },
        slurm_free_reservation_info_msg, &reply);
    if (!reply) return reply;

    // Everything arrived: only now the caller's picture changes.
    if (conf) {
        conf_at_ = conf->last_update;
        cluster.memory_is_consumable = conf->select_type_param & kSelectMemory;
    }
    if (jobs) {
        jobs_at_ = jobs->last_update;
        cluster.jobs.clear();
        for (std::uint32_t i = 0; i < jobs->record_count; i++) cluster.jobs.push_back(convert_job(jobs->job_array[i]));
    }
    if (nodes) {
        nodes_at_ = nodes->last_update;
        cluster.nodes.clear();
        // A record without a name is a node this caller may not see.
        for (std::uint32_t i = 0; i < nodes->record_count; i++)
            if (nodes->node_array[i].name) cluster.nodes.push_back(convert_node(nodes->node_array[i]));
    }
    if (partitions) {
        partitions_at_ = partitions->last_update;
        cluster.partitions.clear();
        for (std::uint32_t i = 0; i < partitions->record_count; i++)
            cluster.partitions.push_back(convert_partition(partitions->partition_array[i]));
    }
    if (reservations) {
        reservations_at_ = reservations->last_update;
        cluster.reservations.clear();
        for (std::uint32_t i = 0; i < reservations->record_count; i++)
            cluster.reservations.push_back(convert_reservation(reservations->reservation_array[i]));
    }
    return reply;
}

Reply LibslurmClient::update_job(const JobUpdate& update) {
    job_desc_msg_t message;
    slurm_init_job_desc_msg(&message);
    message.job_id = update.id;
    if (update.shape) fill_shape(update.has, *update.shape, message);
    if (update.begin_at) message.begin_time = *update.begin_at;
    if (update.admin_comment) message.admin_comment = in(*update.admin_comment);
    if (update.unhold) message.priority = INFINITE;
    errno = 0;
    if (slurm_update_job(&message) != SLURM_SUCCESS) return failure(fmt::format("job {}", update.id).c_str());
    return {};
}

}  // namespace squall::slurm
