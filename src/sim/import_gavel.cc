// SPDX-License-Identifier: GPL-3.0-or-later
// Measured speeds of training jobs on several GPU types (JSON), and a trace of jobs: tab-separated job type, command,
// folder, steps argument, data folder, total steps, scale factor, …, arrival time last. Given the JSON alone, jobs are
// drawn from it as that study draws them: Poisson arrivals, one to eight GPUs, durations spread over powers of ten.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "src/core/json.h"
#include "src/sim/dice.h"
#include "src/sim/importers.h"

namespace squall::sim {
namespace {

namespace fs = std::filesystem;

constexpr int kDrawnJobs = 200;
constexpr double kMeanGap_s = 600;

// model → GPU type → (GPUs → steps per second), alone on them
using Speeds = std::map<std::string, std::map<std::string, std::map<int, double>>>;

bool read_speeds(const std::string& path, Workload& w, Speeds& speeds, std::vector<std::string>& types) {
    std::string error;
    Json root = json_read(path, &error);
    if (!root) return w.error = error, false;
    const char* type;
    json_t* jobs;
    json_object_foreach(root.get(), type, jobs) {
        if (std::string(type).find('_') != std::string::npos) continue;  // spread over nodes
        types.emplace_back(type);
        const char* key;
        json_t* entry;
        json_object_foreach(jobs, key, entry) {
            std::string text = key;  // ('ResNet-18 (batch size 16)', 1)
            auto open = text.find('\''), close = text.rfind('\''), comma = text.rfind(',');
            double speed = json_number_value(json_object_get(entry, "null"));
            if (open == text.npos || close <= open || comma == text.npos || speed <= 0) continue;
            int gpus = std::atoi(text.c_str() + comma + 1);
            if (gpus > 0) speeds[text.substr(open + 1, close - open - 1)][type][gpus] = speed;
        }
    }
    std::sort(types.begin(), types.end(), std::greater<>());  // v100 first
    if (speeds.empty()) w.error = path + ":1: no speeds in it";
    return w.error.empty();
}

void default_cluster(Snapshot& cluster, const std::vector<std::string>& types) {
    for (const auto& type : types) {
        NodeClass c;
        c.name = c.gpu_type = type;
        c.gpus = 4;
        add_class(cluster, c, 6);
    }
}

// Configurations of a job on every class whose type was measured; the asked number of GPUs first.
void add_configs(SimJob& job, const Snapshot& cluster, const std::map<std::string, std::map<int, double>>& speeds,
                 int asked, double steps) {
    for (bool first : {true, false})
        for (int c = 0; c < static_cast<int>(cluster.classes.size()); ++c) {
            auto type = speeds.find(cluster.classes[c].gpu_type);
            if (type == speeds.end()) continue;
            for (auto [gpus, speed] : type->second) {
                int a_node = cluster.classes[c].gpus;
                if ((gpus == asked) != first || (gpus > a_node && gpus % a_node != 0)) continue;
                Config config;
                config.class_id = c;
                config.nodes = std::max(1, gpus / a_node);
                config.gpus = gpus / config.nodes;
                config.run_s = config.run_high_s = std::max<Seconds>(1, std::llround(steps / speed));
                job.job.configs.push_back(config);
                job.true_run_s.push_back(config.run_s);
            }
        }
}

void finish_job(SimJob& job, const ImportOptions& options) {
    auto& j = job.job;
    j.checkpointable = true;
    j.restart_s = options.restart_s;
    j.late_micro_h = options.late_micro_h;
    if (options.due_limits > 0 && !j.due && !j.configs.empty())
        j.due = j.release + std::llround(options.due_limits * static_cast<double>(j.configs[0].run_s));
}

void draw_jobs(Workload& w, const Speeds& speeds, const ImportOptions& options) {
    Dice dice(1);
    std::vector<const Speeds::value_type*> models;
    for (const auto& model : speeds) models.push_back(&model);
    double at = 0;
    for (int i = 0; i < kDrawnJobs; ++i) {
        SimJob job;
        const auto& model = *models[dice.whole(0, static_cast<int>(models.size()) - 1)];
        int roll = dice.whole(1, 100), asked = roll <= 70 ? 1 : roll <= 80 ? 2 : roll <= 95 ? 4 : 8;
        double minutes = std::pow(10, dice.chance(80) ? dice.between(1.5, 3) : dice.between(3, 4));
        job.line = 1;
        job.job.id = static_cast<std::uint32_t>(i + 1);
        job.job.name = model.first;
        job.job.release = std::llround(at);
        at += dice.exponential(kMeanGap_s);
        double speed = 0;
        while (speed <= 0 && asked >= 1) {  // not every model was measured on many GPUs
            for (const auto& [type, counts] : model.second)
                if (auto found = counts.find(asked); found != counts.end()) speed = std::max(speed, found->second);
            if (speed <= 0) asked /= 2;
        }
        if (speed <= 0) continue;
        add_configs(job, w.cluster, model.second, asked, minutes * 60 * speed);
        finish_job(job, options);
        ++w.rows;
        w.jobs.push_back(std::move(job));
    }
    w.notes.push_back(fmt::format("no trace given: {} jobs drawn from the measured ones, seed 1", w.jobs.size()));
}

void read_trace(const std::string& path, Workload& w, const Speeds& speeds, const ImportOptions& options) {
    Table table(path, '\t', {}, false);
    if (!table.error().empty()) {
        w.error = table.error();
        return;
    }
    double last = 0;
    read_rows(table, w, [&](SimJob& job) {
        const auto& f = table.fields();
        if (f.size() < 8)
            return table.complain(fmt::format("{} fields of 8 or more: is the row cut off?", f.size())), true;
        auto model = speeds.find(f[0]);
        if (model == speeds.end()) table.complain("job type " + f[0] + ": no speed is known");
        auto steps = parse_number(f[5]), scale = parse_number(f[6]), arrival = parse_number(f.back());
        if (!steps || *steps < 1) table.complain("total steps " + f[5] + ": not a number from 1");
        if (!scale || *scale < 1 || *scale > 1024) table.complain("scale factor " + f[6] + ": not a number from 1");
        if (!arrival || *arrival < 0) table.complain("arrival time " + f.back() + ": not a number from 0");
        if (arrival && *arrival < last) table.complain("arrival time " + f.back() + ": time runs backwards");
        if (!table.complaint().empty()) return true;
        last = *arrival;
        job.job.id = static_cast<std::uint32_t>(w.rows);
        job.job.name = f[0];
        job.job.release = std::llround(*arrival);
        add_configs(job, w.cluster, model->second, static_cast<int>(*scale), *steps);
        finish_job(job, options);
        return true;
    });
}

std::string json_beside(const std::string& path) {
    fs::path parent = fs::path(path).parent_path();
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(parent.empty() ? "." : parent, none))
        if (entry.path().extension() == ".json" &&
            entry.path().filename().string().find("throughputs") != std::string::npos)
            return entry.path().string();
    return "";
}

}  // namespace

Workload import_gavel(const std::string& path, const ImportOptions& options) {
    Workload w;
    bool alone = fs::path(path).extension() == ".json";
    std::string speeds_path = alone ? path : json_beside(path);
    if (speeds_path.empty()) return w.error = path + ": no *throughputs*.json beside it", w;
    Speeds speeds;
    std::vector<std::string> types;
    if (!read_speeds(speeds_path, w, speeds, types)) return w;
    if (options.cluster)
        w.cluster = *options.cluster;
    else
        default_cluster(w.cluster, types);
    if (alone)
        draw_jobs(w, speeds, options);
    else
        read_trace(path, w, speeds, options);
    return w;
}

}  // namespace squall::sim
