// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/relink.h"

#include <algorithm>

namespace squall {
namespace {

constexpr std::size_t kLook = 6;  // steps compared before one is taken

// Jobs that the plans run with different configurations, on different pools, or in another half of their line.
std::vector<int> differing(const Sequence& a, const Sequence& b, const Shops& shops) {
    std::vector<int> jobs;
    for (int j = 0; j < static_cast<int>(shops.jobs.size()); ++j) {
        Tick apart = a.start(j) - b.start(j);
        Tick run = shops.jobs[static_cast<std::size_t>(j)].configs[static_cast<std::size_t>(a.choice(j))].run_s;
        if (a.choice(j) != b.choice(j) || std::max(apart, -apart) > run / 2) jobs.push_back(j);
    }
    return jobs;
}

}  // namespace

bool relink(Sequence& from, const Sequence& to, const Shops& shops, std::mt19937_64& random) {
    auto left = differing(from, to, shops);
    Sequence walk = from;
    double best = from.cost();
    bool better = false;
    auto step = [&](std::size_t i, double limit) {
        int job = left[i], choice = to.choice(job);
        int shop = shops.jobs[static_cast<std::size_t>(job)].configs[static_cast<std::size_t>(choice)].shop;
        return walk.try_move(job, choice, walk.position_at(shop, to.start(job)), limit);
    };
    while (!left.empty()) {
        for (std::size_t i = 0; i < std::min(kLook, left.size()); ++i)
            std::swap(left[i], left[i + random() % (left.size() - i)]);
        std::size_t cheapest = 0;
        double limit = 1e300;
        for (std::size_t i = 0; i < std::min(kLook, left.size()); ++i)
            if (step(i, limit)) limit = walk.tried_cost(), cheapest = i;
        step(cheapest, 1e300);
        walk.keep();
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(cheapest));
        if (walk.cost() < best * (1 - 1e-9)) {
            best = walk.cost();
            from = walk;
            better = true;
        }
    }
    return better;
}

}  // namespace squall
