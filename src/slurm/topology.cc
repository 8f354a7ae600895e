// SPDX-License-Identifier: GPL-3.0-or-later
// Classes, groups and nodes of a Snapshot: see topology.h.
#include "src/slurm/topology.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "src/slurm/gres.h"

namespace squall::slurm {
namespace {

constexpr Seconds kUnknownWait = 60;  // a state that passes by itself, nobody says when: look again then
constexpr int kAuto = -1;             // not named in squall.conf

// What makes two nodes interchangeable.
struct Kind {
    int class_conf = kAuto;
    std::string gpu_type;
    int gpus = 0, shards_per_gpu = 0, cpus = 0, threads = 1;
    std::int64_t mem_mb = 0;
    std::vector<bool> in_set;
    auto tie() const { return std::tie(class_conf, gpu_type, gpus, shards_per_gpu, cpus, threads, mem_mb, in_set); }
    bool operator<(const Kind& other) const { return tie() < other.tie(); }
};

class Builder {
  public:
    Builder(const Conf& conf, const Cluster& cluster, const std::vector<std::set<std::string>>& sets,
            const std::vector<Lease>& leases, const std::vector<Block>& blocks, Seconds now)
        : conf_(conf), cluster_(cluster), sets_(sets), leases_(leases), blocks_(blocks), now_(now) {}

    Topology build() {
        for (std::size_t i = 0; i < conf_.classes.size(); i++)
            for (const std::string& name : conf_.classes[i].nodes) conf_class_[name] = static_cast<int>(i);
        // In squall.conf's order, then in Slurm's: class numbers, and so plans, do not depend on chance.
        for (const NodeClassConf& class_conf : conf_.classes)
            for (const std::string& name : class_conf.nodes) add_named(class_conf, name);
        for (const RawNode& node : cluster_.nodes)
            if (!conf_class_.count(node.name)) add_unnamed(node);
        add_groups();
        add_warnings();
        return std::move(out_);
    }

  private:
    void add_named(const NodeClassConf& class_conf, const std::string& name) {
        const RawNode* node = cluster_.node(name);
        if (!node) {
            (class_conf.spec.rented ? hidden_ : missing_).push_back(name);
            return;
        }
        add(*node, conf_class_[name]);
    }

    void add_unnamed(const RawNode& node) {
        if (count_of(parse_gres(node.gres), "gpu") == 0) return;  // nothing to plan there
        if (node.cloud) {
            unpriced_.push_back(node.name);
            return;
        }
        unnamed_.push_back(node.name);
        add(node, kAuto);
    }

    void add(const RawNode& node, int class_conf) {
        Kind kind;
        if (!describe(node, class_conf, kind)) return;
        auto [at, fresh] = class_of_.emplace(kind, static_cast<int>(out_.classes.size()));
        if (fresh) add_class(kind);
        Node planned;
        planned.name = node.name;
        planned.class_id = at->second;
        set_state(node, out_.classes[static_cast<std::size_t>(at->second)], planned);
        out_.node_index[node.name] = static_cast<int>(out_.nodes.size());
        out_.nodes.push_back(planned);
    }

    bool describe(const RawNode& node, int class_conf, Kind& kind) {
        std::vector<Gres> gres = parse_gres(node.gres);
        std::set<std::string> types;
        for (const Gres& entry : gres)
            if (entry.name == "gpu") types.insert(entry.type);
        if (types.size() > 1) {
            mixed_.push_back(node.name);
            return false;
        }
        kind.class_conf = class_conf;
        kind.gpus = count_of(gres, "gpu");
        if (kind.gpus == 0) {
            no_gpu_.push_back(node.name);
            return false;
        }
        kind.gpu_type = *types.begin();
        kind.shards_per_gpu = count_of(gres, "shard") / kind.gpus;
        kind.cpus = node.cpus;
        kind.threads = node.threads_per_core;
        kind.mem_mb = cluster_.memory_is_consumable ? node.mem_mb : 0;
        for (const auto& set : sets_) kind.in_set.push_back(set.count(node.name) > 0);
        return true;
    }

    void add_class(const Kind& kind) {
        NodeClass made;
        if (kind.class_conf != kAuto) made = conf_.classes[static_cast<std::size_t>(kind.class_conf)].spec;
        if (kind.class_conf == kAuto) made.name = kind.gpu_type.empty() ? "gpu" : kind.gpu_type;
        if (!kind.gpu_type.empty()) made.gpu_type = kind.gpu_type;
        made.gpus = kind.gpus;
        made.shards_per_gpu = kind.shards_per_gpu;
        made.cpus = kind.cpus;
        made.mem_mb = kind.mem_mb;
        out_.classes.push_back(made);
        out_.threads_per_core.push_back(kind.threads);
        class_conf_.push_back(kind.class_conf);
    }

