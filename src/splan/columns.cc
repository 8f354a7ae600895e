// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/splan/columns.h"

#include <fmt/format.h>

#include <cstdlib>

#include "src/core/amount.h"

namespace squall::splan {
namespace {

// Today's time of day, else the day too; "-" where there is none.
std::string clock_or_dash(const std::optional<Seconds>& at, Seconds now) {
    if (!at) return "-";
    auto text = format_clock(*at, now);
    return text.size() > 8 ? text.substr(5, 11) : text;  // MM-DD HH:MM
}

std::string text_or_dash(const std::string& text) { return text.empty() ? "-" : text; }

Cell state_cell(const JobLine& job, const View&) {
    bool late = job.slack() && *job.slack() < 0;
    if (job.finished && job.slurm_state != "COMPLETED") return {job.slurm_state, Tone::bad};
    if (job.finished) return {late ? "done late" : "done", late ? Tone::bad : Tone::good};
    if (job.state == "unplaceable") return {job.state, Tone::bad};
    if (late) return {job.state + " late", Tone::bad};
    return {text_or_dash(job.state), job.state == "running" ? Tone::good : Tone::plain};
}

Cell slack_cell(const JobLine& job, const View&) {
    auto slack = job.slack();
    if (!slack) return {"-", Tone::dim};
    return {short_span(*slack), *slack < 0 ? Tone::bad : *slack < 60 ? Tone::warn : Tone::plain};
}

Cell where_cell(const JobLine& job, const View&) {
    return {text_or_dash(job.where), job.where == "rented" ? Tone::warn : Tone::plain};
}

template <typename Row>
Column<Row> text_column(const char* name, char letter, const char* header, const char* help, std::string Row::*member) {
    return {name, letter, header, 0, false, help, [member](const Row& row, const View&) {
                return Cell{text_or_dash(row.*member)};
            }};
}

template <typename Row>
Column<Row> money_column(const char* name, char letter, const char* header, const char* help, Micro Row::*member) {
    return {name, letter, header, 0, true, help, [member](const Row& row, const View&) {
                return Cell{format_amount(row.*member)};
            }};
}

Column<ClassRow> count_column(const char* name, char letter, const char* header, const char* help,
                              int ClassRow::*member) {
    return {name, letter, header, 0, true, help, [member](const ClassRow& row, const View&) {
                return Cell{fmt::format("{}", row.*member)};
            }};
}

Column<JobLine> time_column(const char* name, char letter, const char* header, const char* help,
                            std::optional<Seconds> JobLine::*member) {
    return {name, letter, header, 8, true, help, [member](const JobLine& job, const View& view) {
                return Cell{clock_or_dash(job.*member, view.now)};
            }};
}

}  // namespace

std::string short_span(Seconds s) {
    Seconds t = std::llabs(s);
    auto text = t < kHour  ? fmt::format("{}:{:02}", t / 60, t % 60)
                : t < kDay ? fmt::format("{}:{:02}:{:02}", t / kHour, t % kHour / 60, t % 60)
                           : fmt::format("{}-{:02}:{:02}", t / kDay, t % kDay / kHour, t % kHour / 60);
    return (s < 0 ? "-" : "+") + text;
}

const std::vector<Column<ClassRow>>& class_columns() {
    static const std::vector<Column<ClassRow>> columns = {
        text_column("class", 'c', "CLASS", "NodeClass of squall.conf", &ClassRow::name),
        text_column("type", 't', "TYPE", "GPU type", &ClassRow::gpu_type),
        count_column("nodes", 'D', "NODES", "nodes", &ClassRow::nodes),
        {"on", 'u', "ON", 0, true, "nodes powered or leased, +booting",
         [](const ClassRow& row, const View&) {
             return Cell{row.booting > 0 ? fmt::format("{}+{}", row.up, row.booting) : fmt::format("{}", row.up),
                         row.booting > 0 ? Tone::warn : Tone::plain};
         }},
        count_column("down", 'x', "DOWN", "nodes drained, down or blocked", &ClassRow::unavailable),
        count_column("gpus", 'G', "GPUS", "GPUs of all its nodes", &ClassRow::gpus),
        {"used", 'U', "USED", 0, true, "GPUs in use, shared ones included",
         [](const ClassRow& row, const View&) {
             return Cell{fmt::format("{}", row.gpus_used), row.gpus_used > 0 ? Tone::good : Tone::dim};
         }},
        {"free", 'F', "FREE", 0, true, "GPUs not in use",
         [](const ClassRow& row, const View&) { return Cell{fmt::format("{}", row.gpus - row.gpus_used)}; }},
        count_column("shared", 's', "SHARED", "GPUs shared by small jobs", &ClassRow::gpus_shared),
        {"where", 'w', "WHERE", 0, false, "local or rented",
         [](const ClassRow& row, const View&) { return Cell{row.rented ? "rented" : "local"}; }},
        {"cost", 'C', "COST/H", 0, true, "what it costs an hour at this moment",
         [](const ClassRow& row, const View&) {
             return Cell{format_amount(row.cost_micro_h),
                         row.rented && row.cost_micro_h > 0 ? Tone::warn : Tone::plain};
         }},
    };
    return columns;
}

const std::vector<Column<JobLine>>& job_columns() {
    static const std::vector<Column<JobLine>> columns = {
        {"jobid", 'i', "JOBID", 6, true, "Slurm's job id",
         [](const JobLine& job, const View&) { return Cell{fmt::format("{}", job.id)}; }},
        text_column("name", 'j', "NAME", "job name", &JobLine::name),
        text_column("user", 'u', "USER", "user", &JobLine::user),
        text_column("account", 'a', "ACCOUNT", "account", &JobLine::account),
        text_column("partition", 'P', "PARTITION", "partition", &JobLine::partition),
        {"state", 't', "STATE", 0, false,
         "parked, planned, released, running, done, unplaceable; 'late' where it will be", state_cell},
        text_column("slurmstate", 'T', "SLURM", "Slurm's state", &JobLine::slurm_state),
        text_column("reason", 'r', "REASON", "Slurm's reason while pending", &JobLine::reason),
        time_column("due", 'd', "DUE", "due date", &JobLine::due),
        {"slack", 'l', "SLACK", 0, true, "time between end and due date; negative is late", slack_cell},
        text_column("config", 'c', "CONFIG", "nodes × GPUs and class, or share of a GPU", &JobLine::config),
        {"where", 'w', "WHERE", 0, false, "local or rented", where_cell},
        text_column("nodes", 'N', "NODES", "nodes", &JobLine::nodes),
        time_column("start", 'S', "START", "planned start, real once it runs", &JobLine::start),
        time_column("end", 'e', "END", "expected end, real once done", &JobLine::end),
        money_column("cost", 'C', "COST", "lateness, rent and energy", &JobLine::cost),
        money_column("late", 'L', "LATE", "cost of being late", &JobLine::late),
        money_column("rent", 'R', "RENT", "rent", &JobLine::rent),
        money_column("energy", 'E', "ENERGY", "energy", &JobLine::energy),
        text_column("why", 'y', "WHY", "the decision in a sentence", &JobLine::why),
    };
    return columns;
}

}  // namespace squall::splan
