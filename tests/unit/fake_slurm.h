// SPDX-License-Identifier: GPL-3.0-or-later
// A small cluster in memory, for tests of what stands on the Slurm seam: nodes n1, n2 (4 v100, 4 shards each), t1 (2
// t4), c1, c2 (cloud, 4 a100, powered down); partitions gpu (n1, n2, t1), burst (c1, c2). FakeSlurm is a Client that
// keeps what was sent and does to the cluster what slurmctld would do to a pending job.
#pragma once
#include <algorithm>
#include <functional>

#include "src/core/conf.h"
#include "src/slurm/client.h"

namespace squall::test {

inline constexpr Seconds kNow = 1800000000;

inline slurm::RawNode make_node(const char* name, const char* gres) {
    slurm::RawNode node;
    node.name = name;
    node.gres = gres;
    node.cpus = 16;
    node.mem_mb = 64000;
    return node;
}

inline slurm::Cluster make_cluster() {
    slurm::Cluster cluster;
    cluster.memory_is_consumable = true;
    cluster.nodes = {make_node("n1", "gpu:v100:4(S:0),shard:v100:16(S:0)"),
                     make_node("n2", "gpu:v100:4(S:0),shard:v100:16(S:0)"),
                     make_node("t1", "gpu:t4:2"),
                     make_node("c1", "gpu:a100:4"),
                     make_node("c2", "gpu:a100:4"),
                     make_node("x1", "")};
    for (const char* name : {"c1", "c2"})
        for (slurm::RawNode& node : cluster.nodes)
            if (node.name == name) node.cloud = node.powered_down = true;
    slurm::RawPartition gpu, burst, cpu;
    gpu.name = "gpu", gpu.nodes = {"n1", "n2", "t1"}, gpu.is_default = true;
    burst.name = "burst", burst.nodes = {"c1", "c2"};
    cpu.name = "cpu", cpu.nodes = {"x1"};
    cluster.partitions = {gpu, burst, cpu};
    return cluster;
}

inline Conf make_conf() {
    Conf conf;
    auto add = [&](const char* name, std::vector<std::string> nodes) -> NodeClassConf& {
        NodeClassConf c;
        c.spec.name = c.spec.gpu_type = name;
        c.nodes = std::move(nodes);
        conf.classes.push_back(c);
        return conf.classes.back();
    };
    add("v100", {"n1", "n2"});
    add("t4", {"t1"});
    NodeClassConf& cloud = add("a100", {"c1", "c2"});
    cloud.spec.rented = true;
    cloud.spec.price_micro_h = 3060000;
    cloud.spec.boot_s = 120;
    cloud.spec.max_nodes = 2;
    PartitionConf gpu;
    gpu.name = "gpu", gpu.burst_to = "burst", gpu.late_micro_h = 20000000;
    conf.partitions.push_back(gpu);
    return conf;
}

// A job parked by job_submit: one GPU, an hour, due in two.
inline slurm::RawJob make_job(std::uint32_t id, const std::string& words = "due=1800007200") {
    slurm::RawJob job;
    job.id = id;
    job.name = "train";
    job.user = "ann";
    job.admin_comment = "squall: " + words + " | state=parked";
    job.submit_at = kNow - 10;
    job.begin_at = kNow + 290;
    job.time_limit_s = 3600;
    job.shape.partition = "gpu";
    job.shape.tres_per_node = "gres:gpu:1";
    job.mem_mb_per_cpu = 100;
    return job;
}

inline slurm::RawJob& start(slurm::RawJob& job, const char* node, const char* gres, Seconds at = kNow - 100) {
    job.state = slurm::JobState::running;
    job.start_at = at;
    job.end_at = at + job.time_limit_s.value_or(0);
    job.allocations = {{node, gres}};
    job.gres_total = gres;
    job.tres_alloc = "cpu=2,mem=200M,node=1";
    return job;
}

class FakeSlurm : public slurm::Client {
  public:
    explicit FakeSlurm(slurm::Cluster cluster) : cluster_(std::move(cluster)) {}

    slurm::Reply refresh(slurm::Cluster& cluster, bool = false) override {
        if (down) return {slurm::Failure::unreachable, "cannot load jobs: connect failure"};
        cluster = cluster_;
        return {};
    }
    slurm::Reply update_job(const slurm::JobUpdate& update) override {
        if (down) return {slurm::Failure::unreachable, "connect failure"};
        if (refuse && refuse(update)) return {slurm::Failure::refused, "Requested node configuration is not available"};
        sent.push_back(update);
        slurm::RawJob* job = find(update.id);
        if (!job) return {slurm::Failure::gone, "Invalid job id specified"};
        if (update.shape) job->shape = *update.shape;
        if (update.begin_at) job->begin_at = *update.begin_at;
        if (update.admin_comment) job->admin_comment = *update.admin_comment;
        if (update.unhold) job->held = job->launch_failed_held = false;
        return {};
    }
    std::string gres_prefix() const override { return "gres:"; }

    slurm::RawJob* find(std::uint32_t id) {
        auto at = std::find_if(cluster_.jobs.begin(), cluster_.jobs.end(), [&](const auto& j) { return j.id == id; });
        return at == cluster_.jobs.end() ? nullptr : &*at;
    }
    slurm::Cluster& cluster() { return cluster_; }

    std::vector<slurm::JobUpdate> sent;
    bool down = false;
    std::function<bool(const slurm::JobUpdate&)> refuse;

  private:
    slurm::Cluster cluster_;
};

}  // namespace squall::test
