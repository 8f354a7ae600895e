// SPDX-License-Identifier: GPL-3.0-or-later
// Every field of the model, once: visit(v, x) calls v.field, v.choice, v.list or v.object for each. Used by
// instance_json.cc for writing and reading.
#pragma once
#include "src/core/model.h"

namespace squall {

struct Range {
    std::int64_t least, most;
};
inline constexpr Range kCount{0, 1000000};
inline constexpr Range kIndex{-1, 100000000};
inline constexpr Range kTime{-kForever, kForever};
inline constexpr Range kDuration{0, kForever};
inline constexpr Range kMoney{0, INT64_C(1) << 50};

template <typename V>
void visit(V& v, TariffStep& x) {
    v.field("from_s", x.from_s, Range{0, kDay - 1});
    v.field("price_micro_kwh", x.price_micro_kwh, kMoney);
}

template <typename V>
void visit(V& v, NodeClass& x) {
    v.field("name", x.name);
    v.field("gpu_type", x.gpu_type);
    v.field("gpus", x.gpus, Range{0, 1024});
    v.field("shards_per_gpu", x.shards_per_gpu, kCount);
    v.field("cpus", x.cpus, kCount);
    v.field("mem_mb", x.mem_mb, kDuration);
    v.field("rented", x.rented);
    v.field("price_micro_h", x.price_micro_h, kMoney);
    v.field("billing_step_s", x.billing_step_s, Range{1, kDay});
    v.field("billing_min_s", x.billing_min_s, Range{0, 30 * kDay});
    v.field("boot_s", x.boot_s, Range{0, kDay});
    v.field("release_s", x.release_s, Range{0, kDay});
    v.field("interruptions_ppm_h", x.interruptions_ppm_h, kCount);
    v.field("max_nodes", x.max_nodes, kCount);
    v.field("idle_watts", x.idle_watts, kCount);
    v.list("busy_watts", x.busy_watts, kCount);
    v.list("tariff", x.tariff);
    v.field("pue_milli", x.pue_milli, Range{1000, 10000});
    v.field("power_down", x.power_down);
}

template <typename V>
void visit(V& v, CapacityGroup& x) {
    v.field("name", x.name);
    v.list("class_ids", x.class_ids, kIndex);
    v.field("max_nodes", x.max_nodes, kCount);
}

template <typename V>
void visit(V& v, Node& x) {
    v.field("name", x.name);
    v.field("class_id", x.class_id, kIndex);
    v.choice("state", x.state, {"up", "powered_down", "booting", "unavailable"});
    v.field("ready_at", x.ready_at, kTime);
    v.field("leased_at", x.leased_at, kTime);
}

template <typename V>
void visit(V& v, Hold& x) {
    v.field("node", x.node, kIndex);
    v.field("gpus", x.gpus, kCount);
    v.field("shards", x.shards, kCount);
    v.field("gpu_index", x.gpu_index, kIndex);
    v.field("cpus", x.cpus, kCount);
    v.field("mem_mb", x.mem_mb, kDuration);
    v.field("start", x.start, kTime);
    v.field("end", x.end, kTime);
    v.field("job", x.job, kIndex);
}

template <typename V>
void visit(V& v, Config& x) {
    v.field("class_id", x.class_id, kIndex);
    v.field("nodes", x.nodes, Range{1, 100000});
    v.field("gpus", x.gpus, kCount);
    v.field("shards", x.shards, kCount);
    v.field("cpus", x.cpus, kCount);
    v.field("mem_mb", x.mem_mb, kDuration);
    v.field("run_s", x.run_s, Range{1, INT64_C(1) << 32});
    v.field("run_high_s", x.run_high_s, Range{0, INT64_C(1) << 32});
}

template <typename V>
void visit(V& v, Running& x) {
    v.field("config", x.config, kIndex);
    v.list("nodes", x.nodes, kIndex);
    v.field("start", x.start, kTime);
    v.field("expected_end", x.expected_end, kTime);
}

template <typename V>
void visit(V& v, Job& x) {
    v.field("id", x.id, Range{0, UINT32_MAX});
    v.field("name", x.name);
    v.field("user", x.user);
    v.field("account", x.account);
    v.field("partition", x.partition);
    v.field("release", x.release, kTime);
    v.field("due", x.due, kTime);
    v.field("due_is_hard", x.due_is_hard);
    v.field("late_micro_h", x.late_micro_h, kMoney);
    v.field("time_limit_s", x.time_limit_s, kDuration);
    v.field("remaining_ppm", x.remaining_ppm, kCount);
    v.field("stage_in_s", x.stage_in_s, Range{0, 30 * kDay});
    v.field("checkpointable", x.checkpointable);
    v.field("restart_s", x.restart_s, Range{0, 30 * kDay});
    v.field("max_cost_micro", x.max_cost_micro, kMoney);
    v.choice("burst", x.burst, {"never", "auto", "only"});
    v.list("configs", x.configs);
    v.object("running", x.running);
    v.field("pinned_config", x.pinned_config, kIndex);
    v.list("pinned_nodes", x.pinned_nodes, kIndex);
}

template <typename V>
void visit(V& v, Budget& x) {
    v.field("left_micro", x.left_micro, kMoney);
    v.field("until", x.until, kTime);
}

template <typename V>
void visit(V& v, Snapshot& x) {
    v.field("now", x.now, kTime);
    v.field("utc_offset_s", x.utc_offset_s, Range{-kDay, kDay});
    v.list("classes", x.classes);
    v.list("groups", x.groups);
    v.list("nodes", x.nodes);
    v.list("holds", x.holds);
    v.list("jobs", x.jobs);
    v.list("budgets", x.budgets);
    v.field("hard_due_penalty_micro", x.hard_due_penalty_micro, kMoney);
}

}  // namespace squall
