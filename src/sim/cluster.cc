// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/sim/cluster.h"

#include <fmt/format.h>
#include <strings.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "src/core/amount.h"
#include "src/core/conf.h"
#include "src/core/hostlist.h"
#include "src/core/instance_json.h"
#include "src/sim/importers.h"
#include "src/slurm/gres.h"

namespace squall::sim {
namespace {

struct Hardware {
    int gpus = 0, shards = 0, cpus = 0;
    std::int64_t mem_mb = 0;
};

void read_node_line(const std::string& line, std::map<std::string, Hardware>& nodes) {
    std::istringstream in(line);
    std::string list;
    Hardware hardware;
    for (std::string word; in >> word;) {
        auto equal = word.find('=');
        if (equal == word.npos) continue;
        std::string key = word.substr(0, equal), value = word.substr(equal + 1);
        if (strcasecmp(key.c_str(), "NodeName") == 0) list = value;
        if (strcasecmp(key.c_str(), "CPUs") == 0) hardware.cpus = std::atoi(value.c_str());
        if (strcasecmp(key.c_str(), "RealMemory") == 0) hardware.mem_mb = std::atoll(value.c_str());
        if (strcasecmp(key.c_str(), "Gres") != 0) continue;
        auto gres = slurm::parse_gres(value);
        hardware.gpus = slurm::count_of(gres, "gpu");
        hardware.shards = slurm::count_of(gres, "shard");
    }
    std::string error;
    if (auto names = expand_hostlist(list, error))
        for (const auto& name : *names) nodes[name] = hardware;
}

// NodeName= lines of the slurm.conf in the same folder, where there is one.
std::map<std::string, Hardware> read_slurm_conf(const std::string& squall_conf) {
    std::map<std::string, Hardware> nodes;
    std::ifstream in(std::filesystem::path(squall_conf).parent_path() / "slurm.conf");
    std::string whole;
    for (std::string line; std::getline(in, line);) {
        line = line.substr(0, line.find('#'));
        bool more = !line.empty() && line.back() == '\\';
        if (more) line.back() = ' ';
        whole += line;
        if (more) continue;
        auto first = whole.find_first_not_of(" \t");
        if (first != whole.npos && strncasecmp(whole.c_str() + first, "NodeName=", 9) == 0)
            read_node_line(whole, nodes);
        whole.clear();
    }
    return nodes;
}

ClusterResult from_conf(const std::string& path) {
    ClusterResult result;
    auto read = read_conf(path);
    if (!read.errors.empty()) return result.error = read.errors.front(), result;
    auto hardware = read_slurm_conf(path);
    auto& s = result.cluster;
    for (const auto& conf : read.conf.classes) {
        NodeClass c = conf.spec;
        for (const auto& name : conf.nodes)
            if (auto found = hardware.find(name); found != hardware.end()) {
                c.gpus = found->second.gpus, c.cpus = found->second.cpus, c.mem_mb = found->second.mem_mb;
                c.shards_per_gpu = c.gpus > 0 ? found->second.shards / c.gpus : 0;
                break;
            }
        if (c.gpus == 0) c.gpus = static_cast<int>(c.busy_watts.size());
        if (c.gpus == 0)
            return result.error = fmt::format(
                       "{}:{}: NodeClass={}: how many GPUs its nodes have is not known; put the cluster's slurm.conf "
                       "beside it, with a NodeName line that has Gres=gpu:N",
                       path, conf.line, c.name),
                   result;
        auto first = s.nodes.size();
        add_class(s, c, static_cast<int>(conf.nodes.size()));
        for (std::size_t n = 0; n < conf.nodes.size(); ++n) s.nodes[first + n].name = conf.nodes[n];
    }
    for (const auto& group : read.conf.groups) {
        CapacityGroup g{group.name, {}, group.max_nodes};
        for (int c = 0; c < static_cast<int>(s.classes.size()); ++c)
            for (const auto& name : group.classes)
                if (name == s.classes[c].name) g.class_ids.push_back(c);
        s.groups.push_back(g);
    }
    if (s.nodes.empty()) result.error = path + ": no NodeClass with nodes in it";
    return result;
}

ClusterResult from_dump(const std::string& text, const std::string& path) {
    ClusterResult result;
    auto read = snapshot_from_json(text, path);
    if (!read.error.empty()) return result.error = read.error, result;
    auto& s = result.cluster = std::move(read.snapshot);
    s.jobs.clear(), s.holds.clear(), s.budgets.clear();
    for (auto& node : s.nodes) {
        node.leased_at.reset();
        node.state = s.classes[node.class_id].rented ? NodeState::powered_down : NodeState::up;
        node.ready_at = 0;
    }
    if (s.nodes.empty()) result.error = path + ": no nodes in it";
    return result;
}

}  // namespace

ClusterResult read_cluster(const std::string& path) {
    std::ifstream in(path);
    if (!in) return {{}, path + ": cannot be read"};
    std::string text{std::istreambuf_iterator<char>(in), {}};
    auto first = text.find_first_not_of(" \t\r\n");
    return first != text.npos && text[first] == '{' ? from_dump(text, path) : from_conf(path);
}

ClusterResult parse_nodes(const std::vector<std::string>& texts) {
    ClusterResult result;
    for (const auto& text : texts) {
        int nodes = 0, gpus = 0, used = 0;
        NodeClass c;
        if (std::sscanf(text.c_str(), "%dx%d%n", &nodes, &gpus, &used) != 2 || nodes < 1 || gpus < 1 ||
            nodes > 1000000 || gpus > 1024)
            return {{}, fmt::format("--nodes={}: write NODESxGPUS[:TYPE][@PRICE], such as 16x8:a100", text)};
        std::string rest = text.substr(used);
        auto at = rest.find('@');
        if (at != rest.npos) {
            auto price = parse_amount_per_hour(rest.substr(at + 1));
            if (!price) return {{}, fmt::format("--nodes={}: {} is no price an hour", text, rest.substr(at + 1))};
            c.rented = true;
            c.price_micro_h = *price;
            rest.resize(at);
        }
        if (!rest.empty() && (rest[0] != ':' || rest.size() == 1))
            return {{}, fmt::format("--nodes={}: write NODESxGPUS[:TYPE][@PRICE], such as 16x8:a100", text)};
        c.gpu_type = rest.empty() ? "" : rest.substr(1);
        c.name = (c.gpu_type.empty() ? "gpu" : c.gpu_type) + (c.rented ? "-rented" : "");
        c.gpus = gpus;
        if (c.rented) c.boot_s = 120, c.release_s = 60, c.billing_min_s = 60;
        add_class(result.cluster, c, nodes);
    }
    return result;
}

}  // namespace squall::sim
