// SPDX-License-Identifier: GPL-3.0-or-later
// Logs of the Parallel Workloads Archive (Standard Workload Format, 18 fields). A processor counts as one GPU; nodes
// are as large as the header's MaxProcs / MaxNodes. Jobs that never ran are left out and counted.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "src/sim/importers.h"

namespace squall::sim {
namespace {

struct Row {
    SimJob job;
    int procs = 1;
};

struct Header {
    int max_procs = 0, max_nodes = 0;
};

void read_header(const std::string& line, Header& header) {
    auto value = [&](const char* key, int& to) {
        auto at = line.find(key);
        if (at != line.npos) to = std::max(0, std::atoi(line.c_str() + at + std::string(key).size()));
    };
    value("MaxProcs:", header.max_procs);
    value("MaxNodes:", header.max_nodes);
}

// "" or what is wrong. wanted = false: it never ran.
std::string read_row(const std::string& line, double last_submit, const ImportOptions& options, Row& row,
                     bool& wanted) {
    std::istringstream in(line);
    std::vector<double> f;
    for (std::string word; in >> word;) {
        auto number = parse_number(word);
        if (!number) return "'" + word + "' is no number";
        f.push_back(*number);
    }
    if (f.size() < 11) return fmt::format("{} fields of 18: is the row cut off?", f.size());
    double submit = f[1], run = f[3], limit = f[8];
    double procs = f[4] > 0 ? f[4] : f[7];
    if (submit < 0) return fmt::format("submit time {}: negative", submit);
    if (submit < last_submit) return fmt::format("submit time {}: time runs backwards", submit);
    if (run < -1) return fmt::format("run time {}: negative", run);
    wanted = run >= 0 && procs >= 1 && !(run == 0 && f[10] != 1);
    if (!wanted) return "";
    if (procs > 1e7 || run > 1e9 || submit > 1e12) return "a count or time that cannot be";
    auto& job = row.job.job;
    job.id = f[0] >= 1 && f[0] < 4e9 ? static_cast<std::uint32_t>(f[0]) : static_cast<std::uint32_t>(row.job.line);
    job.release = std::llround(submit);
    job.time_limit_s = limit > 0 ? std::llround(limit) : 0;
    row.procs = static_cast<int>(procs);
    Seconds took = std::max<Seconds>(1, std::llround(run));
    Seconds known = job.time_limit_s > 0 ? job.time_limit_s : took;
    if (options.due_limits > 0) job.due = job.release + std::llround(options.due_limits * static_cast<double>(known));
    job.late_micro_h = options.late_micro_h;
    row.job.true_run_s.push_back(took);
    Config config;
    config.run_s = config.run_high_s = known;
    job.configs.push_back(config);
    return "";
}

}  // namespace

Workload import_swf(const std::string& path, const ImportOptions& options) {
    Workload w;
    w.runs_from_limits = true;
    std::ifstream in(path);
    if (!in) return w.error = path + ": cannot be read", w;
    Header header;
    std::vector<Row> rows;
    double last = 0;
    int line_number = 0, largest = 1;
    for (std::string line; std::getline(in, line);) {
        ++line_number;
        if (auto first = line.find_first_not_of(" \t\r"); first == line.npos) continue;
        if (line[line.find_first_not_of(" \t")] == ';') {
            read_header(line, header);
            continue;
        }
        ++w.rows;
        Row row;
        row.job.line = line_number;
        bool wanted = false;
        auto wrong = read_row(line, last, options, row, wanted);
        if (!wrong.empty()) {
            w.bad.push_back({path, line_number, wrong});
        } else if (!wanted) {
            ++w.left_out;
        } else {
            last = static_cast<double>(row.job.job.release);
            largest = std::max(largest, row.procs);
            rows.push_back(std::move(row));
        }
    }
    if (options.cluster) {
        w.cluster = *options.cluster;
    } else {
        NodeClass c;
        c.name = "proc";
        int procs = header.max_procs > 0 ? header.max_procs : largest;
        int nodes = header.max_nodes > 0 ? header.max_nodes : (procs + 7) / 8;
        c.gpus = std::max(1, procs / std::max(1, nodes));
        add_class(w.cluster, c, (procs + c.gpus - 1) / c.gpus);
        w.notes.push_back(fmt::format("a processor counts as one GPU: {} nodes with {} each{}", w.cluster.nodes.size(),
                                      c.gpus, header.max_procs > 0 ? "" : "; the file has no MaxProcs"));
    }
    for (auto& row : rows) {
        auto& configs = row.job.job.configs;
        Config config = configs.front();
        Seconds took = row.job.true_run_s.front();
        configs.clear();
        row.job.true_run_s.clear();
        for (bool rented : {false, true})
            for (int c = 0; c < static_cast<int>(w.cluster.classes.size()); ++c) {
                const auto& spec = w.cluster.classes[c];
                if (spec.rented != rented || spec.gpus < 1) continue;
                config.class_id = c;
                config.nodes = (row.procs + spec.gpus - 1) / spec.gpus;
                config.gpus = (row.procs + config.nodes - 1) / config.nodes;
                configs.push_back(config);
                row.job.true_run_s.push_back(took);
            }
        w.jobs.push_back(std::move(row.job));
    }
    return w;
}

}  // namespace squall::sim
