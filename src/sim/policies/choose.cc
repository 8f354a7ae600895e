// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/sim/policies/choose.h"

#include <algorithm>

namespace squall::sim {

std::vector<int> asked_configs(const Control& control, int j, bool rented) {
    const auto& configs = control.job(j).configs;
    std::vector<int> list;
    auto size = [](const Config& c) { return c.shards > 0 ? 0 : c.nodes * c.gpus; };
    for (int c = 0; c < static_cast<int>(configs.size()); ++c)
        if (size(configs[c]) == size(configs[0]) && control.cluster().classes[configs[c].class_id].rented == rented &&
            control.may_use(j, c))
            list.push_back(c);
    return list;
}

Seconds end_if_started(const Control& control, int j, int config, const Place& place) {
    Seconds ready = control.now();
    for (int n : place.nodes) {
        const auto& node = control.floor().node(n);
        Seconds boot = control.cluster().classes[control.cluster().nodes[n].class_id].boot_s;
        ready = std::max(ready, node.up ? node.ready_at : control.now() + boot);
    }
    return ready + control.job(j).stage_in_s + control.run_estimate(j, config);
}

Choice cheapest_in_time(const Control& control, int j) {
    const auto& job = control.job(j);
    Choice best;
    bool best_in_time = false;
    Micro best_cost = 0;
    Seconds best_end = 0;
    for (int c = 0; c < static_cast<int>(job.configs.size()); ++c) {
        if (!control.may_use(j, c)) continue;
        auto place = control.find(job.configs[c]);
        if (!place) continue;
        Seconds end = end_if_started(control, j, c, *place);
        Micro cost = control.floor().price_of(job.configs[c], *place, control.now(), end);
        bool in_time = !job.due || end <= *job.due;
        bool better = in_time != best_in_time ? in_time
                      : in_time               ? cost < best_cost || (cost == best_cost && end < best_end)
                                              : end < best_end || (end == best_end && cost < best_cost);
        if (best.config >= 0 && !better) continue;
        best = {c, *place};
        best_in_time = in_time, best_cost = cost, best_end = end;
    }
    return best;
}

void start_in_order(Control& control, std::vector<int> order) {
    for (int j : order) {
        auto choice = cheapest_in_time(control, j);
        if (choice.config >= 0) control.start(j, choice.config, choice.place);
    }
}

Seconds limit_of(const Control& control, int j, int config) {
    Seconds limit = control.job(j).time_limit_s;
    return limit > 0 ? limit : control.run_estimate(j, config);
}

}  // namespace squall::sim
