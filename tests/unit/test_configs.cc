// SPDX-License-Identifier: GPL-3.0-or-later
// Configurations made from what a job asked: shapes, sizes, run times, and why there are none.
#include <cstring>
#include <string>

#include "src/core/configs.h"
#include "tests/unit/suite.h"

using namespace squall;

namespace {

NodeClass make_class(const char* name, int gpus, int shards_per_gpu = 0) {
    NodeClass c;
    c.name = c.gpu_type = name;
    c.gpus = gpus;
    c.shards_per_gpu = shards_per_gpu;
    c.cpus = 16;
    c.mem_mb = 64000;
    return c;
}

const std::vector<NodeClass> kClasses = {make_class("v100", 4, 4), make_class("t4", 2)};
const std::vector<ClassUse> kUsable = {{0, 2}, {1, 2}};
const RuntimeModel kLimit{.entries = {}, .scaling_pct = 90, .time_limit_s = 36000};

AskedShape gpus_in_total(int gpus) {
    AskedShape asked;
    asked.gpus = gpus;
    return asked;
}

std::string text(const std::vector<Config>& configs) {
    std::string all;
    for (const Config& c : configs)
        all += (all.empty() ? "" : ", ") + describe_config(kClasses[static_cast<std::size_t>(c.class_id)], c);
    return all;
}

std::string made(const Request& request, const AskedShape& asked, const RuntimeModel& model = kLimit) {
    ConfigsResult result = make_configs(request, asked, kClasses, kUsable, model);
    return result.configs.empty() ? result.why_none : text(result.configs);
}

}  // namespace

START_TEST(gpus_in_total_are_split_evenly_over_the_fewest_nodes_of_each_class) {
    ASSERT_TEXT(made({}, gpus_in_total(4)), "1×4 v100, 2×2 t4");
    ASSERT_TEXT(made({}, gpus_in_total(6)), "2×3 v100");
}
END_TEST

START_TEST(gpus_a_node_are_kept_with_their_node_count) {
    AskedShape asked;
    asked.nodes = asked.max_nodes = 2;
    asked.gpus_per_node = 2;
    ASSERT_TEXT(made({}, asked), "2×2 v100, 2×2 t4");
    asked.gpus_per_node = 3;
    ASSERT_TEXT(made({}, asked), "2×3 v100");
}
END_TEST

START_TEST(a_range_adds_every_count_that_fits_after_the_asked_one) {
    Request request;
    request.gpu_counts = {1, 2, 4, 8};
    RuntimeModel model{.entries = {{"", 1, 8000}}, .scaling_pct = 90, .time_limit_s = 36000};
    ASSERT_TEXT(made(request, gpus_in_total(2), model),
                "1×2 v100, 1×2 t4, 1×1 v100, 1×4 v100, 2×4 v100, 1×1 t4, 2×2 t4");
}
END_TEST

START_TEST(fewer_gpus_are_left_out_where_only_the_time_limit_is_known) {
    Request request;
    request.gpu_counts = {1, 2, 4};
    ASSERT_TEXT(made(request, gpus_in_total(2)), "1×2 v100, 1×2 t4, 1×4 v100, 2×2 t4");
}
END_TEST

START_TEST(a_range_without_the_asked_count_decides_alone) {
    Request request;
    request.gpu_counts = {1};
    ASSERT_TEXT(made(request, gpus_in_total(4)), "1×1 v100, 1×1 t4");
}
END_TEST

START_TEST(a_named_gpu_type_is_kept) {
    AskedShape asked = gpus_in_total(1);
    asked.gpu_type = "t4";
    ASSERT_TEXT(made({}, asked), "1×1 t4");
    asked.gpu_type = "h100";
    ASSERT_HAS(made({}, asked), "type h100");
}
END_TEST

START_TEST(a_rigid_job_keeps_its_shape_whatever_the_range) {
    Request request;
    request.gpu_counts = {1, 2, 4};
    AskedShape asked = gpus_in_total(2);
    asked.rigid = true;
    ASSERT_TEXT(made(request, asked), "1×2 v100, 1×2 t4");
}
END_TEST

START_TEST(an_exclusive_job_takes_every_gpu_and_cpu_of_its_nodes) {
    AskedShape asked = gpus_in_total(2);
    asked.exclusive = true;
    ConfigsResult result = make_configs({}, asked, kClasses, kUsable, kLimit);
    ASSERT_TEXT(text(result.configs), "1×4 v100, 1×2 t4");
    ck_assert_int_eq(result.configs[0].cpus, 16);
}
END_TEST

START_TEST(a_share_becomes_shards_of_one_gpu_where_gpus_are_shared) {
    Request request;
    request.gpu_share_pct = 30;
    AskedShape asked;
    asked.shards = 1;
    ConfigsResult result = make_configs(request, asked, kClasses, kUsable, kLimit);
    ck_assert_int_eq(static_cast<int>(result.configs.size()), 1);
    ck_assert_int_eq(result.configs[0].shards, 2);
    ck_assert_int_eq(result.configs[0].gpus, 0);
    ASSERT_TEXT(text(result.configs), "50% v100");
}
END_TEST

