// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/node_plan.h"

#include <algorithm>
#include <map>

#include "src/core/billing.h"
#include "src/core/tariff.h"

namespace squall {

std::vector<std::pair<Seconds, int>> gpu_events(const std::vector<NodeItem>& items) {
    std::vector<std::pair<Seconds, int>> events;
    std::map<int, std::vector<std::pair<Seconds, Seconds>>> shared;  // label → times, by start as items are
    for (const auto& item : items) {
        if (item.gpus > 0) {
            events.emplace_back(item.start, item.gpus);
            events.emplace_back(item.end, -item.gpus);
        } else if (item.shards > 0) {
            auto& times = shared[item.gpu_index];
            if (!times.empty() && item.start <= times.back().second)
                times.back().second = std::max(times.back().second, item.end);
            else
                times.emplace_back(item.start, item.end);
        }
    }
    for (const auto& [label, times] : shared)
        for (const auto& [start, end] : times) {
            events.emplace_back(start, 1);
            events.emplace_back(end, -1);
        }
    std::sort(events.begin(), events.end());
    return events;
}

NodePlan::NodePlan(const Snapshot& snapshot, int node)
    : snapshot_(&snapshot), class_(&snapshot.classes[snapshot.nodes[node].class_id]), node_(&snapshot.nodes[node]) {
    bool waits = node_->state == NodeState::unavailable || node_->state == NodeState::booting;
    open_at_ = waits ? std::max(snapshot.now, node_->ready_at) : snapshot.now;
    boots_ = class_->rented || node_->state == NodeState::powered_down;
    refresh();
}

void NodePlan::add(const NodeItem& item) {
    auto at = std::upper_bound(items_.begin(), items_.end(), item,
                               [](const NodeItem& a, const NodeItem& b) { return a.start < b.start; });
    items_.insert(at, item);
    refresh();
}

void NodePlan::remove_job(int job) {
    std::erase_if(items_, [job](const NodeItem& item) { return item.job == job; });
    refresh();
}

void NodePlan::refresh() {
    int total = class_->gpus, used = 0;
    steps_.assign(1, {open_at_, total});
    for (const auto& [at, change] : gpu_events(items_)) {
        used += change;
        if (at <= open_at_) {
            steps_.front().free = total - used;
        } else if (at == steps_.back().at) {
            steps_.back().free = total - used;
        } else {
            steps_.push_back({at, total - used});
        }
    }
    tail_.assign(total + 1, open_at_);
    gap_.assign(total + 1, 0);
    for (int g = 1; g <= total; ++g) {
        std::size_t i = steps_.size();
        while (i > 0 && steps_[i - 1].free >= g) --i;
        tail_[g] = i == steps_.size() ? kForever : steps_[i].at;
        Seconds begin = -1;
        for (std::size_t k = 0; k < i; ++k) {
            if (steps_[k].free >= g) {
                if (begin < 0) begin = steps_[k].at;
                gap_[g] = std::max(gap_[g], steps_[k + 1].at - begin);
            } else {
                begin = -1;
            }
        }
    }
}

bool NodePlan::host_fits(const NodeWant& want, Seconds start, Seconds end) const {
    bool cpus = want.cpus > 0 && class_->cpus > 0, mem = want.mem_mb > 0 && class_->mem_mb > 0;
    if (!cpus && !mem) return true;
    auto room_at = [&](Seconds at) {
        std::int64_t used_cpus = want.cpus, used_mem = want.mem_mb;
        for (const auto& item : items_)
            if (item.start <= at && at < item.end) used_cpus += item.cpus, used_mem += item.mem_mb;
        return (!cpus || used_cpus <= class_->cpus) && (!mem || used_mem <= class_->mem_mb);
    };
    if (!room_at(start)) return false;
    return std::all_of(items_.begin(), items_.end(), [&](const NodeItem& item) {
        return item.start <= start || item.start >= end || room_at(item.start);  // load rises only at starts
    });
}

bool NodePlan::fits(const NodeWant& want, Seconds start, Seconds end, int gpu_index) const {
    if (start < open_at_) return false;
    std::vector<NodeItem> with = items_;
    NodeItem item{start, end, start, want.gpus, want.shards, gpu_index, 0, 0, -1};
    with.insert(std::upper_bound(with.begin(), with.end(), item,
                                 [](const NodeItem& a, const NodeItem& b) { return a.start < b.start; }),
                item);
    int used = 0;
    auto events = gpu_events(with);
    for (std::size_t i = 0; i < events.size() && events[i].first < end; ++i) {
        used += events[i].second;
        bool holds_on = i + 1 == events.size() || events[i + 1].first > std::max(start, events[i].first);
        if (holds_on && used > class_->gpus) return false;
    }
    if (want.shards > 0) {
        for (const auto& at : with) {
            if (at.gpu_index != gpu_index || at.shards == 0 || at.start >= end || at.end <= start) continue;
            int shards = 0;  // load on the shared GPU rises only at starts
            Seconds moment = std::max(at.start, start);
            for (const auto& other : with)
                if (other.shards > 0 && other.gpu_index == gpu_index && other.start <= moment && moment < other.end)
                    shards += other.shards;
            if (shards > class_->shards_per_gpu) return false;
        }
    }
    return host_fits(want, start, end);
}

int NodePlan::free_label(Seconds start, Seconds end) const {
    for (int label = 0;; ++label) {
        bool taken = std::any_of(items_.begin(), items_.end(), [&](const NodeItem& item) {
            return item.shards > 0 && item.gpu_index == label && item.start < end && start < item.end;
        });
        if (!taken) return label;
    }
}

Seconds NodePlan::earliest(const NodeWant& want, Seconds from, Seconds length, int& gpu_index) const {
    from = std::max(from, open_at_);
    gpu_index = -1;
    std::vector<Seconds> moments{from};  // the load only falls at these
    for (const auto& item : items_)
        if (item.end > from) moments.push_back(item.end);
    std::sort(moments.begin(), moments.end());
    for (Seconds start : moments) {
        if (want.shards == 0) {
            if (fits(want, start, start + length, -1)) return start;
            continue;
        }
        // Sharing a GPU that is already shared keeps whole ones free; the fullest one first is what fits best.
        std::vector<int> labels;
        for (const auto& item : items_)
            if (item.shards > 0 && item.end > start &&
                std::find(labels.begin(), labels.end(), item.gpu_index) == labels.end())
                labels.push_back(item.gpu_index);
        labels.push_back(free_label(start, start + length));
        for (int label : labels)
            if (fits(want, start, start + length, label)) {
                gpu_index = label;
                return start;
            }
    }
    return kForever;
}

bool NodePlan::down_at(Seconds start) const {
    if (!boots_) return false;
    bool up_now = node_->state == NodeState::up || node_->state == NodeState::booting;
    Seconds up_until = up_now ? open_at_ : -1;
    bool any = up_now;
    for (const auto& item : items_) {
        if (item.start > start) break;
        up_until = std::max(up_until, item.end);
        any = true;
    }
    if (!any) return true;
    return class_->rented && start > up_until + class_->release_s;
}

bool NodePlan::appendable(Seconds start) const { return !boots_ || items_.empty() || start >= items_.back().start; }

Seconds NodePlan::ready_at(Seconds start) const {
    if (down_at(start)) return start + class_->boot_s;
    Seconds ready = start;
    for (const auto& item : items_)
        if (item.start <= start) ready = std::max(ready, item.ready);
    return ready;
}

std::vector<NodePlan::LeaseSpan> NodePlan::leases(const std::vector<NodeItem>& items) const {
    std::vector<LeaseSpan> spans;
    bool up_now = node_->state == NodeState::up || node_->state == NodeState::booting;
    Seconds used_until = -1;
    for (const auto& item : items) {
        if (spans.empty() && up_now && item.start <= open_at_ + class_->release_s) {
            spans.push_back({node_->leased_at.value_or(snapshot_->now), 0});
        } else if (spans.empty() || item.start > used_until + class_->release_s) {
            spans.push_back({item.start, 0});
        }
        used_until = std::max(used_until, item.end);
        spans.back().release = used_until + class_->release_s;
    }
    return spans;
}

Micro NodePlan::rent(const std::vector<NodeItem>& items) const {
    Micro sum = 0;
    for (const auto& span : leases(items)) {
        auto cost_until = [&](Seconds end) {
            return lease_cost(class_->price_micro_h, class_->billing_step_s, class_->billing_min_s, span.launch, end);
        };
        sum += cost_until(span.release) - (span.launch < snapshot_->now ? cost_until(snapshot_->now) : 0);
    }
    return sum;
}

Micro NodePlan::energy(const std::vector<NodeItem>& items) const {
    if (class_->tariff.empty() || class_->busy_watts.empty()) return 0;
    Micro sum = 0;
    int busy = 0;
    Seconds since = snapshot_->now;
    for (const auto& [at, change] : gpu_events(items)) {
        if (at > since) {
            sum += energy_cost(*class_, billed_watts(*class_, busy), since, at, snapshot_->utc_offset_s);
            since = at;
        }
        busy += change;
    }
    return sum;
}

Micro NodePlan::full_cost(const std::vector<NodeItem>& items) const {
    if (items.empty()) return 0;
    return class_->rented ? rent(items) : energy(items);
}

Micro NodePlan::cost_with(const NodeItem& item) const {
    std::vector<NodeItem> with = items_;
    with.insert(std::upper_bound(with.begin(), with.end(), item,
                                 [](const NodeItem& a, const NodeItem& b) { return a.start < b.start; }),
                item);
    return full_cost(with) - base_;
}

}  // namespace squall
