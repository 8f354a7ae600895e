// SPDX-License-Identifier: GPL-3.0-or-later
// Elastic training jobs: a CSV of jobs (iterations, batch size, GPUs asked for, deadline) and iterations per second by
// GPU count in one CSV a model. A job may run on any measured number of GPUs; the first configuration is the one asked
// for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "src/sim/importers.h"

namespace squall::sim {
namespace {

namespace fs = std::filesystem;

// model → batch size → (GPUs, iterations per second)
using Speeds = std::map<std::string, std::map<int, std::vector<std::pair<int, double>>>>;

bool read_speeds(const std::string& path, Workload& w, Speeds& speeds) {
    Table table(path, ',', {"global_batch_size"});
    if (!table.error().empty()) return w.error = table.error(), false;
    std::vector<int> counts = {1, 2, 4, 8, 16, 32, 64};
    while (table.next()) {
        auto batch = static_cast<int>(table.whole("global_batch_size", 1, 1 << 30));
        std::vector<std::pair<int, double>> list;
        for (int count : counts) {
            auto speed = parse_number(table.text(std::to_string(count)));
            if (speed && *speed > 0) list.emplace_back(count, *speed);
        }
        if (list.empty()) table.complain("no speed of any number of GPUs");
        if (table.complaint().empty())
            speeds[fs::path(path).stem().string()][batch] = list;
        else
            w.bad.push_back(table.bad());
    }
    return true;
}

fs::path throughput_folder(const std::string& path) {
    fs::path parent = fs::path(path).parent_path();
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(parent.empty() ? "." : parent, none))
        if (entry.is_directory(none) && entry.path().filename().string().rfind("throughputs", 0) == 0)
            return entry.path();
    return {};
}

}  // namespace

Workload import_elasticflow(const std::string& path, const ImportOptions& options) {
    Workload w;
    Table table(path, ',',
                {"job_id", "submission_time", "num_iteration", "model_name", "deadline", "batch_size", "num_gpu"});
    if (!table.error().empty()) return w.error = table.error(), w;
    auto folder = throughput_folder(path);
    if (folder.empty()) return w.error = path + ": no folder throughputs* beside it, with the speed of each model", w;
    Speeds speeds;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".csv") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files)
        if (!read_speeds(file.string(), w, speeds)) return w;
    if (options.cluster) {
        w.cluster = *options.cluster;
    } else {
        NodeClass a100;
        a100.name = a100.gpu_type = "a100";
        a100.gpus = 8;
        add_class(w.cluster, a100, 16);
    }
    double last = 0;
    read_rows(table, w, [&](SimJob& job) {
        double submit = table.number("submission_time", 0, 1e12), due = table.number("deadline", 0, 1e12);
        double iterations = table.number("num_iteration", 1, 1e12);
        auto asked = static_cast<int>(table.whole("num_gpu", 1, 1024));
        auto batch = static_cast<int>(table.whole("batch_size", 1, 1 << 30));
        if (submit < last) table.complain(fmt::format("submission_time={}: time runs backwards", submit));
        if (due < submit) table.complain(fmt::format("deadline={}: before the submission", due));
        auto model = speeds.find(table.text("model_name"));
        if (model == speeds.end() || !model->second.count(batch))
            table.complain(
                fmt::format("model_name={} with batch_size={}: no speed is known", table.text("model_name"), batch));
        if (!table.complaint().empty()) return true;
        last = submit;
        auto& j = job.job;
        j.id = static_cast<std::uint32_t>(w.rows);
        j.name = table.text("job_id");
        j.release = std::llround(submit);
        j.due = std::llround(due);
        j.late_micro_h = options.late_micro_h;
        j.checkpointable = true;
        j.restart_s = options.restart_s;
        for (int c = 0; c < static_cast<int>(w.cluster.classes.size()); ++c)
            for (auto [gpus, speed] : model->second.at(batch)) {
                int a_node = w.cluster.classes[c].gpus;
                if (gpus > options.max_gpus || (gpus > a_node && gpus % a_node != 0)) continue;
                Config config;
                config.class_id = c;
                config.nodes = std::max(1, gpus / a_node);
                config.gpus = gpus / config.nodes;
                config.run_s = config.run_high_s = std::max<Seconds>(1, std::llround(iterations / speed));
                j.configs.push_back(config);
            }
        auto right = std::find_if(j.configs.begin(), j.configs.end(),
                                  [&](const Config& c) { return c.nodes * c.gpus == asked; });
        if (right != j.configs.end()) std::rotate(j.configs.begin(), right, right + 1);
        for (const auto& c : j.configs) job.true_run_s.push_back(c.run_s);
        return true;
    });
    return w;
}

}  // namespace squall::sim
