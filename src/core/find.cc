// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/find.h"

#include <algorithm>

#include "src/core/tariff.h"

namespace squall {
namespace {

// How many touched nodes are looked at in each way. More finds tighter fits and takes longer.
constexpr int kLook = 3;
constexpr int kLookGaps = 12;
constexpr int kLookSharing = 24;
constexpr int kLookStarts = 4;

class Finder {
  public:
    Finder(const Schedule& schedule, int job, int config, const FindOptions& options)
        : schedule_(schedule),
          job_index_(job),
          config_index_(config),
          job_(schedule.snapshot().jobs[job]),
          config_(job_.configs[config]),
          class_(schedule.snapshot().classes[config_.class_id]),
          index_(schedule.index(config_.class_id)),
          options_(options),
          from_(std::max({job_.release, schedule.snapshot().now, options.not_before})),
          length_(run_length(job_, config_)),
          want_(want_of(config_)) {}

    std::optional<Found> run() {
        if (config_.nodes > 1)
            try_several();
        else if (config_.shards > 0)
            try_shared();
        else
            try_single();
        return best_;
    }

    std::optional<Found> same(const Spot& was) {
        Spot spot = was;
        spot.start = spot.ready = std::max(was.start, from_);
        spot.nodes_cost = spot.late = 0;
        for (int n : spot.nodes) {
            const auto& plan = schedule_.plan_of(n);
            if (!schedule_.usable(n) || !plan.appendable(spot.start)) return {};
            spot.ready = std::max(spot.ready, plan.ready_at(spot.start));
        }
        spot.end = spot.ready + length_;
        for (int n : spot.nodes)
            if (!schedule_.plan_of(n).fits(want_, spot.start, spot.end, spot.gpu_index)) return {};
        if (schedule_.groups_bear(spot, config_.class_id)) price(spot);
        return best_;
    }

  private:
    int gpus() const { return std::max(1, config_.gpus); }

    void try_single() {
        for (int n : index_.free_by(gpus(), from_, kLook)) try_node(n);
        for (int n : index_.free_after(gpus(), from_, kLook)) try_node(n);
        for (const auto& [kind, nodes] : index_.untouched()) try_node(nodes.back());
        if (auto gaps = index_.with_gap(gpus(), length_, kLookGaps); !gaps.empty())
            for (int n : gaps) try_node(n);
    }

    void try_shared() {
        for (int n : index_.sharing(kLookSharing)) try_node(n);
        try_single();
    }

    void try_node(int node) {
        const NodePlan& plan = schedule_.plan_of(node);
        if (config_.shards == 0) return try_label(node, plan, -1);
        for (int label : plan.labels()) try_label(node, plan, label);
        try_label(node, plan, plan.new_label());
    }

    void try_label(int node, const NodePlan& plan, int label) {
        Seconds from = std::max(from_, plan.append_from());
        Seconds length = length_ + (plan.down_at(from) ? class_.boot_s : 0);
        Seconds start = plan.earliest(want_, from, length, label);
        if (start >= kForever) return;
        offer_at(node, plan, start, label);
        try_cheaper_times(node, plan, start, label);
    }

    // Waiting pays where the tariff falls, where the run ends before it rises, where the node's other GPUs are idle by
    // then, and where another job starts that the node's idle power can be shared with; what that costs in lateness is
    // weighed like any other start.
    void try_cheaper_times(int node, const NodePlan& plan, Seconds start, int label) {
        if (class_.rented || class_.tariff.empty()) return;
        auto offer_from = [&](Seconds at) {
            if (at > start) at = plan.earliest(want_, at, length_, label);
            if (at > start && at <= start + kDay) offer_at(node, plan, at, label);
        };
        if (Seconds idle = plan.tail(class_.gpus); idle < kForever) offer_from(idle);
        int others = 0;
        for (const auto& item : plan.items())
            if (item.start > start && others++ < kLookStarts) offer_from(item.start);
        if (class_.tariff.size() < 2) return;
        Seconds step = start;
        for (int i = 0; i < 3; ++i) {
            step = next_tariff_step(class_, step, schedule_.snapshot().utc_offset_s);
            offer_from(step);
            offer_from(step - length_);
        }
    }

    void offer_at(int node, const NodePlan& plan, Seconds start, int label) {
        if (!plan.appendable(start)) return;
        Spot spot;
        spot.config = config_index_;
        spot.start = start;
        spot.ready = plan.ready_at(start);
        spot.end = spot.ready + length_;
        spot.nodes = {node};
        spot.gpu_index = label;
        if (spot.end > start + length_ && !plan.fits(want_, start, spot.end, label)) return;
        offer(std::move(spot));
    }

    NodeItem item_of(const Spot& spot) const {
        return {spot.start,     spot.end,     spot.ready,     config_.gpus, config_.shards,
                spot.gpu_index, config_.cpus, config_.mem_mb, job_index_};
    }

    void offer(Spot spot) {
        if (!schedule_.groups_bear(spot, config_.class_id)) return offer_when_group_frees(std::move(spot));
        price(spot);
    }

