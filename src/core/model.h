// SPDX-License-Identifier: GPL-3.0-or-later
// The scheduling problem at one moment, as plain data: what doc/model.md calls "given". The Slurm
// reader, the simulator and the JSON loader make a Snapshot; the planner, the checker and the tests
// read it. Nothing here does I/O, knows Slurm or reads a clock. Indices (class_id, node, job) are
// positions in the Snapshot's vectors.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "src/core/units.h"

namespace squall {

struct TariffStep {
    Seconds from_s;          // second of the local day (0 … 86399) at which this price begins
    Micro price_micro_kwh;   // per kWh
};

// Identical nodes: one GPU type, one size, one price. Local (energy) or rented (price).
struct NodeClass {
    std::string name;
    std::string gpu_type;        // "v100"; empty where GPUs are untyped
    int gpus = 0;                // per node
    int shards_per_gpu = 0;      // 0: GPUs of this class cannot be shared
    int cpus = 0;                // per node; 0 = not limiting
    std::int64_t mem_mb = 0;     // per node; 0 = not limiting
    bool rented = false;

    // Rented classes.
    Micro price_micro_h = 0;     // per node and hour
    Seconds billing_step_s = 1;  // rent is rounded up to this step …
    Seconds billing_min_s = 0;   // … and never below this
    Seconds boot_s = 0;          // from resume to usable (a high quantile)
    Seconds release_s = 0;       // idle time paid after the last job, until Slurm suspends the node
    int interruptions_ppm_h = 0; // spot: expected interruptions per node and million hours; 0 = on demand
    int max_nodes = 0;           // at most this many at once; 0 = every node listed

    // Local classes. busy_watts[n-1] is the node's draw with n busy GPUs, idle_watts with none.
    int idle_watts = 0;
    std::vector<int> busy_watts;
    std::vector<TariffStep> tariff;  // ascending from_s; empty = energy is free
    int pue_milli = 1000;            // power usage effectiveness × 1000
    bool power_down = false;         // idle power is a cost only where the node may be powered down
};

// A cap over several classes: a cloud quota, or slots that may hold any one of several machine types.
struct CapacityGroup {
    std::string name;
    std::vector<int> class_ids;
    int max_nodes = 0;
};

enum class NodeState { up, powered_down, booting, unavailable };

struct Node {
    std::string name;
    int class_id = 0;
    NodeState state = NodeState::up;
    Seconds ready_at = 0;            // booting: when it becomes usable; unavailable: kForever or the end of it
    std::optional<Seconds> leased_at;  // rented and running: when the lease began
};

// GPUs taken on one node over a time: a running job's, an unmanaged job's until its limit, a
// reservation's. Either `gpus` whole GPUs, or `shards` shards of the one GPU numbered gpu_index.
struct Hold {
    int node = 0;
    int gpus = 0;
    int shards = 0;
    int gpu_index = -1;              // shards only; -1 = not known, any GPU that already holds shards
    int cpus = 0;
    std::int64_t mem_mb = 0;
    Seconds start = 0;
    Seconds end = 0;                 // exclusive
    int job = -1;                    // index into Snapshot::jobs, -1 = not Squall's
};

// One way to run a job. Large: `nodes` nodes with `gpus` whole GPUs each. Small: `shards` shards of
// one GPU on one node (gpus == 0, nodes == 1).
struct Config {
    int class_id = 0;
    int nodes = 1;
    int gpus = 0;                    // per node
    int shards = 0;
    int cpus = 0;                    // per node
    std::int64_t mem_mb = 0;         // per node
    Seconds run_s = 0;               // full run, mean; hedge() raises it to the quantile to plan with
    Seconds run_high_s = 0;          // full run, 90 % quantile (>= run_s)
};

// What a configuration takes, in GPUs of its class, a share of one counted as such.
inline double gpus_of(const NodeClass& node_class, const Config& config) {
    if (config.shards > 0) return static_cast<double>(config.shards) / std::max(1, node_class.shards_per_gpu);
    return static_cast<double>(config.gpus) * config.nodes;
}

enum class Burst { never, automatic, only };

struct Running {
    int config = 0;                  // index into Job::configs
    std::vector<int> nodes;
    Seconds start = 0;
    Seconds expected_end = 0;
};

struct Job {
    std::uint32_t id = 0;            // Slurm's job id
    std::string name, user, account, partition;
    Seconds release = 0;             // earliest start (submit time, --begin, dependency)
    std::optional<Seconds> due;      // no due date: no tardiness, planned as cheap as possible
    bool due_is_hard = false;
    Micro late_micro_h = 0;          // tardiness weight: money per hour late
    Seconds time_limit_s = 0;        // Slurm kills the job after this; 0 = none
    int remaining_ppm = 1000000;     // share of the work still to do
    Seconds stage_in_s = 0;
    bool checkpointable = false;
    Seconds restart_s = 0;           // work lost and start-up time when moved
    std::optional<Micro> max_cost_micro;
    Burst burst = Burst::automatic;
    std::vector<Config> configs;     // never empty for a job that can run here
    std::optional<Running> running;
    std::optional<int> pinned_config;        // released to Slurm with this configuration, not started yet
    std::vector<int> pinned_nodes;
};

struct Budget {
    Micro left_micro = 0;            // rent that may still be committed …
    Seconds until = kForever;        // … before this time (end of the day or month)
};

struct Snapshot {
    Seconds now = 0;                 // epoch seconds
    Seconds utc_offset_s = 0;        // local time of day, for tariffs
    std::vector<NodeClass> classes;
    std::vector<CapacityGroup> groups;
    std::vector<Node> nodes;
    std::vector<Hold> holds;         // running Squall jobs appear here too (Hold::job >= 0)
    std::vector<Job> jobs;           // Squall's, running and pending
    std::vector<Budget> budgets;     // all must hold
    Micro hard_due_penalty_micro = INT64_C(1000000) * 1000000;
};

}  // namespace squall
