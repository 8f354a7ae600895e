// SPDX-License-Identifier: GPL-3.0-or-later
// A plan and what Slurm has → updates: only what changed, nothing before its time, and the shape as asked comes back.
#include "src/slurm/applier.h"
#include "tests/unit/fake_slurm.h"
#include "tests/unit/suite.h"

using namespace squall;
using namespace squall::slurm;
using namespace squall::test;

namespace {

// One job on a fake Slurm, planned by hand. step() reads, diffs and sends; what was sent stays in `sent`.
struct World {
    explicit World(RawJob job) : slurm(make_cluster()) { slurm.cluster().jobs = {std::move(job)}; }

    FakeSlurm slurm;
    Conf conf = make_conf();
    Knowledge knowledge;
    ApplyOptions options;
    Seconds now = kNow;
    Reading reading;
    std::vector<Action> actions;

    RawJob& job() { return slurm.cluster().jobs[0]; }
    Snapshot& read() {
        reading = read_cluster(slurm.cluster(), conf, knowledge, now, 0);
        for (const JobView& view : reading.views)
            knowledge.originals.emplace(view.key, Original{view.original, view.asked_begin});
        for (const LeftOutJob& left : reading.left_out)
            knowledge.originals.emplace(left.view.key, Original{left.view.original, left.view.asked_begin});
        return reading.snapshot;
    }
    // Places the only job; config by its text, "" = unplaceable.
    std::size_t step(const std::string& config, const std::vector<std::string>& nodes, Seconds start, Seconds end,
                     const std::string& why = "it is the cheapest") {
        read();
        Plan plan;
        for (std::size_t i = 0; i < reading.views.size(); i++) {
            Placement placement;
            placement.why = why;
            placement.start = start, placement.end = end;
            placement.cost.energy = 5000;
            const Job& planned = reading.snapshot.jobs[i];
            for (std::size_t c = 0; c < planned.configs.size(); c++)
                if (describe_config(reading.snapshot.classes[static_cast<std::size_t>(planned.configs[c].class_id)],
                                    planned.configs[c]) == config &&
                    placement.config < 0)
                    placement.config = static_cast<int>(c);
            ck_assert_msg(config.empty() || placement.config >= 0, "no configuration %s", config.c_str());
            for (std::size_t n = 0; n < reading.snapshot.nodes.size(); n++)
                for (const std::string& name : nodes)
                    if (reading.snapshot.nodes[n].name == name) placement.nodes.push_back(static_cast<int>(n));
            plan.placements.push_back(placement);
        }
        actions = diff_plan(reading, plan, conf, slurm.cluster(), options);
        for (const Action& action : actions) ck_assert(bool(slurm.update_job(action.update)));
        return actions.size();
    }
    std::string word(const char* key) { return plan_word(*parse_admin_comment(job().admin_comment), key); }
};

RawJob with_shape(RawJob job, const JobShape& shape) {
    job.shape = shape;
    return job;
}

}  // namespace

START_TEST(a_later_start_parks_the_job_until_then_plus_the_guard_and_says_so) {
    World world(make_job(1));
    ck_assert_int_eq(static_cast<int>(world.step("1×1 v100", {"n1"}, kNow + 600, kNow + 4200)), 1);
    ck_assert_int_eq(world.job().begin_at, kNow + 600 + world.options.guard_s);
    ASSERT_TEXT(world.word("state"), "planned");
    ASSERT_TEXT(world.word("start"), std::to_string(kNow + 600));
    ASSERT_TEXT(world.word("config"), "1×1 v100");
    ASSERT_TEXT(world.word("where"), "local");
    ASSERT_TEXT(world.word("why"), "it is the cheapest");
    ck_assert(!world.slurm.sent[0].shape);
    ASSERT_TEXT(world.actions[0].decision.state, "planned");
}
END_TEST

START_TEST(the_same_plan_again_sends_nothing_and_so_does_a_small_drift) {
    World world(make_job(1));
    world.step("1×1 v100", {"n1"}, kNow + 600, kNow + 4200);
    ck_assert_int_eq(static_cast<int>(world.step("1×1 v100", {"n1"}, kNow + 600, kNow + 4200)), 0);
    ck_assert_int_eq(static_cast<int>(world.step("1×1 v100", {"n2"}, kNow + 609, kNow + 4209, "other words")), 0);
    ck_assert_int_eq(static_cast<int>(world.step("1×1 v100", {"n1"}, kNow + 700, kNow + 4300)), 1);
    ck_assert_int_eq(world.job().begin_at, kNow + 700 + world.options.guard_s);
}
END_TEST

START_TEST(a_parked_job_never_becomes_eligible_before_it_is_pinned) {
    World world(make_job(1));
    world.step("1×1 v100", {"n1"}, kNow + 600, kNow + 4200);
    // The plan drifts by less than is worth a new AdminComment; the begin time still moves before it comes due.
    world.now = world.job().begin_at - world.options.guard_s - 1;
    std::string before = world.job().admin_comment;
    world.step("1×1 v100", {"n1"}, world.now + 4, world.now + 3604);
    ck_assert_int_eq(world.job().begin_at, world.now + 4 + world.options.guard_s);
    ASSERT_TEXT(world.job().admin_comment, before);
    ck_assert(world.actions[0].decision.state.empty());
}
END_TEST

