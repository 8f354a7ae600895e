// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/sim/policies/snapshot_of.h"

#include <algorithm>
#include <cmath>

namespace squall::sim {
namespace {

void set_nodes(Snapshot& s, const Control& control) {
    for (int n = 0; n < static_cast<int>(s.nodes.size()); ++n) {
        const auto& now = control.floor().node(n);
        auto& node = s.nodes[n];
        bool rented = s.classes[node.class_id].rented;
        node.state = now.broken                     ? NodeState::unavailable
                     : !now.up                      ? NodeState::powered_down
                     : now.ready_at > control.now() ? NodeState::booting
                                                    : NodeState::up;
        node.ready_at = now.broken ? kForever : now.ready_at;
        node.leased_at.reset();
        if (rented && now.up) node.leased_at = now.leased_at;
    }
}

void add_running(Moment& m, const Control& control, int j) {
    const auto& s = control.state(j);
    const auto& c = control.job(j).configs[s.config];
    auto index = static_cast<int>(m.jobs.size());
    Job job = control.job(j);
    Seconds end = control.expected_end(j);
    job.running = Running{s.config, s.place.nodes, s.start, end};
    m.snapshot.jobs.push_back(std::move(job));
    m.jobs.push_back(j);
    for (int n : s.place.nodes)
        m.snapshot.holds.push_back({n, c.gpus, c.shards, s.place.gpu_index, c.cpus, c.mem_mb, s.start, end, index});
}

}  // namespace

Moment snapshot_of(const Control& control, int most) {
    Moment m;
    m.snapshot = control.cluster();
    m.snapshot.now = control.now();
    set_nodes(m.snapshot, control);
    auto running = control.running();
    std::sort(running.begin(), running.end());
    for (int j : running) add_running(m, control, j);
    for (int j : control.waiting()) {
        if (--most < 0) break;
        Job job = control.job(j);
        job.remaining_ppm = std::clamp(static_cast<int>(std::ceil(1e6 * control.left(j))), 1, 1000000);
        if (control.state(j).begun) job.stage_in_s += job.restart_s;
        m.snapshot.jobs.push_back(std::move(job));
        m.jobs.push_back(j);
    }
    return m;
}

}  // namespace squall::sim
