// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/node_plan.h"

#include <algorithm>
#include <map>

#include "src/core/billing.h"

namespace squall {
namespace {

// Index of the step that holds at `at`; the first where `at` is before it.
template <typename Steps>
std::size_t step_at(const Steps& steps, Seconds at) {
    auto after = std::upper_bound(steps.begin(), steps.end(), at, [](Seconds t, const auto& s) { return t < s.at; });
    return after == steps.begin() ? 0 : static_cast<std::size_t>(after - steps.begin()) - 1;
}

// Makes a step begin at `at` (not before the first) and returns its index.
template <typename Steps>
std::size_t split(Steps& steps, Seconds at) {
    std::size_t i = step_at(steps, at);
    if (at <= steps[i].at) return i;
    auto copy = steps[i];
    copy.at = at;
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(i) + 1, copy);
    return i + 1;
}

template <typename Steps, typename Same>
void merge(Steps& steps, Same same) {
    auto end = std::unique(steps.begin(), steps.end(), same);
    steps.erase(end, steps.end());
}

Seconds end_of(const auto& steps, std::size_t i) { return i + 1 < steps.size() ? steps[i + 1].at : kForever; }

bool starts_before(const NodeItem& a, const NodeItem& b) { return a.start < b.start; }

}  // namespace

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

NodePlan::NodePlan(const ClassFacts& facts, const Node& node)
    : facts_(&facts), leased_at_(node.leased_at.value_or(facts.now)), steps_{{facts.now, 0, 0, 0}} {
    bool waits = node.state == NodeState::unavailable || node.state == NodeState::booting;
    open_at_ = waits ? std::max(facts.now, node.ready_at) : facts.now;
    boots_ = facts.spec->rented || node.state == NodeState::powered_down;
    up_now_ = node.state == NodeState::up || node.state == NodeState::booting;
    refresh();
}

void NodePlan::add(const NodeItem& item) {
    auto at = std::upper_bound(items_.begin(), items_.end(), item, starts_before);
    bool last = at == items_.end();
    items_.insert(at, item);
    apply(item, 1);
    if (facts_->spec->rented) {
        if (last)
            extend(last_lease_, rent_, item);
        else
            recount_rent();
    }
    refresh();
}

void NodePlan::remove_job(int job) {
    auto at = std::find_if(items_.begin(), items_.end(), [job](const NodeItem& item) { return item.job == job; });
    if (at == items_.end()) return;
    NodeItem item = *at;
    items_.erase(at);
    apply(item, -1);
    if (facts_->spec->rented) recount_rent();
    refresh();
}

void NodePlan::apply(const NodeItem& item, int sign) {
    if (item.end <= facts_->now) return;
    if (item.shards > 0)
        raise_shared(item, sign);
    else
        raise(item.start, item.end, item.gpus, item, sign);
}

// Adds sign × (busy GPUs, and the item's CPUs and memory where busy is the item's own) over [start, end).
void NodePlan::raise(Seconds start, Seconds end, int busy, const NodeItem& item, int sign) {
    std::size_t first = split(steps_, std::max(start, facts_->now)), last = split(steps_, end);
    for (std::size_t i = first; i < last; ++i) {
        auto& step = steps_[i];
        int after = step.busy + sign * busy;
        // What is not Squall's costs the same with and without a plan; it may last for ever.
        if (item.job >= 0) energy_ += facts_->meter.more(step.busy, after, step.at, steps_[i + 1].at);
        step.busy = after;
        step.cpus += sign * item.cpus;
        step.mem_mb += sign * item.mem_mb;
    }
    merge(steps_,
          [](const Step& a, const Step& b) { return a.busy == b.busy && a.cpus == b.cpus && a.mem_mb == b.mem_mb; });
}