START_TEST(a_start_now_is_one_update_with_partition_nodes_gpus_and_begin) {
    JobShape shape = make_job(1).shape;
    shape.tres_per_node.clear();
    shape.tres_per_job = "gres:gpu:2";
    World world(with_shape(make_job(1, "gpu-range=1-4 runtime=1=3000"), shape));
    ck_assert_int_eq(static_cast<int>(world.step("1×4 a100", {"c2"}, kNow, kNow + 3720)), 1);
    ck_assert(world.actions[0].kind == ActionKind::release && world.actions[0].molds);
    const RawJob& job = world.job();
    ASSERT_TEXT(job.shape.partition, "burst");
    ASSERT_TEXT(job.shape.req_nodes, "c2");
    ASSERT_TEXT(job.shape.tres_per_node, "gres:gpu:4");
    ASSERT_TEXT(job.shape.tres_per_job, "");
    ck_assert_int_eq(job.shape.max_nodes, 1);
    ck_assert_int_eq(job.begin_at, kNow);
    ASSERT_TEXT(world.word("state"), "released");
    ASSERT_TEXT(world.word("where"), "rented");
    ASSERT_TEXT(world.word("since"), std::to_string(kNow));
    ASSERT_TEXT(world.word("submit"), std::to_string(kNow - 10));
}
END_TEST

START_TEST(a_released_job_that_waits_for_slurm_is_left_alone) {
    World world(make_job(1));
    world.step("1×1 v100", {"n1"}, kNow, kNow + 3600);
    world.now += 2;
    ck_assert_int_eq(static_cast<int>(world.step("1×1 v100", {"n1"}, kNow, kNow + 3600)), 0);
}
END_TEST

START_TEST(a_released_job_that_does_not_start_is_parked_again_in_its_old_shape) {
    RawJob asked = make_job(1, "gpu-range=1,8 runtime=1=3000");
    World world(asked);
    world.step("2×4 v100", {"n1", "n2"}, kNow, kNow + 1000);
    ASSERT_TEXT(world.job().shape.req_nodes, "n1,n2");
    ck_assert_int_eq(world.job().shape.tasks, 2);
    world.job().reason = "Resources";
    world.now += 10;
    world.step("1×1 v100", {"n1"}, world.now + 50, world.now + 3050);
    ck_assert(world.job().shape == asked.shape);
    ck_assert_int_eq(world.job().begin_at, world.now + 50 + world.options.guard_s);
    ASSERT_TEXT(world.word("state"), "planned");
}
END_TEST

START_TEST(a_typed_request_stays_typed_and_other_gres_are_kept) {
    JobShape shape = make_job(1).shape;
    shape.tres_per_node = "gres:gpu:v100:1,gres:lustre:2";
    World world(with_shape(make_job(1, "gpu-range=1,2 runtime=1=3000"), shape));
    world.step("1×2 v100", {"n1"}, kNow, kNow + 1700);
    ASSERT_TEXT(world.job().shape.tres_per_node, "gres:lustre:2,gres:gpu:v100:2");
}
END_TEST

START_TEST(a_small_job_gets_the_shards_of_its_share) {
    JobShape shape = make_job(1).shape;
    shape.tres_per_node = "gres:shard:1";
    World world(with_shape(make_job(1, "gpu-share=50%"), shape));
    world.step("50% v100", {"n1"}, kNow, kNow + 3600);
    ASSERT_TEXT(world.job().shape.tres_per_node, "gres:shard:2");
}
END_TEST

START_TEST(what_the_user_tied_to_nodes_is_not_tied_again) {
    JobShape shape = make_job(1).shape;
    shape.req_nodes = "n2";
    World world(with_shape(make_job(1), shape));
    world.step("1×1 v100", {"n2"}, kNow, kNow + 3600);
    ck_assert(world.job().shape == shape);
    ck_assert(!world.slurm.sent[0].shape);
    ck_assert_int_eq(world.job().begin_at, kNow);
}
END_TEST

START_TEST(an_unplaceable_job_stays_parked_and_says_why) {
    World world(make_job(1));
    world.step("", {}, 0, 0, "every node is drained");
    ASSERT_TEXT(world.word("state"), "unplaceable");
    ASSERT_TEXT(world.word("why"), "every node is drained");
    Seconds begin = world.job().begin_at;
    ck_assert_int_ge(begin, kNow + 2 * world.options.guard_s);
    world.now = begin - world.options.guard_s;
    ck_assert_int_eq(static_cast<int>(world.step("", {}, 0, 0, "every node is drained")), 1);
    ck_assert_int_eq(world.job().begin_at, world.now + world.options.park_s);
}
END_TEST

