// SPDX-License-Identifier: GPL-3.0-or-later
// Configurations of a job: see configs.h. The only floating point is in the run-time law; it is rounded to seconds at
// once, so everything that decides is an integer.
#include "src/core/configs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace squall {
namespace {

int ceil_div(int a, int b) { return (a + b - 1) / b; }

Seconds power_law(Seconds run_s, int from_gpus, int to_gpus, double exponent) {
    double scaled = static_cast<double>(run_s) * std::pow(static_cast<double>(from_gpus) / to_gpus, exponent);
    return std::max<Seconds>(1, std::llround(scaled));
}

// The entries for this type, by GPU count; those without a type count for every type that has none of its own.
std::vector<RuntimeEntry> entries_for(const RuntimeModel& model, const std::string& gpu_type) {
    std::vector<RuntimeEntry> own, any;
    for (const RuntimeEntry& entry : model.entries) {
        if (entry.gpus < 1 || entry.run_s < 1) continue;
        if (entry.gpu_type.empty()) any.push_back(entry);
        if (!entry.gpu_type.empty() && entry.gpu_type == gpu_type) own.push_back(entry);
    }
    std::vector<RuntimeEntry>& chosen = own.empty() ? any : own;
    std::sort(chosen.begin(), chosen.end(),
              [](const RuntimeEntry& a, const RuntimeEntry& b) { return a.gpus < b.gpus; });
    return chosen;
}

Seconds between(const RuntimeEntry& low, const RuntimeEntry& high, int gpus) {
    double exponent = std::log(static_cast<double>(low.run_s) / static_cast<double>(high.run_s)) /
                      std::log(static_cast<double>(high.gpus) / low.gpus);
    return power_law(low.run_s, low.gpus, gpus, exponent);
}

struct Shape {
    int nodes, gpus;  // GPUs a node
};

// The most compact even split of `total` GPUs over nodes of this class; nullopt when it does not fit.
std::optional<Shape> split(int total, const AskedShape& asked, const NodeClass& node_class, int available) {
    if (node_class.gpus < 1) return std::nullopt;
    int most = asked.max_nodes > 0 ? std::min(asked.max_nodes, available) : available;
    for (int nodes = std::max(asked.nodes, ceil_div(total, node_class.gpus)); nodes <= most; nodes++)
        if (total % nodes == 0) return Shape{nodes, total / nodes};
    return std::nullopt;
}

std::optional<Shape> as_asked(const AskedShape& asked, const NodeClass& node_class, int available) {
    if (asked.exclusive && asked.nodes <= available && node_class.gpus >= asked.gpus_per_node &&
        node_class.gpus * asked.nodes >= asked.total_gpus())
        return Shape{asked.nodes, node_class.gpus};
    if (asked.exclusive) return std::nullopt;
    if (asked.gpus_per_node > 0) {
        bool fits = asked.nodes <= available && asked.gpus_per_node <= node_class.gpus;
        return fits ? std::optional(Shape{asked.nodes, asked.gpus_per_node}) : std::nullopt;
    }
    return split(asked.total_gpus(), asked, node_class, available);
}

// Makes the configurations of one job, class by class.
class Builder {
  public:
    Builder(const Request& request, const AskedShape& asked, const std::vector<NodeClass>& classes,
            const RuntimeModel& model)
        : request_(request), asked_(asked), classes_(classes), model_(model) {
        asked_gpus_ = asked.total_gpus();
        counts_ = request.gpu_counts;
        // A job that asks for no GPUs at all can run on the counts whose run times it gives.
        if (counts_.empty() && asked_gpus_ == 0)
            for (const auto& entry : model.entries) counts_.push_back(entry.gpus);
        std::sort(counts_.begin(), counts_.end());
        counts_.erase(std::unique(counts_.begin(), counts_.end()), counts_.end());
        if (asked_gpus_ == 0) asked_gpus_ = counts_.empty() ? 1 : counts_.front();
    }

    bool small() const { return asked_.shards > 0 || (request_.gpu_share_pct > 0 && asked_.total_gpus() == 0); }

    void add_as_asked(const ClassUse& use, bool clamp) {
        const NodeClass& node_class = classes_[static_cast<std::size_t>(use.class_id)];
        if (!type_fits(node_class)) return;
        if (small()) return add_small(use, clamp);
        if (asked_.total_gpus() == 0) return;
        bool counts_decide = !asked_.rigid && !counts_.empty();
        if (counts_decide && !std::count(counts_.begin(), counts_.end(), asked_gpus_)) return;
        if (auto shape = as_asked(asked_, node_class, use.nodes)) add_large(use, *shape, clamp);
    }