    void set_state(const RawNode& node, const NodeClass& node_class, Node& planned) {
        auto lease = std::find_if(leases_.begin(), leases_.end(), [&](const Lease& l) { return l.node == node.name; });
        if (node_class.rented && lease != leases_.end() && lease->launched_at > 0)
            planned.leased_at = lease->launched_at;
        if (node.down || node.drained || node.failing ||
            (node.not_responding && !node.powering_up && !node.powered_down)) {
            planned.state = NodeState::unavailable;
            planned.ready_at = kForever;
        } else if (node.powering_down || node.rebooting) {
            planned.state = NodeState::unavailable;
            planned.ready_at = now_ + kUnknownWait;
        } else if (node.powering_up) {
            planned.state = NodeState::booting;
            Seconds began = lease != leases_.end() ? std::max(lease->wanted_at, lease->launched_at) : now_;
            planned.ready_at = std::max(now_ + 1, began + node_class.boot_s);
        } else if (node.powered_down) {
            planned.state = NodeState::powered_down;
            planned.leased_at.reset();
            apply_blocks(node, node_class, planned);
        }
    }

    // What could not be launched a moment ago is not tried again until its block ends.
    void apply_blocks(const RawNode& node, const NodeClass& node_class, Node& planned) {
        for (const Block& block : blocks_) {
            if (block.until <= now_ || (block.key != node.name && block.key != "class:" + node_class.name)) continue;
            planned.state = NodeState::unavailable;
            planned.ready_at = std::max(planned.ready_at, block.until);
        }
    }

    std::vector<int> made_from(int class_conf) const {
        std::vector<int> ids;
        for (std::size_t i = 0; i < class_conf_.size(); i++)
            if (class_conf_[i] == class_conf) ids.push_back(static_cast<int>(i));
        return ids;
    }

    void add_groups() {
        // MaxNodes of a class that became several is a cap over them all.
        for (std::size_t i = 0; i < conf_.classes.size(); i++) {
            std::vector<int> ids = made_from(static_cast<int>(i));
            int max_nodes = conf_.classes[i].spec.max_nodes;
            if (ids.size() < 2 || max_nodes == 0) continue;
            for (int id : ids) out_.classes[static_cast<std::size_t>(id)].max_nodes = 0;
            out_.groups.push_back({conf_.classes[i].spec.name, ids, max_nodes});
        }
        for (const GroupConf& group : conf_.groups) {
            CapacityGroup made{group.name, {}, group.max_nodes};
            for (std::size_t i = 0; i < conf_.classes.size(); i++) {
                if (!std::count(group.classes.begin(), group.classes.end(), conf_.classes[i].spec.name)) continue;
                std::vector<int> ids = made_from(static_cast<int>(i));
                made.class_ids.insert(made.class_ids.end(), ids.begin(), ids.end());
            }
            if (!made.class_ids.empty()) out_.groups.push_back(made);
        }
    }

    void warn(const std::vector<std::string>& nodes, const char* what) {
        if (!nodes.empty()) out_.warnings.push_back(fmt::format("{}: {}", fmt::join(nodes, ","), what));
    }

    void add_warnings() {
        warn(missing_, "named in squall.conf, unknown to Slurm; left out");
        warn(hidden_,
             "named in squall.conf, not shown by Slurm; before Slurm 23.02 set PrivateData=cloud in slurm.conf "
             "so that powered-down nodes are visible");
        warn(no_gpu_, "named in squall.conf but without Gres=gpu in slurm.conf; left out");
        warn(mixed_, "has GPUs of several types in one node, which Squall does not plan; left out");
        warn(unpriced_, "cloud node without a NodeClass line in squall.conf, so without a price; left out");
        warn(unnamed_,
             "not named in squall.conf: planned as a class of its own GPU type with free energy; add a "
             "NodeClass line to price it");
    }

    const Conf& conf_;
    const Cluster& cluster_;
    const std::vector<std::set<std::string>>& sets_;
    const std::vector<Lease>& leases_;
    const std::vector<Block>& blocks_;
    Seconds now_;
    Topology out_;
    std::map<std::string, int> conf_class_;  // node → index of its NodeClass line
    std::map<Kind, int> class_of_;
    std::vector<int> class_conf_;  // class id → index of its NodeClass line
    std::vector<std::string> missing_, hidden_, no_gpu_, mixed_, unpriced_, unnamed_;
};

}  // namespace

Topology make_topology(const Conf& conf, const Cluster& cluster, const std::vector<std::set<std::string>>& sets,
                       const std::vector<Lease>& open_leases, const std::vector<Block>& blocks, Seconds now) {
    return Builder(conf, cluster, sets, open_leases, blocks, now).build();
}

}  // namespace squall::slurm
