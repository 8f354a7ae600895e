// SPDX-License-Identifier: GPL-3.0-or-later
// squall's decision where every job can be stopped and resized: who gets how many GPUs now (src/sim/elastic), then
// which nodes. A capacity group of slots that hold any machine is one pool, otherwise every class is one.
#pragma once
#include <vector>

#include "src/sim/control.h"
#include "src/sim/elastic/elastic.h"

namespace squall::sim {

struct ElasticOptions {
    std::int64_t plays = 60;  // of the search, for one decision
    double wait_h_cost = 0;   // money an hour of any job's completion time
    double miss_cost = 0;     // money for every due date missed, however late
    double rent_scale = 1;    // of prices, when shares are decided
    std::uint64_t seed = 1;
};

class ElasticDecision {
  public:
    explicit ElasticDecision(const ElasticOptions& options) : options_(options) {}

    // Can this cluster and these jobs be decided this way?
    static bool suits(const Control& control);
    void decide(Control& control);

  private:
    struct Wanted {
        int job = 0, config = 0, gpus = 0;  // in total
    };
    void look_at(const Control& control);
    ElasticJob describe(const Control& control, int j) const;
    void pack_slots(Control& control, std::vector<Wanted> wanted);
    void place_on_classes(Control& control, std::vector<Wanted> wanted);
    bool place_rest(Control& control, const std::vector<Wanted>& wanted);

    ElasticOptions options_;
    bool looked_ = false, slots_ = false;
    int slot_gpus_ = 0;
    std::vector<int> pool_of_;  // class → pool, -1: none
    std::vector<int> pool_gpus_;
    std::vector<int> jobs_;  // of the problem
    long decisions_ = 0;
};

}  // namespace squall::sim
