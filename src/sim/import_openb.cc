// SPDX-License-Identifier: GPL-3.0-or-later
// Pods of one production cluster, many of which take a fraction of a GPU (gpu_milli), and its nodes, from the CSV
// beside it whose name has "node_list" in it. There are no time limits: what a pod took is what is known of it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <tuple>

#include "src/sim/importers.h"

namespace squall::sim {
namespace {

namespace fs = std::filesystem;

constexpr int kShards = 100;  // of a GPU: gpu_milli comes in hundredths

std::string node_list(const std::string& path) {
    fs::path parent = fs::path(path).parent_path();
    std::vector<std::string> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(parent.empty() ? "." : parent, none))
        if (entry.path().filename().string().find("node_list") != std::string::npos &&
            entry.path().extension() == ".csv")
            found.push_back(entry.path().string());
    std::sort(found.begin(), found.end());
    return found.empty() ? "" : found.front();
}

bool read_nodes(const std::string& path, Workload& w) {
    Table table(path, ',', {"cpu_milli", "memory_mib", "gpu", "model"});
    if (!table.error().empty()) return w.error = table.error(), false;
    std::map<std::tuple<std::string, int, int, std::int64_t>, int> kinds;
    while (table.next()) {
        auto gpus = static_cast<int>(table.whole("gpu", 0, 1024));
        auto cpus = static_cast<int>(table.whole("cpu_milli", 0, 1 << 30) / 1000);
        auto mem = table.whole("memory_mib", 0, INT64_C(1) << 40);
        if (!table.complaint().empty())
            w.bad.push_back(table.bad());
        else if (gpus > 0)
            ++kinds[{table.text("model"), gpus, cpus, mem}];
    }
    for (const auto& [kind, count] : kinds) {
        NodeClass c;
        std::tie(c.gpu_type, c.gpus, c.cpus, c.mem_mb) = kind;
        c.name = fmt::format("{}x{}c{}m{}", c.gpu_type, c.gpus, c.cpus, c.mem_mb / 1024);
        c.shards_per_gpu = kShards;
        add_class(w.cluster, c, count);
    }
    return true;
}

bool suits(const std::string& spec, const std::string& type) {  // "" or "V100M16|V100M32"
    if (spec.empty()) return true;
    return ("|" + spec + "|").find("|" + type + "|") != std::string::npos;
}

}  // namespace

Workload import_openb(const std::string& path, const ImportOptions& options) {
    Workload w;
    if (options.cluster) {
        w.cluster = *options.cluster;
    } else {
        auto nodes = node_list(path);
        if (nodes.empty()) return w.error = path + ": no *node_list*.csv beside it; give --cluster or --nodes", w;
        if (!read_nodes(nodes, w)) return w;
    }
    Table table(path, ',', {"name", "num_gpu", "gpu_milli", "creation_time", "deletion_time"});
    if (!table.error().empty()) return w.error = table.error(), w;
    read_rows(table, w, [&](SimJob& job) {
        auto gpus = static_cast<int>(table.whole("num_gpu", 0, 1024));
        if (gpus == 0) return false;
        auto milli = static_cast<int>(table.whole("gpu_milli", 0, 1000));
        auto created = table.whole("creation_time", 0, INT64_C(1) << 40);
        auto deleted = table.whole("deletion_time", 0, INT64_C(1) << 40);
        const auto& scheduled = table.text("scheduled_time");
        auto start = scheduled.empty() ? created : table.whole("scheduled_time", 0, INT64_C(1) << 40);
        if (deleted < start || start < created) table.complain("created, scheduled, deleted: time runs backwards");
        if (!table.complaint().empty()) return true;
        auto& j = job.job;
        j.id = static_cast<std::uint32_t>(w.rows);
        j.name = table.text("name");
        j.release = created;
        Seconds took = std::max<Seconds>(1, deleted - start);
        if (options.due_limits > 0) j.due = created + std::llround(options.due_limits * static_cast<double>(took));
        j.late_micro_h = options.late_micro_h;
        for (int c = 0; c < static_cast<int>(w.cluster.classes.size()); ++c) {
            const auto& spec = w.cluster.classes[c];
            if (!suits(table.text("gpu_spec"), spec.gpu_type)) continue;
            Config config;
            config.class_id = c;
            bool share = gpus == 1 && milli > 0 && milli < 1000 && spec.shards_per_gpu > 0;
            if (share)
                config.shards = std::max(1, (milli * spec.shards_per_gpu + 999) / 1000);
            else
                config.gpus = gpus;
            config.cpus = static_cast<int>((parse_number(table.text("cpu_milli")).value_or(0) + 999) / 1000);
            config.mem_mb = std::llround(parse_number(table.text("memory_mib")).value_or(0));
            config.run_s = config.run_high_s = took;
            j.configs.push_back(config);
            job.true_run_s.push_back(took);
        }
        return true;
    });
    return w;
}

}  // namespace squall::sim
