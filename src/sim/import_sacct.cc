// SPDX-License-Identifier: GPL-3.0-or-later
// Slurm's own accounting: what was asked (time limit, GPUs of AllocTRES, the words in AdminComment, --deadline in the
// submit line) and what happened (start and end). Rows without GPUs, job steps and jobs that never ran are left out and
// counted. Where no cluster is given, one is made up that is as large as the most GPUs ever in use at once.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>

#include "src/core/amount.h"
#include "src/core/configs.h"
#include "src/core/due_time.h"
#include "src/core/request.h"
#include "src/sim/importers.h"

namespace squall::sim {
namespace {

struct Row {
    SimJob job;
    AskedShape asked;
    Request request;
    Seconds limit_s = 0, start = 0, end = 0;
};

// "2026-01-31T18:00:00" in the local zone, or an epoch second.
std::optional<Seconds> parse_stamp(const std::string& text) {
    if (auto epoch = parse_number(text)) {
        if (*epoch < 0 || *epoch > 1e11) return {};
        return std::llround(*epoch);
    }
    std::tm tm{};
    char rest = 0;
    if (std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%d%c", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min,
                    &tm.tm_sec, &rest) != 6)
        return {};
    tm.tm_year -= 1900, tm.tm_mon -= 1, tm.tm_isdst = -1;
    if (tm.tm_mon < 0 || tm.tm_mon > 11 || tm.tm_mday < 1 || tm.tm_mday > 31) return {};
    std::time_t at = std::mktime(&tm);
    if (at < 0) return {};
    return at;
}

bool is_none(const std::string& text) { return text.empty() || text == "Unknown" || text == "None" || text == "N/A"; }

// The value of --NAME=VALUE or --NAME VALUE in a command line.
std::string option_of(const std::string& line, const std::string& name) {
    auto at = line.find("--" + name);
    if (at == line.npos) return "";
    at += name.size() + 2;
    if (at >= line.size() || (line[at] != '=' && line[at] != ' ')) return "";
    auto end = line.find(' ', ++at);
    std::string value = line.substr(at, end - at);
    std::erase_if(value, [](char c) { return c == '"' || c == '\''; });
    return value;
}

// gres/gpu, gres/gpu:TYPE, cpu, mem and node of a TRES text; false: a number in it is none.
bool read_tres(const std::string& text, AskedShape& asked, std::string& complaint) {
    std::size_t from = 0;
    int typed = 0;
    while (from < text.size()) {
        auto comma = std::min(text.find(',', from), text.size());
        std::string part = text.substr(from, comma - from);
        from = comma + 1;
        auto equal = part.find('=');
        if (equal == part.npos) return complaint = "'" + part + "' is no TRES", false;
        std::string name = part.substr(0, equal), value = part.substr(equal + 1);
        if (name.rfind("gres/gpu", 0) != 0 && name != "node" && name != "cpu" && name.rfind("gres/shard", 0) != 0)
            continue;
        auto count = parse_number(value);
        if (!count || *count < 0 || *count > 1e6) return complaint = part + ": not a count", false;
        int n = static_cast<int>(*count);
        if (name == "node") asked.nodes = n;
        if (name == "cpu") asked.cpus = std::max(1, n);
        if (name == "gres/gpu") asked.gpus = n;
        if (name.rfind("gres/gpu:", 0) == 0) asked.gpu_type = name.substr(9), typed += n;
        if (name == "gres/shard") asked.shards = n;
    }
    asked.gpus = std::max(asked.gpus, typed);
    return true;
}

Seconds read_limit(Table& table) {
    const auto& raw = table.text("TimelimitRaw");
    const auto& text = table.text("Timelimit");
    for (const auto* value : {&raw, &text})
        if (is_none(*value) || *value == "UNLIMITED" || *value == "Partition_Limit")
            continue;
        else if (value == &raw)
            return 60 * table.whole("TimelimitRaw", 0, 10000000);
        else if (auto limit = parse_duration(*value))
            return *limit;
        else
            table.complain("Timelimit=" + *value + ": not a time");
    return 0;
}

// false: no GPU job that ran.
bool read_row(Table& table, Row& row, const ImportOptions& options) {
    const auto& id = table.column("JobIDRaw") >= 0 ? table.text("JobIDRaw") : table.text("JobID");
    if (id.find('.') != id.npos) return false;
    auto number = parse_number(id.substr(0, id.find_first_of("_+")));
    if (!number || *number < 1 || *number > 4e9) return table.complain("JobID=" + id + ": not a job id"), true;
    const auto& tres = table.text("AllocTRES").empty() ? table.text("ReqTRES") : table.text("AllocTRES");
    std::string complaint;
    if (!read_tres(tres, row.asked, complaint)) return table.complain(complaint), true;
    if (row.asked.gpus == 0 && row.asked.shards == 0) return false;
    if (is_none(table.text("Start")) || is_none(table.text("End"))) return false;
    auto submit = parse_stamp(table.text("Submit")), start = parse_stamp(table.text("Start"));
    auto end = parse_stamp(table.text("End"));
    for (const auto& [name, at] : {std::pair("Submit", submit), {"Start", start}, {"End", end}})
        if (!at) return table.complain(fmt::format("{}={}: not a time", name, table.text(name))), true;
    if (*start < *submit) return table.complain("Start is before Submit: time runs backwards"), true;
    if (*end < *start) return table.complain("End is before Start: time runs backwards"), true;
    row.start = *start, row.end = *end;
    row.limit_s = read_limit(table);
    auto& job = row.job.job;
    job.id = static_cast<std::uint32_t>(*number);
    job.name = table.text("JobName"), job.user = table.text("User");
    job.account = table.text("Account"), job.partition = table.text("Partition");
    job.release = *submit;
    auto eligible = parse_stamp(table.text("Eligible"));
    if (eligible && *eligible > *submit && *eligible <= *start) job.release = *eligible;
    if (auto comment = parse_admin_comment(table.text("AdminComment"))) row.request = comment->request;
    if (auto text = option_of(table.text("SubmitLine"), "deadline"); !text.empty() && !row.request.due) {
        row.request.due = parse_due_time(text, *submit);
        row.request.hard = row.request.due.has_value();
    }
    Seconds run = row.limit_s > 0 ? row.limit_s : std::max<Seconds>(1, row.end - row.start);
    if (!row.request.due && options.due_limits > 0)
        row.request.due = job.release + std::llround(options.due_limits * static_cast<double>(run));
    job.due = row.request.due;
    job.due_is_hard = row.request.hard;
    job.late_micro_h = row.request.late_micro_h.value_or(options.late_micro_h);
    job.burst = row.request.burst;
    job.checkpointable = row.request.checkpointable;
    job.restart_s = row.request.checkpoint_s;
    job.time_limit_s = row.limit_s;
    return true;
}

// As many nodes of each GPU type as were ever busy at once, each as large as the largest share of a node asked for.
Snapshot make_cluster(const std::vector<Row>& rows, std::vector<std::string>& notes) {
    struct Use {
        std::vector<std::pair<Seconds, int>> steps;
        int a_node = 1, nodes = 1;
        bool shards = false;
    };
    std::map<std::string, Use> types;
    for (const auto& row : rows) {
        auto& use = types[row.asked.gpu_type];
        int nodes = std::max(1, row.asked.nodes), gpus = std::max(1, row.asked.gpus);
        use.steps.emplace_back(row.start, gpus);
        use.steps.emplace_back(std::max(row.end, row.start + 1), -gpus);
        while (use.a_node < (gpus + nodes - 1) / nodes) use.a_node *= 2;
        use.nodes = std::max(use.nodes, nodes);
        use.shards |= row.asked.shards > 0;
    }
    Snapshot cluster;
    for (auto& [type, use] : types) {
        std::sort(use.steps.begin(), use.steps.end());
        int now = 0, peak = 0;
        for (auto [at, change] : use.steps) peak = std::max(peak, now += change);
        NodeClass c;
        c.name = type.empty() ? "gpu" : type;
        c.gpu_type = type;
        c.gpus = use.a_node;
        c.shards_per_gpu = use.shards ? 100 : 0;
        int nodes = std::max(use.nodes, (peak + c.gpus - 1) / c.gpus);
        notes.push_back(fmt::format("no --cluster: {} nodes with {} {} GPUs each, as many as were busy at once", nodes,
                                    c.gpus, c.name));
        add_class(cluster, c, nodes);
    }
    return cluster;
}

void add_configs(Row& row, const Snapshot& cluster, const std::vector<ClassUse>& usable) {
    auto& asked = row.asked;
    asked.nodes = std::max(1, asked.nodes);
    asked.cpus_per_node = (asked.cpus + asked.nodes - 1) / asked.nodes;
    if (asked.shards > 0) asked.gpus = 0;
    if (asked.gpus > 0) asked.gpus_per_node = (asked.gpus + asked.nodes - 1) / asked.nodes;
    RuntimeModel runtimes;
    Seconds took = std::max<Seconds>(1, row.end - row.start);
    runtimes.entries = row.request.runtimes;
    runtimes.time_limit_s = row.limit_s > 0 ? row.limit_s : took;
    auto made = make_configs(row.request, asked, cluster.classes, usable, runtimes);
    auto& job = row.job.job;
    job.configs = std::move(made.configs);
    if (job.configs.empty()) return;
    double factor = static_cast<double>(took) / static_cast<double>(std::max<Seconds>(1, job.configs[0].run_s));
    for (const auto& c : job.configs)
        row.job.true_run_s.push_back(std::max<Seconds>(1, std::llround(static_cast<double>(c.run_s) * factor)));
}

}  // namespace