// A shared GPU is busy while any of its shards is taken.
void NodePlan::raise_shared(const NodeItem& item, int sign) {
    auto name = std::find(label_names_.begin(), label_names_.end(), item.gpu_index);
    auto index = static_cast<std::size_t>(name - label_names_.begin());
    if (name == label_names_.end()) {
        label_names_.push_back(item.gpu_index);
        shared_.push_back({{facts_->now, 0}});
    }
    auto& steps = shared_[index];
    NodeItem host = item;  // only its CPUs and memory
    raise(item.start, item.end, 0, host, sign);
    host.cpus = 0, host.mem_mb = 0;
    std::size_t first = split(steps, std::max(item.start, facts_->now)), last = split(steps, item.end);
    for (std::size_t i = first; i < last; ++i) {
        bool was = steps[i].shards > 0;
        steps[i].shards += sign * item.shards;
        bool is = steps[i].shards > 0;
        if (was != is) raise(steps[i].at, steps[i + 1].at, 1, host, sign);
    }
    merge(steps, [](const SharedStep& a, const SharedStep& b) { return a.shards == b.shards; });
    if (steps.size() > 1 || steps.front().shards > 0) return;
    label_names_.erase(label_names_.begin() + static_cast<std::ptrdiff_t>(index));
    shared_.erase(shared_.begin() + static_cast<std::ptrdiff_t>(index));
}

// Tails and gaps for every number of GPUs, from the end of time backwards.
void NodePlan::refresh() {
    int total = facts_->spec->gpus;
    tail_.assign(static_cast<std::size_t>(total) + 1, open_at_);
    gap_.assign(static_cast<std::size_t>(total) + 1, 0);
    for (int g = 1; g <= total; ++g) {
        std::size_t i = steps_.size();
        while (i > 0 && total - steps_[i - 1].busy >= g) --i;
        tail_[g] = i == steps_.size() ? kForever : std::max(open_at_, steps_[i].at);
        Seconds begin = -1;
        for (std::size_t k = 0; k < i; ++k) {
            if (total - steps_[k].busy < g) {
                begin = -1;
                continue;
            }
            if (begin < 0) begin = std::max(open_at_, steps_[k].at);
            gap_[g] = std::max(gap_[g], steps_[k + 1].at - begin);
        }
    }
}

int NodePlan::new_label() const {
    int label = 0;
    while (std::find(label_names_.begin(), label_names_.end(), label) != label_names_.end()) ++label;
    return label;
}

bool NodePlan::has_room(const Step& step, const NodeWant& want, int gpus) const {
    const auto& c = *facts_->spec;
    return step.busy + gpus <= c.gpus && (want.cpus == 0 || c.cpus == 0 || step.cpus + want.cpus <= c.cpus) &&
           (want.mem_mb == 0 || c.mem_mb == 0 || step.mem_mb + want.mem_mb <= c.mem_mb);
}

Seconds NodePlan::earliest_whole(const NodeWant& want, Seconds from, Seconds length) const {
    for (std::size_t i = step_at(steps_, from); i < steps_.size(); ++i) {
        Seconds until = end_of(steps_, i);
        if (!has_room(steps_[i], want, want.gpus))
            from = until;
        else if (until - from >= length)
            return from;
    }
    return kForever;
}

Seconds NodePlan::earliest_shared(const NodeWant& want, Seconds from, Seconds length, const SharedSteps& shared) const {
    std::size_t i = step_at(steps_, from), k = step_at(shared, from);
    while (from < kForever) {
        int on_gpu = shared[k].shards;
        bool room = on_gpu + want.shards <= facts_->spec->shards_per_gpu && has_room(steps_[i], want, on_gpu == 0);
        Seconds step_end = end_of(steps_, i), shared_end = end_of(shared, k);
        Seconds until = std::min(step_end, shared_end);
        if (!room)
            from = until;
        else if (until - from >= length)
            return from;
        if (until >= kForever) return kForever;
        i += step_end == until;
        k += shared_end == until;
    }
    return kForever;
}

const NodePlan::SharedSteps& NodePlan::shared_steps(int label) const {
    static const SharedSteps kNone{{0, 0}};
    auto name = std::find(label_names_.begin(), label_names_.end(), label);
    return name == label_names_.end() ? kNone : shared_[static_cast<std::size_t>(name - label_names_.begin())];
}

