// SPDX-License-Identifier: GPL-3.0-or-later
// Sending one waiting job to rented nodes in the shape it was asked in, on the offer that costs least for it.
#pragma once
#include "src/sim/policies/choose.h"

namespace squall::sim {

// false: no offer has room.
inline bool burst(Control& control, int j) {
    const auto& configs = control.job(j).configs;
    int best = -1;
    Micro least = 0;
    Place where;
    for (int c : asked_configs(control, j, true)) {
        auto place = control.find(configs[c]);
        if (!place) continue;
        const auto& offer = control.cluster().classes[configs[c].class_id];
        Seconds run = control.run_estimate(j, c) + offer.boot_s;
        Micro cost = cost_of_time(offer.price_micro_h * configs[c].nodes, run);  // the whole node is paid
        if (best >= 0 && cost >= least) continue;
        best = c, least = cost, where = *place;
    }
    if (best >= 0) control.start(j, best, where);
    return best >= 0;
}

}  // namespace squall::sim