    // The class's capacity group is full: the next times one of its nodes is given back.
    void offer_when_group_frees(Spot spot) {
        for (Seconds at : schedule_.group_releases(config_.class_id, spot.start)) {
            Seconds shift = at - spot.start;
            spot.start += shift, spot.ready += shift, spot.end += shift;
            bool fits = std::all_of(spot.nodes.begin(), spot.nodes.end(), [&](int n) {
                const auto& plan = schedule_.plan_of(n);
                return plan.appendable(spot.start) && plan.ready_at(spot.start) <= spot.ready &&
                       plan.fits(want_, spot.start, spot.end, spot.gpu_index);
            });
            if (fits && schedule_.groups_bear(spot, config_.class_id)) return price(spot);
        }
    }

    void price(Spot& spot) {
        spot.late = schedule_.late_of(job_index_, spot.end);
        if (best_ && static_cast<double>(spot.late) >= best_->score) return;
        NodeItem item = item_of(spot);
        for (int n : spot.nodes) spot.nodes_cost += schedule_.plan_of(n).cost_of(item);
        if (!schedule_.affordable(job_index_, spot)) return;
        double score = static_cast<double>(spot.total());
        if (options_.prices) score += options_.price_scale * options_.prices->capacity(config_, spot.start, spot.end);
        bool better = !best_ || score < best_->score ||
                      (score == best_->score && (spot.end < best_->spot.end));  // ties: earlier completion
        if (better) best_ = Found{spot, score};
    }

    // Several nodes at once: touched ones that are free by then first, or untouched ones first.
    void try_several() {
        for (bool untouched_first : {false, true}) {
            auto nodes = untouched_first ? untouched() : index_.free_by(gpus(), from_, config_.nodes + kLook);
            auto more = untouched_first ? index_.free_by(gpus(), from_, config_.nodes + kLook) : untouched();
            nodes.insert(nodes.end(), more.begin(), more.end());
            for (int n : index_.free_after(gpus(), from_, config_.nodes)) nodes.push_back(n);
            gather(nodes);
        }
    }

    std::vector<int> untouched() const {
        std::vector<int> nodes;
        for (const auto& [kind, group] : index_.untouched())
            for (auto n = group.rbegin(); n != group.rend() && nodes.size() < static_cast<std::size_t>(config_.nodes);
                 ++n)
                nodes.push_back(*n);
        return nodes;
    }

    void gather(const std::vector<int>& candidates) {
        Spot spot;
        spot.config = config_index_;
        spot.start = from_;
        for (int n : candidates) {
            if (static_cast<int>(spot.nodes.size()) == config_.nodes) break;
            const auto& plan = schedule_.plan_of(n);
            spot.start = std::max(spot.start, plan.tail(gpus()));
            if (spot.start >= kForever) return;
            spot.nodes.push_back(n);
        }
        if (static_cast<int>(spot.nodes.size()) < config_.nodes) return;
        spot.ready = spot.start;
        for (int n : spot.nodes) spot.ready = std::max(spot.ready, schedule_.plan_of(n).ready_at(spot.start));
        spot.end = spot.ready + length_;
        for (int n : spot.nodes) {
            const auto& plan = schedule_.plan_of(n);
            if (!plan.appendable(spot.start) || !plan.fits(want_, spot.start, spot.end, -1)) return;
        }
        std::sort(spot.nodes.begin(), spot.nodes.end());
        offer(std::move(spot));
    }

    const Schedule& schedule_;
    int job_index_, config_index_;
    const Job& job_;
    const Config& config_;
    const NodeClass& class_;
    const ClassIndex& index_;
    const FindOptions& options_;
    Seconds from_, length_;
    NodeWant want_;
    std::optional<Found> best_;
};

}  // namespace

bool config_allowed(const Schedule& schedule, int job, int config) {
    const auto& j = schedule.snapshot().jobs[job];
    bool rented = schedule.snapshot().classes[j.configs[config].class_id].rented;
    if (rented && !schedule.burst()) return false;
    return j.burst == Burst::automatic || rented == (j.burst == Burst::only);
}

std::optional<Found> find_spot(const Schedule& schedule, int job, int config, const FindOptions& options) {
    return Finder(schedule, job, config, options).run();
}

std::optional<Found> find_same(const Schedule& schedule, int job, const Spot& spot) {
    const auto& snapshot = schedule.snapshot();
    const auto& configs = snapshot.jobs[job].configs;
    if (spot.config < 0 || spot.config >= static_cast<int>(configs.size())) return {};
    const auto& config = configs[spot.config];
    if (!config_allowed(schedule, job, spot.config) || static_cast<int>(spot.nodes.size()) != config.nodes) return {};
    for (int n : spot.nodes)
        if (n < 0 || n >= static_cast<int>(snapshot.nodes.size()) || snapshot.nodes[n].class_id != config.class_id)
            return {};
    return Finder(schedule, job, spot.config, {}).same(spot);
}

std::optional<Found> find_best(const Schedule& schedule, int job, const FindOptions& options) {
    std::optional<Found> best;
    int count = static_cast<int>(schedule.snapshot().jobs[job].configs.size());
    for (int c = 0; c < count; ++c) {
        if (!config_allowed(schedule, job, c)) continue;
        auto found = find_spot(schedule, job, c, options);
        if (!found) continue;
        if (options.noise > 0)
            found->score *= 1 + options.noise * static_cast<double>((*options.random)() >> 11) * 0x1.0p-53;
        bool better =
            !best || found->score < best->score || (found->score == best->score && found->spot.end < best->spot.end);
        if (better) best = std::move(found);
    }
    return best;
}

}  // namespace squall