START_TEST(shards_asked_of_slurm_are_a_small_job_and_more_than_a_gpu_has_is_said) {
    AskedShape asked;
    asked.shards = 3;
    ASSERT_TEXT(made({}, asked), "75% v100");
    asked.shards = 5;
    ASSERT_HAS(made({}, asked), "5 shards are more than one GPU has (4)");
}
END_TEST

START_TEST(a_job_without_gpus_is_not_planned) { ASSERT_HAS(made({}, AskedShape{}), "no GPU"); }
END_TEST

START_TEST(too_many_cpus_or_too_much_memory_a_node_drop_the_class_with_its_numbers) {
    AskedShape asked = gpus_in_total(1);
    asked.cpus_per_task = asked.cpus = 17;
    ASSERT_HAS(made({}, asked), "17 CPUs a node are more than class v100 has (16)");
    asked = gpus_in_total(1);
    asked.mem_mb_per_node = 64001;
    ASSERT_HAS(made({}, asked), "64001 MB");
}
END_TEST

START_TEST(longer_than_the_limit_is_dropped_while_something_shorter_is_left) {
    Request request;
    request.gpu_counts = {1, 2};
    RuntimeModel model{.entries = {{"v100", 1, 8000}, {"v100", 2, 4500}}, .scaling_pct = 90, .time_limit_s = 5000};
    ASSERT_TEXT(made(request, gpus_in_total(1), model), "1×2 v100");
    model.time_limit_s = 3000;
    ConfigsResult clamped = make_configs(request, gpus_in_total(1), kClasses, kUsable, model);
    ASSERT_TEXT(text(clamped.configs), "1×1 v100, 1×2 v100");
    ck_assert_int_eq(clamped.configs[0].run_s, 3000);
    ck_assert_int_eq(clamped.configs[0].run_high_s, 3000);
}
END_TEST

START_TEST(run_time_is_the_entry_the_law_between_two_or_the_nearest_scaled) {
    RuntimeModel model{.entries = {{"v100", 1, 8000}, {"v100", 4, 2000}, {"", 1, 9000}}, .scaling_pct = 100};
    ck_assert_int_eq(*run_time(model, "v100", 1, 1), 8000);
    ck_assert_int_eq(*run_time(model, "v100", 2, 1), 4000);
    ck_assert_int_eq(*run_time(model, "v100", 8, 1), 1000);
    ck_assert_int_eq(*run_time(model, "t4", 1, 1), 9000);
    ck_assert_int_eq(*run_time(model, "t4", 3, 1), 3000);
}
END_TEST

START_TEST(scaling_efficiency_costs_its_share_at_each_doubling) {
    ck_assert_int_eq(*run_time(kLimit, "v100", 1, 1), 36000);
    ck_assert_int_eq(*run_time(kLimit, "v100", 2, 1), 20000);  // 36000 / (2 · 0.9)
    ck_assert_int_eq(*run_time(kLimit, "v100", 1, 2), 64800);
    RuntimeModel flat{.entries = {}, .scaling_pct = 40, .time_limit_s = 100};
    ck_assert_int_eq(*run_time(flat, "v100", 8, 1), 100);  // never slower with more GPUs
}
END_TEST

START_TEST(run_time_is_unknown_for_a_type_the_entries_leave_out_and_without_any_limit) {
    RuntimeModel model{.entries = {{"v100", 1, 8000}}};
    ck_assert(!run_time(model, "t4", 1, 1));
    ck_assert(!run_time(RuntimeModel{}, "v100", 1, 1));
    ASSERT_TEXT(made({}, gpus_in_total(1), model), "1×1 v100");
}
END_TEST

START_TEST(the_high_quantile_is_never_below_the_mean_nor_above_the_limit) {
    RuntimeModel model{.entries = {{"v100", 1, 4000}}, .scaling_pct = 90, .time_limit_s = 4500};
    ConfigsResult result = make_configs({}, gpus_in_total(1), kClasses, kUsable, model);
    ck_assert_int_eq(result.configs[0].run_s, 4000);
    ck_assert_int_eq(result.configs[0].run_high_s, 4500);
}
END_TEST

