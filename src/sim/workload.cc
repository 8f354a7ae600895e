// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/sim/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/sim/dice.h"
#include "src/sim/importers.h"

namespace squall::sim {
namespace {

using Import = Workload (*)(const std::string&, const ImportOptions&);

struct Format {
    const char* name;
    Import import;
};
constexpr Format kFormats[] = {{"sacct", import_sacct}, {"swf", import_swf},
                               {"csv3", import_csv3},   {"elasticflow", import_elasticflow},
                               {"gavel", import_gavel}, {"openb", import_openb}};

void sort_jobs(Workload& w) {
    std::stable_sort(w.jobs.begin(), w.jobs.end(), [](const SimJob& a, const SimJob& b) {
        return a.job.release != b.job.release ? a.job.release < b.job.release : a.job.id < b.job.id;
    });
}

}  // namespace

void add_class(Snapshot& cluster, NodeClass node_class, int count) {
    auto class_id = static_cast<int>(cluster.classes.size());
    for (int n = 0; n < count; ++n) {
        Node node;
        node.name = fmt::format("{}-{}", node_class.name, n + 1);
        node.class_id = class_id;
        node.state = node_class.rented ? NodeState::powered_down : NodeState::up;
        cluster.nodes.push_back(node);
    }
    cluster.classes.push_back(std::move(node_class));
}

Workload read_workload(const std::string& source, const ImportOptions& options) {
    Workload none;
    auto colon = source.find(':');
    std::string format = source.substr(0, colon), path = colon == source.npos ? "" : source.substr(colon + 1), known;
    for (const auto& f : kFormats) {
        known += (known.empty() ? "" : ", ") + std::string(f.name);
        if (format != f.name || path.empty()) continue;
        Workload w = f.import(path, options);
        w.name = source;
        if (w.error.empty() && w.jobs.empty())
            w.error = fmt::format("{}: no job in it can be replayed ({} rows read, {} bad, {} without GPUs)", path,
                                  w.rows, w.bad.size(), w.left_out);
        if (!w.error.empty()) return w;
        sort_jobs(w);
        w.cluster.now = w.jobs.front().job.release;
        return w;
    }
    none.error = fmt::format("--workload={}: write FORMAT:PATH, FORMAT one of {}", source, known);
    return none;
}

void set_runtime_error(Workload& workload, double error, std::uint64_t seed) {
    Dice dice(seed ^ 0x5eed);
    for (auto& job : workload.jobs) {
        double factor = 1 + error * dice.between(-1, 1);
        for (std::size_t c = 0; c < job.job.configs.size(); ++c) {
            auto& config = job.job.configs[c];
            config.run_s = std::max<Seconds>(1, std::llround(static_cast<double>(job.true_run_s[c]) * factor));
            // The true time is the estimate over a uniform factor: in nine cases of ten at most this.
            config.run_high_s = std::llround(static_cast<double>(config.run_s) / (1 - 0.8 * error));
        }
    }
    if (error > 0) workload.runs_from_limits = false;
}

}  // namespace squall::sim