    void add_other_counts(const ClassUse& use, bool clamp) {
        const NodeClass& node_class = classes_[static_cast<std::size_t>(use.class_id)];
        if (asked_.rigid || asked_.exclusive || small() || !type_fits(node_class)) return;
        AskedShape free = asked_;
        free.gpus_per_node = 0;
        // -N with a fixed count stays; where the shape came from GPUs a node, the count is what moves.
        if (asked_.gpus_per_node > 0 && asked_.max_nodes == asked_.nodes && asked_.nodes > 1) free.nodes = 1;
        for (int count : counts_)
            if (auto shape = split(count, free, node_class, use.nodes)) add_large(use, *shape, clamp);
    }

    ConfigsResult take() { return std::move(result_); }
    bool empty() const { return result_.configs.empty(); }
    bool asks_gpus() const { return small() || asked_.total_gpus() > 0 || !counts_.empty(); }
    const std::string& obstacle() const { return obstacle_; }

  private:
    bool type_fits(const NodeClass& node_class) {
        if (asked_.gpu_type.empty() || asked_.gpu_type == node_class.gpu_type) return true;
        note(fmt::format("no node it may use has GPUs of type {}", asked_.gpu_type));
        return false;
    }

    void add_small(const ClassUse& use, bool clamp) {
        const NodeClass& node_class = classes_[static_cast<std::size_t>(use.class_id)];
        if (node_class.shards_per_gpu < 1) return note("no node it may use has shared GPUs (Gres=shard)");
        Config config{.class_id = use.class_id};
        config.shards = request_.gpu_share_pct > 0
                            ? std::max(1, ceil_div(request_.gpu_share_pct * node_class.shards_per_gpu, 100))
                            : asked_.shards;
        if (config.shards > node_class.shards_per_gpu)
            return note(
                fmt::format("{} shards are more than one GPU has ({})", config.shards, node_class.shards_per_gpu));
        finish(config, node_class, 1, clamp);
    }

    void add_large(const ClassUse& use, Shape shape, bool clamp) {
        const NodeClass& node_class = classes_[static_cast<std::size_t>(use.class_id)];
        if (asked_.gpus_per_task > 0 && shape.gpus % asked_.gpus_per_task != 0) return;
        Config config{.class_id = use.class_id, .nodes = shape.nodes, .gpus = shape.gpus};
        finish(config, node_class, shape.nodes * shape.gpus, clamp);
    }

    void finish(Config config, const NodeClass& node_class, int gpus, bool clamp) {
        Sizing sizing = size_for(asked_, config.nodes, config.gpus, node_class);
        config.cpus = sizing.cpus_per_node;
        config.mem_mb = sizing.mem_mb_per_node;
        if (node_class.cpus > 0 && config.cpus > node_class.cpus)
            return note(fmt::format("{} CPUs a node are more than class {} has ({})", config.cpus, node_class.name,
                                    node_class.cpus));
        if (node_class.mem_mb > 0 && config.mem_mb > node_class.mem_mb)
            return note(fmt::format("{} MB a node are more than class {} has ({})", config.mem_mb, node_class.name,
                                    node_class.mem_mb));
        auto run = run_time(model_, node_class.gpu_type, gpus, asked_gpus_);
        if (!run) return note(fmt::format("no run time is known for {} GPUs; add it to --runtime", node_class.name));
        config.run_s = *run;
        config.run_high_s = model_.entries.empty() ? *run : *run + *run / 4;
        if (Seconds limit = model_.time_limit_s; limit > 0) {
            if (config.run_s > limit && !clamp)
                return note(fmt::format("it would run longer than its time limit of {} s; raise --time", limit));
            config.run_s = std::min(config.run_s, limit);
            config.run_high_s = std::min(config.run_high_s, limit);
        }
        add(config);
    }

    void add(const Config& config) {
        for (const Config& other : result_.configs)
            if (other.class_id == config.class_id && other.nodes == config.nodes && other.gpus == config.gpus &&
                other.shards == config.shards)
                return;
        result_.configs.push_back(config);
    }

    void note(const std::string& why) {
        if (obstacle_.empty()) obstacle_ = why;
    }

    const Request& request_;
    const AskedShape& asked_;
    const std::vector<NodeClass>& classes_;
    const RuntimeModel& model_;
    std::vector<int> counts_;  // GPUs in total that it may run on beside what it asks for
    int asked_gpus_ = 1;
    ConfigsResult result_;
    std::string obstacle_;
};

}  // namespace

int AskedShape::total_gpus() const {
    if (gpus > 0) return gpus;
    if (gpus_per_node > 0) return gpus_per_node * nodes;
    return gpus_per_task * tasks;
}