START_TEST(tasks_follow_the_nodes_the_gpus_or_stay) {
    AskedShape one_a_gpu = gpus_in_total(4);
    one_a_gpu.tasks = 4;
    one_a_gpu.cpus_per_task = 2;
    one_a_gpu.cpus = 8;
    Sizing sizing = size_for(one_a_gpu, 1, 2, kClasses[0]);
    ck_assert_int_eq(sizing.tasks, 2);
    ck_assert_int_eq(sizing.cpus, 4);
    sizing = size_for(one_a_gpu, 2, 4, kClasses[0]);
    ck_assert_int_eq(sizing.tasks, 8);
    ck_assert_int_eq(sizing.tasks_per_node, 4);
    ck_assert_int_eq(sizing.cpus_per_node, 8);

    AskedShape two_a_node;
    two_a_node.nodes = 2, two_a_node.gpus_per_node = 1, two_a_node.tasks = 4, two_a_node.tasks_per_node = 2;
    two_a_node.cpus = 4, two_a_node.cpus_per_node = 2;
    sizing = size_for(two_a_node, 1, 2, kClasses[0]);
    ck_assert_int_eq(sizing.tasks, 2);
    ck_assert_int_eq(sizing.tasks_per_node, 2);
    ck_assert_int_eq(sizing.cpus, 2);

    AskedShape default_tasks = gpus_in_total(2);
    default_tasks.cpus_per_gpu = 3;
    default_tasks.mem_mb_per_gpu = 500;
    sizing = size_for(default_tasks, 2, 1, kClasses[0]);
    ck_assert_int_eq(sizing.tasks, 2);
    ck_assert_int_eq(sizing.cpus, 6);
    ck_assert_int_eq(sizing.cpus_per_node, 3);
    ck_assert_int_eq(static_cast<int>(sizing.mem_mb_per_node), 500);

    AskedShape three_tasks = gpus_in_total(2);
    three_tasks.tasks = 3, three_tasks.cpus = 3;
    sizing = size_for(three_tasks, 1, 1, kClasses[0]);
    ck_assert_int_eq(sizing.tasks, 3);
    ck_assert_int_eq(sizing.tasks_per_node, 0);
}
END_TEST

START_TEST(memory_is_the_whole_nodes_where_slurm_would_give_it_all) {
    AskedShape asked = gpus_in_total(1);
    asked.whole_node_memory = true;
    ck_assert_int_eq(static_cast<int>(size_for(asked, 1, 1, kClasses[0]).mem_mb_per_node), 64000);
    asked.whole_node_memory = false;
    asked.mem_mb_per_cpu = 100, asked.cpus_per_task = asked.cpus = 4;
    ck_assert_int_eq(static_cast<int>(size_for(asked, 1, 1, kClasses[0]).mem_mb_per_node), 400);
}
END_TEST

START_TEST(gpus_that_do_not_divide_by_gpus_a_task_are_left_out) {
    Request request;
    request.gpu_counts = {1, 2, 3, 4};
    AskedShape asked;
    asked.gpus_per_task = 2, asked.tasks = 1;
    ASSERT_TEXT(made(request, asked), "1×2 v100, 1×2 t4, 1×4 v100, 2×2 t4");
}
END_TEST

START_TEST(no_usable_class_is_said) {
    ConfigsResult result = make_configs({}, gpus_in_total(1), kClasses, {}, kLimit);
    ASSERT_HAS(result.why_none, "partition and constraints");
}
END_TEST

START_TEST(a_job_without_gres_runs_on_the_counts_it_names) {
    NodeClass v100;
    v100.name = v100.gpu_type = "v100";
    v100.gpus = 4;
    AskedShape nothing;
    for (bool range : {true, false}) {
        Request request;
        if (range) request.gpu_counts = {1, 2};
        RuntimeModel model{.entries = {{"v100", 1, 100}, {"v100", 2, 60}}};
        auto made = make_configs(request, nothing, {v100}, {{0, 2}}, model);
        ck_assert_int_eq(made.configs.size(), 2);
        for (const auto& config : made.configs) ck_assert_int_gt(config.gpus, 0);
    }
}
END_TEST

int main() {
    return squall::run_suite("configs", {a_job_without_gres_runs_on_the_counts_it_names,
                                         fewer_gpus_are_left_out_where_only_the_time_limit_is_known,
                                         gpus_in_total_are_split_evenly_over_the_fewest_nodes_of_each_class,
                                         gpus_a_node_are_kept_with_their_node_count,
                                         a_range_adds_every_count_that_fits_after_the_asked_one,
                                         a_range_without_the_asked_count_decides_alone,
                                         a_named_gpu_type_is_kept,
                                         a_rigid_job_keeps_its_shape_whatever_the_range,
                                         an_exclusive_job_takes_every_gpu_and_cpu_of_its_nodes,
                                         a_share_becomes_shards_of_one_gpu_where_gpus_are_shared,
                                         shards_asked_of_slurm_are_a_small_job_and_more_than_a_gpu_has_is_said,
                                         a_job_without_gpus_is_not_planned,
                                         too_many_cpus_or_too_much_memory_a_node_drop_the_class_with_its_numbers,
                                         longer_than_the_limit_is_dropped_while_something_shorter_is_left,
                                         run_time_is_the_entry_the_law_between_two_or_the_nearest_scaled,
                                         scaling_efficiency_costs_its_share_at_each_doubling,
                                         run_time_is_unknown_for_a_type_the_entries_leave_out_and_without_any_limit,
                                         the_high_quantile_is_never_below_the_mean_nor_above_the_limit,
                                         tasks_follow_the_nodes_the_gpus_or_stay,
                                         memory_is_the_whole_nodes_where_slurm_would_give_it_all,
                                         gpus_that_do_not_divide_by_gpus_a_task_are_left_out,
                                         no_usable_class_is_said});
}
