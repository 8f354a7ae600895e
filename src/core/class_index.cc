// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/class_index.h"

#include <algorithm>

namespace squall {

void ClassIndex::touch(const Kind& kind, int node) {
    auto group = untouched_.find(kind);
    if (group == untouched_.end()) return;
    auto& nodes = group->second;
    auto at = std::find(nodes.rbegin(), nodes.rend(), node);
    if (at != nodes.rend()) nodes.erase(std::next(at).base());
    if (nodes.empty()) untouched_.erase(group);
}

ClassIndex::Key ClassIndex::key(int g, int node, const NodePlan& plan) const {
    bool last = g + 1 >= static_cast<int>(tails_.size());
    return {plan.tail(g), last ? 0 : plan.tail(g + 1), node};
}

void ClassIndex::enter(int node, const NodePlan& plan) {
    auto& known = known_[node];
    known.tails.resize(tails_.size(), {-1, 0, node});
    known.gaps.resize(tails_.size(), 0);
    update(node, plan);
}

// Most changes touch few of the keys.
void ClassIndex::update(int node, const NodePlan& plan) {
    auto& known = known_.at(node);
    for (int g = 1; g < static_cast<int>(tails_.size()); ++g) {
        auto fresh = key(g, node, plan);
        if (auto& old = known.tails[g]; old != fresh) {
            tails_[g].erase(old);
            tails_[g].insert(fresh);
            old = fresh;
        }
        Seconds gap = plan.longest_gap(g);
        if (auto& old = known.gaps[g]; old != gap) {
            gaps_[g].erase({old, node});
            if (gap > 0) gaps_[g].insert({gap, node});
            old = gap;
        }
    }
    bool shares = !plan.labels().empty();
    if (shares != known.sharing) {
        if (shares)
            sharing_.insert(node);
        else
            sharing_.erase(node);
        known.sharing = shares;
    }
}

std::vector<int> ClassIndex::free_by(int g, Seconds from, int limit) const {
    std::vector<int> nodes;
    if (g >= static_cast<int>(tails_.size())) return nodes;
    auto at = tails_[g].upper_bound({from, kForever + 1, INT32_MAX});
    while (at != tails_[g].begin() && static_cast<int>(nodes.size()) < limit) nodes.push_back((--at)->node);
    return nodes;
}

std::vector<int> ClassIndex::free_after(int g, Seconds from, int limit) const {
    std::vector<int> nodes;
    if (g >= static_cast<int>(tails_.size())) return nodes;
    auto at = tails_[g].upper_bound({from, kForever + 1, INT32_MAX});
    for (; at != tails_[g].end() && at->tail < kForever && static_cast<int>(nodes.size()) < limit; ++at)
        nodes.push_back(at->node);
    return nodes;
}

std::vector<int> ClassIndex::with_gap(int g, Seconds length, int limit) const {
    std::vector<int> nodes;
    if (g >= static_cast<int>(gaps_.size())) return nodes;
    for (auto at = gaps_[g].lower_bound({length, 0}); at != gaps_[g].end() && static_cast<int>(nodes.size()) < limit;
         ++at)
        nodes.push_back(at->second);
    return nodes;
}

std::vector<int> ClassIndex::sharing(int limit) const {
    std::vector<int> nodes;
    for (auto at = sharing_.begin(); at != sharing_.end() && static_cast<int>(nodes.size()) < limit; ++at)
        nodes.push_back(*at);
    return nodes;
}

}  // namespace squall