START_TEST(a_job_given_up_goes_back_to_slurm_exactly_as_asked_once) {
    World world(make_job(1));
    world.job().array_tasks = "0-3";
    ck_assert_int_eq(static_cast<int>(world.step("", {}, 0, 0)), 1);
    ck_assert(world.actions[0].kind == ActionKind::give_up);
    ck_assert_int_eq(world.job().begin_at, kNow);
    ASSERT_TEXT(world.word("state"), "unmanaged");
    ck_assert(world.job().shape == make_job(1).shape);
    ck_assert_int_eq(static_cast<int>(world.step("", {}, 0, 0)), 0);
}
END_TEST

START_TEST(giving_up_keeps_the_user_s_begin_time) {
    World world(make_job(1));
    world.job().array_tasks = "0-3";
    world.job().admin_comment += " begin=" + std::to_string(kNow + 50000);
    world.step("", {}, 0, 0);
    ck_assert_int_eq(world.job().begin_at, kNow + 50000);
}
END_TEST

START_TEST(a_job_the_dead_man_released_is_taken_again) {
    World world(make_job(1));
    world.job().admin_comment = "squall: due=1800007200 | state=unmanaged submit=" + std::to_string(kNow - 10);
    world.job().begin_at = kNow - 5;
    world.step("1×1 v100", {"n1"}, kNow + 600, kNow + 4200);
    ck_assert_int_eq(world.job().begin_at, kNow + 600 + world.options.guard_s);
    ASSERT_TEXT(world.word("state"), "planned");
}
END_TEST

START_TEST(slurm_s_hold_after_a_failed_launch_is_lifted_a_user_s_is_not) {
    World world(make_job(1));
    world.job().held = world.job().launch_failed_held = true;
    world.step("", {}, 0, 0);
    ck_assert(!world.job().held);
    ck_assert_int_eq(world.job().begin_at, kNow + world.options.park_s);
    world.job().held = true;
    world.step("", {}, 0, 0);
    ck_assert(world.job().held);
    ck_assert_int_gt(world.job().begin_at, kNow);
}
END_TEST

START_TEST(a_running_job_is_noted_once) {
    World world(make_job(1));
    start(world.job(), "n1", "gpu:v100:1(IDX:0)");
    ck_assert_int_eq(static_cast<int>(world.step("1×1 v100", {"n1"}, kNow - 100, kNow + 3500)), 1);
    ck_assert(!world.slurm.sent[0].begin_at && !world.slurm.sent[0].shape);
    ASSERT_TEXT(world.word("state"), "running");
    ASSERT_TEXT(world.word("start"), std::to_string(kNow - 100));
    world.now += 60;
    ck_assert_int_eq(static_cast<int>(world.step("1×1 v100", {"n1"}, kNow - 100, kNow + 3500)), 0);
}
END_TEST

START_TEST(what_frees_resources_is_sent_before_what_takes_them) {
    World world(make_job(1));
    world.slurm.cluster().jobs.push_back(make_job(2));
    world.slurm.cluster().jobs[1].array_tasks = "0-3";
    world.step("1×1 v100", {"n1"}, kNow, kNow + 3600);
    ck_assert_int_eq(static_cast<int>(world.actions.size()), 2);
    ck_assert(world.actions[0].kind == ActionKind::give_up);
    ck_assert(world.actions[1].kind == ActionKind::release);
}
END_TEST

START_TEST(what_was_asked_survives_its_way_through_the_ledger) {
    Original original{make_job(1).shape, std::nullopt};
    original.shape.req_nodes = "n[1-2]", original.shape.tres_per_job = "gres:gpu:2", original.shape.max_nodes = 3;
    ck_assert(original_from_json(original_to_json(original)) == original);
    original.begin_at = kNow;
    ck_assert(original_from_json(original_to_json(original)) == original);
    for (const char* text : {"", "{}", "[]", "{\"partition\":1}", "not json"}) ck_assert(!original_from_json(text));
}
END_TEST

int main() {
    return run_suite(
        "applier",
        {a_later_start_parks_the_job_until_then_plus_the_guard_and_says_so,
         the_same_plan_again_sends_nothing_and_so_does_a_small_drift,
         a_parked_job_never_becomes_eligible_before_it_is_pinned,
         a_start_now_is_one_update_with_partition_nodes_gpus_and_begin,
         a_released_job_that_waits_for_slurm_is_left_alone,
         a_released_job_that_does_not_start_is_parked_again_in_its_old_shape,
         a_typed_request_stays_typed_and_other_gres_are_kept, a_small_job_gets_the_shards_of_its_share,
         what_the_user_tied_to_nodes_is_not_tied_again, an_unplaceable_job_stays_parked_and_says_why,
         a_job_given_up_goes_back_to_slurm_exactly_as_asked_once, giving_up_keeps_the_user_s_begin_time,
         a_job_the_dead_man_released_is_taken_again, slurm_s_hold_after_a_failed_launch_is_lifted_a_user_s_is_not,
         a_running_job_is_noted_once, what_frees_resources_is_sent_before_what_takes_them,
         what_was_asked_survives_its_way_through_the_ledger});
}
