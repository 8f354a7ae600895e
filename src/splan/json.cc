// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/splan/json.h"

#include <jansson.h>

#include <memory>

#include "src/splan/table.h"

namespace squall::splan {
namespace {

json_t* text(const std::string& s) { return json_string(printable(s).c_str()); }
json_t* money(Micro amount) { return json_real(static_cast<double>(amount) / 1e6); }
json_t* number(std::int64_t n) { return json_integer(n); }
json_t* time_or_null(const std::optional<Seconds>& t) { return t ? json_integer(*t) : json_null(); }

void set(json_t* object, const char* key, json_t* value) { json_object_set_new(object, key, value); }

json_t* class_json(const ClassRow& c) {
    json_t* o = json_object();
    set(o, "class", text(c.name));
    set(o, "type", text(c.gpu_type));
    set(o, "rented", json_boolean(c.rented));
    set(o, "nodes", number(c.nodes));
    set(o, "on", number(c.up));
    set(o, "booting", number(c.booting));
    set(o, "down", number(c.unavailable));
    set(o, "gpus", number(c.gpus));
    set(o, "used", number(c.gpus_used));
    set(o, "shared", number(c.gpus_shared));
    set(o, "cost_h", money(c.cost_micro_h));
    return o;
}

json_t* job_json(const JobLine& j) {
    json_t* o = json_object();
    set(o, "jobid", number(j.id));
    for (auto [key, value] : {std::pair{"name", &j.name},
                              {"user", &j.user},
                              {"account", &j.account},
                              {"partition", &j.partition},
                              {"slurmstate", &j.slurm_state},
                              {"state", &j.state},
                              {"reason", &j.reason},
                              {"config", &j.config},
                              {"nodes", &j.nodes},
                              {"where", &j.where},
                              {"why", &j.why}})
        set(o, key, text(*value));
    set(o, "request", text(format_words(j.request)));
    set(o, "due", time_or_null(j.due));
    set(o, "slack", time_or_null(j.slack()));
    set(o, "start", time_or_null(j.start));
    set(o, "end", time_or_null(j.end));
    set(o, "finished", json_boolean(j.finished));
    set(o, "cost", money(j.cost));
    set(o, "late", money(j.late));
    set(o, "rent", money(j.rent));
    set(o, "energy", money(j.energy));
    return o;
}

json_t* report_json(const Report& r) {
    json_t* o = json_object();
    set(o, "finished", number(r.finished));
    set(o, "with_due", number(r.with_due));
    set(o, "on_time", number(r.on_time));
    set(o, "late_s", number(r.late_s));
    for (auto [key, value] : {std::pair{"late", r.late},
                              {"rent", r.rent},
                              {"energy", r.energy},
                              {"planned_late", r.planned_late},
                              {"planned_rent", r.planned_rent},
                              {"planned_energy", r.planned_energy}})
        set(o, key, money(value));
    set(o, "end_error_s", number(r.end_error_s));
    set(o, "bursts", number(r.bursts));
    set(o, "shared_gpus", number(r.shared_gpus));
    set(o, "two_node_jobs", number(r.two_node_jobs));
    set(o, "open_leases", number(r.open_leases));
    return o;
}

json_t* spend_json(const Spend& s) {
    json_t* o = json_object();
    set(o, "rent_today", money(s.rent_today));
    set(o, "rent_month", money(s.rent_month));
    set(o, "per_hour", money(s.per_hour));
    json_t* classes = json_array();
    for (const auto& l : s.by_class) {
        json_t* c = json_object();
        set(c, "class", text(l.name));
        set(c, "jobs", number(l.jobs));
        set(c, "rent", money(l.rent));
        set(c, "energy", money(l.energy));
        set(c, "late", money(l.late));
        json_array_append_new(classes, c);
    }
    set(o, "classes", classes);
    set(o, "forecast_month", money(s.forecast_month));
    json_t* lines = json_array();
    for (const auto& l : s.rent) {
        json_t* line = json_object();
        set(line, "by", json_string(l.by));
        set(line, "name", text(l.name));
        set(line, "today", money(l.today));
        set(line, "month", money(l.month));
        set(line, "total", money(l.total));
        set(line, "leases", number(l.leases));
        set(line, "node_seconds", number(l.node_s));
        json_array_append_new(lines, line);
    }
    set(o, "rent", lines);
    json_t* open = json_array();
    for (const auto& l : s.open) {
        json_t* lease = json_object();
        set(lease, "node", text(l.node));
        set(lease, "generation", number(l.generation));
        set(lease, "state", json_string(to_string(l.state)));
        set(lease, "price_h", money(l.price_micro_h));
        set(lease, "launched", number(l.launched_at));
        json_array_append_new(open, lease);
    }
    set(o, "open_leases", open);
    return o;
}

}  // namespace

std::string to_json(const View& view, const Report& report, const Spend& spend) {
    std::unique_ptr<json_t, void (*)(json_t*)> root(json_object(), json_decref);
    set(root.get(), "now", number(view.now));
    set(root.get(), "currency", text(view.currency));
    if (view.cycle) {
        json_t* plan = json_object();
        set(plan, "at", number(view.cycle->at));
        set(plan, "jobs", number(view.cycle->jobs));
        set(plan, "cost", money(view.cycle->cost));
        set(plan, "bound", money(view.cycle->bound));
        set(plan, "plan_ms", number(view.cycle->plan_ms));
        set(root.get(), "plan", plan);
    }
    json_t *classes = json_array(), *jobs = json_array();
    for (const auto& c : view.classes) json_array_append_new(classes, class_json(c));
    for (const auto& j : view.jobs) json_array_append_new(jobs, job_json(j));
    set(root.get(), "classes", classes);
    set(root.get(), "jobs", jobs);
    if (view.has_ledger) {
        set(root.get(), "report", report_json(report));
        set(root.get(), "spend", spend_json(spend));
    }
    std::unique_ptr<char, void (*)(void*)> out(json_dumps(root.get(), JSON_INDENT(1) | JSON_REAL_PRECISION(12)), free);
    return std::string(out ? out.get() : "{}") + "\n";
}

}  // namespace squall::splan
