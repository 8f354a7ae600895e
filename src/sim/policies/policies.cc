// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/sim/policy.h"

namespace squall::sim {
namespace {

using Make = std::unique_ptr<Policy> (*)(const PolicyOptions&);

const std::vector<std::pair<std::string, Make>>& makers() {
    static const std::vector<std::pair<std::string, Make>> list = {
        {"squall", make_squall},
        {"fifo", make_fifo},
        {"edf", make_edf},
        {"priority", make_priority},
        {"easy", make_easy},
        {"las", make_las},
        {"greedy", make_greedy},
        {"local-search", make_local_search},
        {"never-burst", make_never_burst},
        {"burst-at-once", make_burst_at_once},
        {"wait-then-burst", make_wait_then_burst},
    };
    return list;
}

}  // namespace

std::unique_ptr<Policy> make_policy(const std::string& name, const PolicyOptions& options) {
    for (const auto& [known, make] : makers())
        if (known == name) return make(options);
    return nullptr;
}

const std::vector<std::string>& policy_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> list;
        for (const auto& maker : makers()) list.push_back(maker.first);
        return list;
    }();
    return names;
}

}  // namespace squall::sim