Sizing size_for(const AskedShape& asked, int nodes, int gpus_per_node, const NodeClass& node_class) {
    int total_gpus = nodes * gpus_per_node;
    Sizing sizing;
    if (asked.gpus_per_task > 0 && total_gpus > 0)
        sizing.tasks = total_gpus / asked.gpus_per_task;
    else if (asked.tasks_per_node > 0)
        sizing.tasks = asked.tasks_per_node * nodes;
    else if (asked.tasks > 1 && asked.tasks == asked.total_gpus() && total_gpus > 0)
        sizing.tasks = total_gpus;  // one task a GPU
    else if (asked.tasks == asked.nodes)
        sizing.tasks = nodes;  // one task a node
    else
        sizing.tasks = asked.tasks;
    sizing.tasks = std::max(sizing.tasks, nodes);
    // An even spread is what the plan assumes; Slurm alone would fill the first node.
    if (asked.tasks_per_node > 0 || (nodes > 1 && sizing.tasks % nodes == 0))
        sizing.tasks_per_node = sizing.tasks / nodes;

    int per_node = ceil_div(sizing.tasks, nodes) * std::max(1, asked.cpus_per_task);
    per_node = std::max(per_node, asked.cpus_per_gpu * gpus_per_node);
    if (asked.tasks == sizing.tasks) per_node = std::max(per_node, ceil_div(asked.cpus, nodes));
    if (sizing.tasks_per_node == asked.tasks_per_node) per_node = std::max(per_node, asked.cpus_per_node);
    sizing.cpus = std::max(sizing.tasks * std::max(1, asked.cpus_per_task), asked.cpus_per_gpu * total_gpus);
    if (asked.tasks == sizing.tasks) sizing.cpus = std::max(sizing.cpus, asked.cpus);
    if (asked.exclusive && node_class.cpus > 0) per_node = std::max(per_node, node_class.cpus);
    sizing.cpus_per_node = per_node;

    if (asked.mem_mb_per_gpu > 0)
        sizing.mem_mb_per_node = asked.mem_mb_per_gpu * gpus_per_node;
    else if (asked.mem_mb_per_cpu > 0)
        sizing.mem_mb_per_node = asked.mem_mb_per_cpu * per_node;
    else
        sizing.mem_mb_per_node = asked.whole_node_memory ? node_class.mem_mb : asked.mem_mb_per_node;
    return sizing;
}

std::optional<Seconds> run_time(const RuntimeModel& model, const std::string& gpu_type, int gpus, int asked_gpus) {
    double exponent = std::max(0.0, 1.0 + std::log2(std::clamp(model.scaling_pct, 1, 100) / 100.0));
    if (model.entries.empty()) {
        if (model.time_limit_s <= 0) return std::nullopt;
        return power_law(model.time_limit_s, asked_gpus, gpus, exponent);
    }
    std::vector<RuntimeEntry> entries = entries_for(model, gpu_type);
    if (entries.empty()) return std::nullopt;
    auto above = std::find_if(entries.begin(), entries.end(), [&](const RuntimeEntry& e) { return e.gpus >= gpus; });
    if (above != entries.end() && above->gpus == gpus) return above->run_s;
    if (above == entries.end()) return power_law(entries.back().run_s, entries.back().gpus, gpus, exponent);
    if (above == entries.begin()) return power_law(above->run_s, above->gpus, gpus, exponent);
    return between(*(above - 1), *above, gpus);
}

ConfigsResult make_configs(const Request& request, const AskedShape& asked, const std::vector<NodeClass>& classes,
                           const std::vector<ClassUse>& usable, const RuntimeModel& model) {
    Builder builder(request, asked, classes, model);
    if (!builder.asks_gpus())
        return {.configs = {}, .why_none = "it asks for no GPU, so there is nothing for Squall to plan"};
    // Longer than the time limit is dropped where anything shorter is left, else planned as what Slurm will do: kill
    // it.
    for (bool clamp : {false, true}) {
        for (const ClassUse& use : usable) builder.add_as_asked(use, clamp);
        for (const ClassUse& use : usable) builder.add_other_counts(use, clamp);
        if (!builder.empty()) return builder.take();
    }
    if (usable.empty())
        return {.configs = {}, .why_none = "its partition and constraints leave no GPU node that Squall knows"};
    if (builder.obstacle().empty())
        return {.configs = {}, .why_none = "no class it may use has as many GPUs as it asks for"};
    return {.configs = {}, .why_none = builder.obstacle()};
}

std::string describe_config(const NodeClass& node_class, const Config& config) {
    if (config.shards > 0) {
        int whole = std::max(1, node_class.shards_per_gpu);
        return fmt::format("{}% {}", (config.shards * 100 + whole / 2) / whole, node_class.name);
    }
    return fmt::format("{}×{} {}", config.nodes, config.gpus, node_class.name);
}

}  // namespace squall
