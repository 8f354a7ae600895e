// SPDX-License-Identifier: GPL-3.0-or-later
// What a job's request becomes for the configuration the plan chose.
#include "src/slurm/shape.h"
#include "tests/unit/suite.h"

using namespace squall;
using namespace squall::slurm;

namespace {

NodeClass v100() {
    NodeClass c;
    c.name = c.gpu_type = "v100";
    c.gpus = 4;
    c.shards_per_gpu = 4;
    c.cpus = 16;
    return c;
}

JobShape molded(const JobShape& original, const Config& config) {
    RawJob job;
    job.shape = original;
    auto node_class = v100();
    return mold(original, read_asked(job, original, false), {&config, &node_class, {"n2"}, "gpu", true}, "gres:");
}

}  // namespace

START_TEST(a_share_is_asked_for_even_on_nodes_the_user_named) {
    JobShape original;
    for (const char* named : {"", "n2"}) {
        original.req_nodes = named;
        ASSERT_TEXT(molded(original, {.class_id = 0, .shards = 2}).tres_per_node, "gres:shard:2");
        ASSERT_TEXT(molded(original, {.class_id = 0, .gpus = 4}).tres_per_node, "gres:gpu:4");
    }
}
END_TEST

START_TEST(a_rigid_request_for_gpus_stays_as_it_is) {
    JobShape original;
    original.tres_per_node = "gres:gpu:v100:2";
    original.req_nodes = "n2";
    ASSERT_TEXT(molded(original, {.class_id = 0, .gpus = 2}).tres_per_node, "gres:gpu:v100:2");
}
END_TEST

int main() {
    return squall::run_suite(
        "shape", {a_share_is_asked_for_even_on_nodes_the_user_named, a_rigid_request_for_gpus_stays_as_it_is});
}
