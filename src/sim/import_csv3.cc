// SPDX-License-Identifier: GPL-3.0-or-later
// The published ancestor's three files. Every node is a slot that holds any one machine type at a time: a class a type,
// each with as many rented nodes as there are slots, under one capacity group. Machines open and jobs move for free.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "src/sim/importers.h"

namespace squall::sim {
namespace {

struct Run {
    std::string machine;
    int gpus, machine_gpus, line;
    Micro price_micro_h;
    Seconds run_s;
};
using Runs = std::map<std::string, std::vector<Run>>;

bool read_runs(const std::string& path, Workload& w, Runs& runs) {
    Table table(path, ',', {"UniqueJobsID", "VMtype", "nGPUs", "max_nGPUs", "cost", "ExecutionTime"});
    if (!table.error().empty()) return w.error = table.error(), false;
    while (table.next()) {
        Run run;
        run.machine = table.text("VMtype");
        run.line = table.line();
        run.gpus = static_cast<int>(table.whole("nGPUs", 1, 1024));
        run.machine_gpus = static_cast<int>(table.whole("max_nGPUs", 1, 1024));
        run.price_micro_h = std::llround(table.number("cost", 0, 1e6) * 1e6);
        run.run_s = std::llround(table.number("ExecutionTime", 0, 1e9));
        if (run.run_s < 1) table.complain("ExecutionTime=" + table.text("ExecutionTime") + ": less than a second");
        if (run.gpus > run.machine_gpus) table.complain(fmt::format("nGPUs={}: more than max_nGPUs", run.gpus));
        if (table.complaint().empty())
            runs[table.text("UniqueJobsID")].push_back(run);
        else
            w.bad.push_back(table.bad());
    }
    return true;
}

int count_slots(const std::string& path, Workload& w) {
    Table table(path, ',', {"Nodes"});
    if (!table.error().empty()) return w.error = table.error(), 0;
    int slots = 0;
    while (table.next()) ++slots;
    if (slots == 0) w.error = path + ":1: no nodes";
    return slots;
}

int class_of(Snapshot& s, const Run& run) {
    for (int c = 0; c < static_cast<int>(s.classes.size()); ++c)
        if (s.classes[c].name == run.machine) return c;
    NodeClass c;
    c.name = c.gpu_type = run.machine;
    c.gpus = run.machine_gpus;
    c.rented = true;
    c.price_micro_h = run.price_micro_h;
    s.classes.push_back(c);
    return static_cast<int>(s.classes.size()) - 1;
}

void add_slots(Snapshot& s, int slots) {
    CapacityGroup group{"slots", {}, slots};
    for (int c = 0; c < static_cast<int>(s.classes.size()); ++c) {
        group.class_ids.push_back(c);
        for (int n = 0; n < slots; ++n) {
            Node node;
            node.name = fmt::format("{}-{}", s.classes[c].name, n + 1);
            node.class_id = c;
            node.state = NodeState::powered_down;
            s.nodes.push_back(node);
        }
    }
    s.groups.push_back(group);
}

void add_configs(Workload& w, SimJob& job, const std::vector<Run>& runs, Table& table) {
    for (const auto& run : runs) {
        Config config;
        config.class_id = class_of(w.cluster, run);
        if (w.cluster.classes[config.class_id].gpus != run.machine_gpus)
            table.complain(fmt::format("line {} of SelectJobs_times.csv: {} had {} GPUs before", run.line, run.machine,
                                       w.cluster.classes[config.class_id].gpus));
        config.gpus = run.gpus;
        config.run_s = config.run_high_s = run.run_s;
        job.job.configs.push_back(config);
        job.true_run_s.push_back(run.run_s);
    }
}

}  // namespace

Workload import_csv3(const std::string& path, const ImportOptions&) {
    Workload w;
    w.rules.free_moves = true;
    Runs runs;
    if (!read_runs(path + "/SelectJobs_times.csv", w, runs)) return w;
    int slots = count_slots(path + "/tNodes.csv", w);
    if (!w.error.empty()) return w;
    Table table(path + "/Lof_Selectjobs.csv", ',', {"UniqueJobsID", "SubmissionTime", "Deadline", "Tardinessweight"});
    if (!table.error().empty()) return w.error = table.error(), w;
    double last = 0;
    read_rows(table, w, [&](SimJob& job) {
        double submit = table.number("SubmissionTime", 0, 1e9), due = table.number("Deadline", 0, 1e9);
        if (submit < last) table.complain(fmt::format("SubmissionTime={}: time runs backwards", submit));
        if (due < submit) table.complain(fmt::format("Deadline={}: before the submission", due));
        if (table.complaint().empty()) last = submit;
        job.job.id = static_cast<std::uint32_t>(w.rows);
        job.job.name = table.text("UniqueJobsID");
        job.job.release = std::llround(submit);
        job.job.due = std::llround(due);
        job.job.late_micro_h = std::llround(table.number("Tardinessweight", 0, 1e6) * 3600e6);
        job.job.checkpointable = true;
        auto known = runs.find(job.job.name);
        if (known == runs.end())
            table.complain(job.job.name + ": no row of SelectJobs_times.csv says how long it runs");
        else
            add_configs(w, job, known->second, table);
        return true;
    });
    add_slots(w.cluster, slots);
    return w;
}

}  // namespace squall::sim
