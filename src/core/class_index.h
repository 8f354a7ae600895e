// SPDX-License-Identifier: GPL-3.0-or-later
// Which nodes of one class to look at for a job, without looking at all of them. Nodes that hold nothing are
// counted in a few groups of identical ones; nodes that hold something are ordered by when they have GPUs
// free for good, and by their longest gap. So neither time nor memory grows with the number of identical nodes.
#pragma once
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "src/core/node_plan.h"

namespace squall {

class ClassIndex {
  public:
    explicit ClassIndex(int gpus) : tails_(gpus + 1), gaps_(gpus + 1) {}

    struct Kind {  // of an untouched node
        NodeState state;
        Seconds open_at;    // nothing starts before
        Seconds leased_at;  // -1 = not leased
        auto operator<=>(const Kind&) const = default;
    };
    void add_untouched(const Kind& kind, int node) { untouched_[kind].push_back(node); }
    // Removes `node` from its untouched group. Cheap for the group's next node, which is the one finders offer.
    void touch(const Kind& kind, int node);
    void enter(int node, const NodePlan& plan);   // first time
    void update(int node, const NodePlan& plan);  // after a change

    // Touched nodes with at least g GPUs free for good by `from`: those that free latest first (best fit).
    std::vector<int> free_by(int g, Seconds from, int limit) const;
    // Touched nodes that free g GPUs for good after `from`, soonest first.
    std::vector<int> free_after(int g, Seconds from, int limit) const;
    // Touched nodes with a finite stretch of at least `length` with g GPUs free.
    std::vector<int> with_gap(int g, Seconds length, int limit) const;
    // Touched nodes that share a GPU.
    std::vector<int> sharing(int limit) const;
    // Up to `count` nodes of each untouched group, with its kind.
    const std::map<Kind, std::vector<int>>& untouched() const { return untouched_; }

  private:
    struct Key {
        Seconds tail, next_tail;  // of g and of g + 1 GPUs: a later next one is the tighter fit
        int node;
        auto operator<=>(const Key&) const = default;
    };
    struct Known {  // what the sets below hold of a node
        std::vector<Key> tails;
        std::vector<Seconds> gaps;
        bool sharing = false;
    };
    Key key(int g, int node, const NodePlan& plan) const;
    std::unordered_map<int, Known> known_;
    std::vector<std::set<Key>> tails_;
    std::vector<std::set<std::pair<Seconds, int>>> gaps_;
    std::set<int> sharing_;
    std::map<Kind, std::vector<int>> untouched_;  // taken from the back
};

}  // namespace squall
