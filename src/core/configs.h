// SPDX-License-Identifier: GPL-3.0-or-later
// From what a job asked (of Slurm and of Squall) and the node classes it may use to the configurations the planner
// chooses from: Job::configs. Pure. Called by the Slurm reader and by the simulator's importers.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "src/core/model.h"
#include "src/core/request.h"

namespace squall {

// What the job asked of Slurm, whichever options said it. Counts are 0 where nothing was said.
struct AskedShape {
    int nodes = 1;          // at least
    int max_nodes = 0;      // at most; 0 = not said
    int gpus = 0;           // in total (--gpus)
    int gpus_per_node = 0;  // --gres=gpu:N, --gpus-per-node
    int gpus_per_task = 0;
    int shards = 0;        // --gres=shard:N, of one GPU
    std::string gpu_type;  // "" = any; a type the user names is kept
    int tasks = 1;
    int tasks_per_node = 0;
    int cpus_per_task = 1;
    int cpus = 1;           // in total
    int cpus_per_node = 0;  // at least
    int cpus_per_gpu = 0;
    std::int64_t mem_mb_per_node = 0, mem_mb_per_cpu = 0, mem_mb_per_gpu = 0;  // at most one is set
    bool whole_node_memory = false;  // memory is consumable and nothing was said: Slurm gives all of it
    bool exclusive = false;          // whole nodes
    bool rigid = false;              // something asked is not understood: no other shape than this one

    int total_gpus() const;  // as asked; 0 for small jobs and for jobs without GPUs
};

// Tasks, CPUs and memory that keep the job consistent at another size: as many tasks a node, a GPU or in all as asked.
struct Sizing {
    int tasks = 1;
    int tasks_per_node = 0;  // 0 = leave it to Slurm
    int cpus = 1;            // in total
    int cpus_per_node = 1;
    std::int64_t mem_mb_per_node = 0;
};
Sizing size_for(const AskedShape& asked, int nodes, int gpus_per_node, const NodeClass& node_class);

// What is known about run times.
struct RuntimeModel {
    std::vector<RuntimeEntry> entries;  // --runtime, else the profile's; empty = only the time limit is known
    int scaling_pct = 90;               // speed-up kept per doubling of GPUs outside the entries
    Seconds time_limit_s = 0;           // 0 = none
};

// Full run time on `gpus` GPUs of this type: the entry; between two entries a power law through both; outside them
// the nearest one scaled; without entries the time limit, which is for `asked_gpus`. nullopt: not known (entries
// name other types only, or there is neither an entry nor a limit).
std::optional<Seconds> run_time(const RuntimeModel& model, const std::string& gpu_type, int gpus, int asked_gpus);

// A class the job may use and how many of its nodes.
struct ClassUse {
    int class_id = 0;
    int nodes = 0;
};

struct ConfigsResult {
    std::vector<Config> configs;  // as asked first, in the order of `usable`; no duplicates
    std::string why_none;         // set when configs is empty: one sentence for the user
};

// usable: the classes in order of preference (the job's own partition before BurstTo).
ConfigsResult make_configs(const Request& request, const AskedShape& asked, const std::vector<NodeClass>& classes,
                           const std::vector<ClassUse>& usable, const RuntimeModel& model);

// "2×4 v100" (nodes × GPUs a node, class) or "25% v100" (share of one GPU).
std::string describe_config(const NodeClass& node_class, const Config& config);

}  // namespace squall
