// SPDX-License-Identifier: GPL-3.0-or-later
// The seam to slurmctld: what Squall reads of it and what it may change, as plain data. LibslurmClient is the real one;
// unit tests put a FakeSlurm in its place. Slurm's NO_VAL and INFINITE become std::optional here and appear nowhere
// above. One Client belongs to one thread; a call may block for Slurm's message timeout.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/core/units.h"

namespace squall::slurm {

enum class JobState {
    pending,
    running,
    suspended,
    complete,
    cancelled,
    failed,
    timeout,
    node_fail,
    preempted,
    boot_fail,
    deadline,
    out_of_memory,
    other
};
const char* to_string(JobState state);  // "COMPLETED" … as squeue and sacct print it
bool is_finished(JobState state);

// What one node gives to a running job.
struct Allocation {
    std::string node;
    std::string gres;  // "gpu:v100:2(IDX:0-1),shard:4(IDX:2)"
    bool operator==(const Allocation&) const = default;
};

// The shape of a request: what an update can change and what must be put back when Squall gives a job up.
struct JobShape {
    std::string partition, req_nodes;
    std::string tres_per_job, tres_per_node, tres_per_task,
        tres_per_socket;                // "gres:gpu:v100:2" ("gres/gpu:…" from 23.11)
    int min_nodes = 1, max_nodes = 0;   // max 0 = not said
    int tasks = 1, tasks_per_node = 0;  // 0 = not said
    int cpus = 1, cpus_per_node = 1;    // in total; at least on each node
    bool operator==(const JobShape&) const = default;
};

struct RawJob {
    std::uint32_t id = 0, array_job_id = 0, het_job_id = 0;
    std::string array_tasks;  // not empty: a record that stands for several tasks not yet split off
    std::string name, user, account, comment, admin_comment;
    JobState state = JobState::pending;
    bool completing = false, configuring = false;
    bool held = false;                    // priority 0
    bool launch_failed_held = false;      // held by Slurm itself after a failed launch
    bool dependent = false;               // waits for a dependency
    std::string dependency, reason;       // reason: why it is pending, in Slurm's words
    Seconds submit_at = 0, begin_at = 0;  // begin_at: 0 = at once
    Seconds start_at = 0, end_at = 0;  // running: real start, end by the time limit; finished: real ones; else expected
    std::optional<Seconds> time_limit_s, deadline_at;
    JobShape shape;
    std::string cpus_per_tres, mem_per_tres;
    int cpus_per_task = 1;
    std::int64_t mem_mb_per_node = 0, mem_mb_per_cpu = 0;  // one of them, or neither
    bool exclusive = false, contiguous = false;
    bool switches = false, core_spec = false, tasks_per_tres = false, tasks_per_socket = false;  // not understood
    std::string features, exc_nodes, reservation, licenses;
    int restarts = 0;
    std::vector<Allocation> allocations;  // running and completing
    std::string tres_alloc;               // "cpu=4,mem=800M,node=2,…"
    std::string gres_total;               // "gpu:v100:4", over all nodes; kept after the end
    bool operator==(const RawJob&) const = default;
};

struct RawNode {
    std::string name, features, gres, reason;
    int cpus = 0, threads_per_core = 1;
    std::int64_t mem_mb = 0;
    bool down = false, drained = false, failing = false, maintenance = false, not_responding = false;
    bool cloud = false, powered_down = false, powering_up = false, powering_down = false, rebooting = false;
    Seconds boot_at = 0;
    bool operator==(const RawNode&) const = default;
};

struct RawPartition {
    std::string name;
    std::vector<std::string> nodes;
    bool is_default = false;
    bool starts_jobs = true;  // state UP or DRAIN
    std::optional<Seconds> max_time_s;
    bool operator==(const RawPartition&) const = default;
};

struct RawReservation {
    std::string name, users, accounts;
    std::vector<std::string> nodes;
    Seconds start_at = 0, end_at = 0;
    bool maintenance = false;
    bool operator==(const RawReservation&) const = default;
};

struct Cluster {
    std::vector<RawJob> jobs;
    std::vector<RawNode> nodes;
    std::vector<RawPartition> partitions;
    std::vector<RawReservation> reservations;
    bool memory_is_consumable = false;  // SelectTypeParameters has …_Memory
    const RawNode* node(const std::string& name) const;
    const RawPartition* partition(const std::string& name) const;
};

// Slurm's hostlist, expanded; empty, "(null)" and what is no hostlist = none.
std::vector<std::string> host_names(const std::string& hostlist);

// One update of one pending job. Fields left out stay as they are.
struct JobUpdate {
    std::uint32_t id = 0;
    JobShape has;                   // the shape it has now …
    std::optional<JobShape> shape;  // … and the one it gets: the fields that differ are changed
    std::optional<Seconds> begin_at;
    std::optional<std::string> admin_comment;
    bool unhold = false;
};

// gone: the job is no longer pending (it started, ended or was cancelled between reading and writing).
enum class Failure { none, unreachable, refused, gone };

struct Reply {
    Failure failure = Failure::none;
    std::string message;  // Slurm's words; empty when all is well
    explicit operator bool() const { return failure == Failure::none; }
};

class Client {
  public:
    virtual ~Client() = default;
    // Brings `cluster` up to date; asks with the last update times, so an unchanged cluster costs next to nothing.
    // On failure `cluster` stays as it was. all_of_jobs: load the jobs anyhow; Slurm does not count a new pending
    // reason as a change.
    virtual Reply refresh(Cluster& cluster, bool all_of_jobs = false) = 0;
    virtual Reply update_job(const JobUpdate& update) = 0;
    // The word before a GRES in a TRES request: "gres:" up to Slurm 23.02, "gres/" from 23.11 on.
    virtual std::string gres_prefix() const = 0;
};

}  // namespace squall::slurm
