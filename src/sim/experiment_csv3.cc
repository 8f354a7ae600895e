// SPDX-License-Identifier: GPL-3.0-or-later
// csv3: the published ancestor's own instances under its own rules (free moves, no boot), against the best of the seven
// methods it published on each. Its figures are for seed
// 1000.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "src/sim/csv.h"
#include "src/sim/csv3_instance.h"
#include "src/sim/experiment.h"
#include "src/sim/results.h"

namespace squall::sim {
namespace {

namespace fs = std::filesystem;

struct Published {
    std::string method;
    double total = 0;
};
// "NODES LOAD SEED" → the best.
std::map<std::string, Published> read_published(const std::string& path, std::string& error) {
    std::map<std::string, Published> best;
    Table table(path, ',', {"nodes", "load", "seed", "method", "total"});
    error = table.error();
    while (error.empty() && table.next()) {
        auto& b = best[table.text("nodes") + " " + table.text("load") + " " + table.text("seed")];
        double total = table.number("total", 0, 1e12);
        if (!table.complaint().empty()) error = fmt::format("{}:{}: {}", path, table.line(), table.complaint());
        if (b.method.empty() || total < b.total) b = {table.text("method"), total};
    }
    return best;
}

Workload instance(const Csv3Options& options, std::string& error) {
    std::string folder = (fs::temp_directory_path() / "squall-sim-XXXXXX").string();
    Workload w;
    if (!mkdtemp(folder.data())) return error = folder + ": cannot be made", w;
    error = write_csv3(folder, options);
    if (error.empty()) w = read_workload("csv3:" + folder, {});
    if (error.empty()) error = w.error;
    std::error_code none;
    fs::remove_all(folder, none);
    return w;
}

double money(Micro micro) { return static_cast<double>(micro) / 1e6; }

}  // namespace

ExperimentTable experiment_csv3(const ExperimentOptions& options) {
    ExperimentTable t;
    t.title = "csv3: the published instances under their own rules";
    t.command = "squall-sim experiment csv3";
    t.columns = {"nodes", "load", "best published", "its total", "squall", "tardiness", "rent", "cheaper", "seconds"};
    t.timed_columns = {8};
    t.json.reset(json_array());
    auto path = find_data(options.data, "published/published_schedulers.csv");
    if (path.empty()) path = find_data(options.data, "published_schedulers.csv");
    if (path.empty()) return failed(std::move(t), "published_schedulers.csv is not there; say where with --data");
    auto published = read_published(path, t.error);
    if (!t.error.empty()) return t;
    std::vector<double> heavy;
    for (int nodes : {3, 10})
        for (const char* load : {"high", "mixed", "low"}) {
            if (options.progress) options.progress(fmt::format("{} nodes, {} load", nodes, load));
            auto w = instance({nodes, 0, load, 1000}, t.error);
            if (!t.error.empty()) return t;
            PolicyOptions policy;
            policy.elastic.plays = options.plays;
            auto r = replay_with(w, "squall", policy);
            const auto& best = published[fmt::format("{} {} 1000", nodes, load)];
            double cheaper = 100 * (1 - money(r.total()) / best.total), seconds = 0;
            for (double s : r.decision_s) seconds += s;
            if (std::string(load) != "low") heavy.push_back(cheaper);
            t.rows.push_back({std::to_string(nodes), load, best.method, fmt::format("{:.0f}", best.total),
                              fmt::format("{:.0f}", money(r.total())), fmt::format("{:.0f}", money(r.lateness_cost)),
                              fmt::format("{:.0f}", money(r.rent)), fmt::format("{:.1f} %", cheaper),
                              fmt::format("{:.2f}", seconds)});
            json_t* row = json_object();
            json_object_set_new(row, "nodes", ::json_integer(nodes));
            json_object_set_new(row, "load", json_string(load));
            json_object_set_new(row, "seed", ::json_integer(1000));
            json_object_set_new(row, "published_method", json_string(best.method.c_str()));
            json_object_set_new(row, "published", json_real(best.total));
            json_object_set_new(row, "total", json_real(money(r.total())));
            json_object_set_new(row, "lateness_cost", json_real(money(r.lateness_cost)));
            json_object_set_new(row, "rent", json_real(money(r.rent)));
            json_object_set_new(row, "cheaper_pct", json_real(cheaper));
            json_object_set_new(row, "seconds", json_real(seconds));
            json_array_append_new(t.json.get(), row);
        }
    t.remarks.push_back(
        fmt::format("Median over high and mixed load: {:.1f} % cheaper. Amounts in $; seed 1000.", median_of(heavy)));
    return t;
}

}  // namespace squall::sim