Seconds NodePlan::earliest(const NodeWant& want, Seconds from, Seconds length, int label) const {
    from = std::max(from, open_at_);
    if (want.shards > 0) return earliest_shared(want, from, length, shared_steps(label));
    return earliest_whole(want, from, length);
}

bool NodePlan::down_at(Seconds start) const {
    if (!boots_) return false;
    Seconds up_until = up_now_ ? open_at_ : -1;
    bool any = up_now_;
    for (const auto& item : items_) {
        if (item.start > start) break;
        up_until = std::max(up_until, item.end);
        any = true;
    }
    if (!any) return true;
    return facts_->spec->rented && start > up_until + facts_->spec->release_s;
}

Seconds NodePlan::ready_at(Seconds start) const {
    if (!boots_) return start;
    if (down_at(start)) return start + facts_->spec->boot_s;
    Seconds ready = start;
    for (const auto& item : items_)
        if (item.start <= start) ready = std::max(ready, item.ready);
    return ready;
}

// Takes one more item, not earlier than those before, into the last lease or begins a new one.
void NodePlan::extend(LeaseSpan& last, Micro& rent, const NodeItem& item) const {
    Seconds release = item.end + facts_->spec->release_s;
    bool none = last.release < 0;
    if (!none && item.start <= last.release) {
        if (release <= last.release) return;
        rent -= rent_of(last);
        last.release = release;
    } else {
        bool leased = none && up_now_ && item.start <= open_at_ + facts_->spec->release_s;
        last = {leased ? leased_at_ : item.start, release};
    }
    rent += rent_of(last);
}

void NodePlan::recount_rent() {
    last_lease_ = {-1, -1};
    rent_ = 0;
    for (const auto& item : items_) extend(last_lease_, rent_, item);
}

std::vector<NodePlan::LeaseSpan> NodePlan::leases(const NodeItem* more) const {
    auto items = items_;
    if (more) items.insert(std::upper_bound(items.begin(), items.end(), *more, starts_before), *more);
    std::vector<LeaseSpan> spans;
    LeaseSpan last{-1, -1};
    Micro rent = 0;
    for (const auto& item : items) {
        Seconds launch = last.launch;
        bool first = last.release < 0;
        extend(last, rent, item);
        if (first || last.launch != launch)
            spans.push_back(last);
        else
            spans.back() = last;
    }
    return spans;
}

Micro NodePlan::rent_of(const LeaseSpan& span) const {
    const auto& c = *facts_->spec;
    auto until = [&](Seconds end) {
        return lease_cost(c.price_micro_h, c.billing_step_s, c.billing_min_s, span.launch, end);
    };
    return until(span.release) - (span.launch < facts_->now ? until(facts_->now) : 0);
}

Pico NodePlan::energy_of(Seconds start, Seconds end, int more) const {
    Pico sum = 0;
    start = std::max(start, facts_->now);
    for (std::size_t i = step_at(steps_, start); i < steps_.size() && start < end; ++i) {
        Seconds until = std::min(end, end_of(steps_, i));
        sum += facts_->meter.more(steps_[i].busy, steps_[i].busy + more, start, until);
        start = until;
    }
    return sum;
}

Pico NodePlan::energy_of_share(const NodeItem& item) const {
    const auto& shared = shared_steps(item.gpu_index);
    Pico sum = 0;
    Seconds start = std::max(item.start, facts_->now);
    for (std::size_t k = step_at(shared, start); k < shared.size() && start < item.end; ++k) {
        Seconds until = std::min(item.end, end_of(shared, k));
        if (shared[k].shards == 0) sum += energy_of(start, until, 1);
        start = until;
    }
    return sum;
}

Micro NodePlan::cost_of(const NodeItem& item) const {
    if (facts_->spec->rented) {
        LeaseSpan last = last_lease_;
        Micro rent = 0;
        extend(last, rent, item);
        return rent;
    }
    if (facts_->meter.free()) return 0;
    Pico more = item.shards > 0 ? energy_of_share(item) : energy_of(item.start, item.end, item.gpus);
    return to_micro(energy_ + more) - to_micro(energy_);
}

}  // namespace squall