Workload import_sacct(const std::string& path, const ImportOptions& options) {
    Workload w;
    w.runs_from_limits = true;
    Table table(path, '|', {"Submit", "Start", "End", "AllocTRES"});
    if (!table.error().empty()) return w.error = table.error(), w;
    if (table.column("JobIDRaw") < 0 && table.column("JobID") < 0)
        return w.error = path + ":1: no column JobIDRaw or JobID", w;
    std::vector<Row> rows;
    while (table.next()) {
        ++w.rows;
        Row row;
        row.job.line = table.line();
        bool wanted = table.complaint().empty() && read_row(table, row, options);
        if (!table.complaint().empty())
            w.bad.push_back(table.bad());
        else if (wanted)
            rows.push_back(std::move(row));
        else
            ++w.left_out;
    }
    w.cluster = options.cluster ? *options.cluster : make_cluster(rows, w.notes);
    std::vector<ClassUse> usable;
    for (bool rented : {false, true})
        for (int c = 0; c < static_cast<int>(w.cluster.classes.size()); ++c) {
            auto nodes = std::count_if(w.cluster.nodes.begin(), w.cluster.nodes.end(),
                                       [&](const Node& n) { return n.class_id == c; });
            if (w.cluster.classes[c].rented == rented) usable.push_back({c, static_cast<int>(nodes)});
        }
    w.jobs.reserve(rows.size());
    for (auto& row : rows) {
        add_configs(row, w.cluster, usable);
        w.jobs.push_back(std::move(row.job));
    }
    return w;
}

}  // namespace squall::sim
