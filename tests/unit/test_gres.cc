// SPDX-License-Identifier: GPL-3.0-or-later
// Slurm's GRES texts, as real Slurm versions print them.
#include "src/slurm/gres.h"
#include "tests/unit/suite.h"

using namespace squall::slurm;

START_TEST(node_gres_with_sockets_and_shards) {
    auto list = parse_gres("gpu:v100:4(S:0-1),shard:v100:16(S:0-1),lustre:1");
    ck_assert_int_eq(static_cast<int>(list.size()), 3);
    ck_assert(list[0] == (Gres{.name = "gpu", .type = "v100", .count = 4}));
    ck_assert(list[1] == (Gres{.name = "shard", .type = "v100", .count = 16}));
    ck_assert_int_eq(count_of(list, "gpu"), 4);
}
END_TEST

START_TEST(held_gres_with_indices) {
    auto list = parse_gres("gpu:v100:3(IDX:0-1,3),shard:4(IDX:2)");
    ck_assert(list[0].indices == std::vector<int>({0, 1, 3}));
    ck_assert(list[1].indices == std::vector<int>({2}));
    ck_assert_int_eq(list[1].count, 4);
}
END_TEST

START_TEST(held_shards_counted_on_each_gpu) {
    auto list = parse_gres("shard:v100:5(0/4,3/4,2/4,0/4)");
    ck_assert(list[0].per_index == std::vector<int>({0, 3, 2, 0}));
    ck_assert(list[0].indices == std::vector<int>({1, 2}));
}
END_TEST

START_TEST(requests_in_every_version_s_form) {
    Gres typed{.name = "gpu", .type = "v100", .count = 2}, plain{.name = "gpu", .type = "", .count = 2};
    for (const char* text : {"gres:gpu:v100:2", "gres/gpu:v100:2", "gres/gpu:v100=2", "gpu:v100:2"})
        ck_assert(parse_gres(text).at(0) == typed);
    for (const char* text : {"gres:gpu:2", "gres/gpu:2", "gres/gpu=2", "gpu:2"})
        ck_assert(parse_gres(text).at(0) == plain);
    ck_assert(parse_gres("gres:gpu").at(0) == (Gres{.name = "gpu", .type = "", .count = 1}));
    ck_assert(parse_gres("gres:gpu:v100").at(0) == (Gres{.name = "gpu", .type = "v100", .count = 1}));
}
END_TEST

START_TEST(nothing_and_nonsense_give_nothing) {
    for (const char* text : {"", "(null)", ",", "a:b:c:d:1", "gpu:v100:x"})
        ck_assert_msg(parse_gres(text).empty(), "%s", text);
}
END_TEST

START_TEST(format_gives_what_slurm_takes) {
    ASSERT_TEXT(format_gres("gres:", "gpu", "v100", 2), "gres:gpu:v100:2");
    ASSERT_TEXT(format_gres("gres/", "shard", "", 4), "gres/shard:4");
}
END_TEST

START_TEST(totals_of_an_allocation) {
    TresTotals totals = parse_totals("cpu=16,mem=1.50G,node=2,billing=16,gres/gpu=4");
    ck_assert_int_eq(totals.cpus, 16);
    ck_assert_int_eq(static_cast<int>(totals.mem_mb), 1536);
    ck_assert_int_eq(static_cast<int>(parse_totals("mem=100M").mem_mb), 100);
    ck_assert_int_eq(static_cast<int>(parse_totals("mem=2T").mem_mb), 2097152);
    ck_assert_int_eq(parse_totals("").cpus, 0);
}
END_TEST

int main() {
    return squall::run_suite(
        "gres", {node_gres_with_sockets_and_shards, held_gres_with_indices, held_shards_counted_on_each_gpu,
                 requests_in_every_version_s_form, nothing_and_nonsense_give_nothing, format_gives_what_slurm_takes,
                 totals_of_an_allocation});
}
