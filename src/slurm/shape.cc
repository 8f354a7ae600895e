// SPDX-License-Identifier: GPL-3.0-or-later
// The shape of a job's request: see shape.h.
#include "src/slurm/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/core/json.h"
#include "src/slurm/gres.h"

namespace squall::slurm {
namespace {

bool is_gpu(const Gres& gres) { return gres.name == "gpu" || gres.name == "shard"; }

// One GPU count of a TRES text; notes the type, and whether there is more than one such entry.
int take_gpus(const std::string& text, AskedShape& asked) {
    int total = 0, entries = 0;
    for (const Gres& gres : parse_gres(text)) {
        if (gres.name == "shard") asked.shards += gres.count;
        if (is_gpu(gres) && !gres.type.empty()) asked.gpu_type = gres.type;
        if (gres.name != "gpu") continue;
        total += gres.count;
        entries++;
    }
    if (entries > 1) asked.rigid = true;
    return total;
}

// Everything of a TRES text that is neither GPU nor shard, as it stood.
std::string other_gres(const std::string& text, const std::string& prefix) {
    std::string kept;
    for (const Gres& gres : parse_gres(text))
        if (!is_gpu(gres)) kept += (kept.empty() ? "" : ",") + format_gres(prefix, gres.name, gres.type, gres.count);
    return kept;
}

void read_memory(const RawJob& job, bool memory_is_consumable, AskedShape& asked) {
    for (const Gres& gres : parse_gres(job.mem_per_tres))
        if (gres.name == "gpu") asked.mem_mb_per_gpu = gres.count;
    if (asked.mem_mb_per_gpu > 0) return;
    asked.mem_mb_per_cpu = job.mem_mb_per_cpu;
    asked.mem_mb_per_node = job.mem_mb_per_node;
    asked.whole_node_memory = memory_is_consumable && job.mem_mb_per_cpu == 0 && job.mem_mb_per_node == 0;
    if (!memory_is_consumable) asked.mem_mb_per_cpu = asked.mem_mb_per_node = 0;
}

struct TextField {
    const char* key;
    std::string JobShape::*member;
};
constexpr TextField kTextFields[] = {
    {"partition", &JobShape::partition},         {"req_nodes", &JobShape::req_nodes},
    {"tres_per_job", &JobShape::tres_per_job},   {"tres_per_node", &JobShape::tres_per_node},
    {"tres_per_task", &JobShape::tres_per_task}, {"tres_per_socket", &JobShape::tres_per_socket}};
struct NumberField {
    const char* key;
    int JobShape::*member;
};
constexpr NumberField kNumberFields[] = {
    {"min_nodes", &JobShape::min_nodes}, {"max_nodes", &JobShape::max_nodes},
    {"tasks", &JobShape::tasks},         {"tasks_per_node", &JobShape::tasks_per_node},
    {"cpus", &JobShape::cpus},           {"cpus_per_node", &JobShape::cpus_per_node}};

}  // namespace

AskedShape read_asked(const RawJob& job, const JobShape& original, bool memory_is_consumable) {
    AskedShape asked;
    asked.nodes = original.min_nodes;
    asked.max_nodes = original.max_nodes;
    asked.gpus = take_gpus(original.tres_per_job, asked);
    asked.gpus_per_node = take_gpus(original.tres_per_node, asked);
    asked.gpus_per_task = take_gpus(original.tres_per_task, asked);
    asked.tasks = original.tasks;
    asked.tasks_per_node = original.tasks_per_node;
    asked.cpus_per_task = job.cpus_per_task;
    asked.cpus = original.cpus;
    asked.cpus_per_node = original.cpus_per_node;
    for (const Gres& gres : parse_gres(job.cpus_per_tres))
        if (gres.name == "gpu") asked.cpus_per_gpu = gres.count;
    read_memory(job, memory_is_consumable, asked);
    asked.exclusive = job.exclusive;
    // GPUs a socket depend on sockets Squall does not plan; the others tie tasks or cores to something it does not see.
    bool per_socket = !original.tres_per_socket.empty();
    if (per_socket) asked.gpus_per_node = std::max(asked.gpus_per_node, take_gpus(original.tres_per_socket, asked));
    asked.rigid = asked.rigid || per_socket || job.contiguous || job.switches || job.core_spec || job.tasks_per_tres ||
                  job.tasks_per_socket || !original.req_nodes.empty();
    return asked;
}

JobShape mold(const JobShape& original, const AskedShape& asked, const Target& target, const std::string& gres_prefix) {
    const Config& config = *target.config;
    JobShape shape = original;
    shape.partition = target.partition;
    if (target.pin_nodes) shape.req_nodes = fmt::format("{}", fmt::join(target.nodes, ","));
    // A shape that must stay is one that asks for GPUs; --gpu-share and --gpu-range without --gres still need theirs.
    bool asks_gpus = asked.total_gpus() > 0 || asked.shards > 0;
    if (asks_gpus && (asked.rigid || asked.exclusive)) return shape;
    shape.min_nodes = shape.max_nodes = config.nodes;
    bool small = config.shards > 0;
    bool as_asked = small ? asked.shards == config.shards
                          : asked.total_gpus() == config.nodes * config.gpus && asked.gpus_per_task == 0 &&
                                (config.nodes == 1 || asked.gpus_per_node == config.gpus);
    if (!as_asked) {
        shape.tres_per_job = shape.tres_per_task = "";
        std::string others = other_gres(original.tres_per_node, gres_prefix);
        std::string gres = small ? format_gres(gres_prefix, "shard", asked.gpu_type, config.shards)
                                 : format_gres(gres_prefix, "gpu", asked.gpu_type, config.gpus);
        shape.tres_per_node = others.empty() ? gres : others + "," + gres;
    }
    bool same_size = small || (asked.total_gpus() == config.nodes * config.gpus && asked.nodes == config.nodes);
    if (same_size) return shape;
    Sizing sizing = size_for(asked, config.nodes, config.gpus, *target.node_class);
    shape.tasks = sizing.tasks;
    shape.tasks_per_node = sizing.tasks_per_node;
    shape.cpus = sizing.cpus;
    int tasks_a_node = sizing.tasks_per_node > 0 ? sizing.tasks_per_node : 1;
    shape.cpus_per_node = std::max(1, tasks_a_node * asked.cpus_per_task);
    return shape;
}

std::string original_to_json(const Original& original) {
    const JobShape& shape = original.shape;
    Json object(json_object());
    for (const TextField& field : kTextFields)
        json_object_set_new(object.get(), field.key, json_string((shape.*field.member).c_str()));
    for (const NumberField& field : kNumberFields)
        json_object_set_new(object.get(), field.key, ::json_integer(shape.*field.member));
    if (original.begin_at) json_object_set_new(object.get(), "begin", ::json_integer(*original.begin_at));
    return json_format(object.get(), JSON_COMPACT | JSON_SORT_KEYS);
}

std::optional<Original> original_from_json(const std::string& text) {
    Json object(json_loads(text.c_str(), 0, nullptr));
    if (!json_is_object(object.get())) return std::nullopt;
    Original original;
    JobShape& shape = original.shape;
    for (const TextField& field : kTextFields) {
        if (!json_is_string(json_object_get(object.get(), field.key))) return std::nullopt;
        shape.*field.member = json_text(object.get(), field.key);
    }
    for (const NumberField& field : kNumberFields) {
        if (!json_is_integer(json_object_get(object.get(), field.key))) return std::nullopt;
        shape.*field.member = static_cast<int>(json_integer(object.get(), field.key));
    }
    if (Seconds begin = json_integer(object.get(), "begin"); begin > 0) original.begin_at = begin;
    return original;
}

}  // namespace squall::slurm
