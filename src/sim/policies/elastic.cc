// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/sim/policies/elastic.h"

#include <algorithm>
#include <cmath>

#include "src/core/tariff.h"

namespace squall::sim {
namespace {

double money(Micro micro) { return static_cast<double>(micro) / 1e6; }

// A size that always packs with the others: it divides a node, or takes whole ones.
bool packs(int gpus, int a_node) { return gpus <= a_node ? a_node % gpus == 0 : gpus % a_node == 0; }

// Money a second: these GPUs' share of a rented node, or of what a full local one draws.
double rate_of(const Control& control, const NodeClass& c, const Config& config) {
    if (c.gpus == 0) return 0;
    double node = c.rented ? money(c.price_micro_h) / 3600
                           : money(energy_cost(c, billed_watts(c, c.gpus), control.now(), control.now() + kHour,
                                               control.cluster().utc_offset_s)) /
                                 3600;
    return node * config.nodes * config.gpus / c.gpus;
}

}  // namespace

bool ElasticDecision::suits(const Control& control) {
    auto elastic = [&](int j) {
        const auto& job = control.job(j);
        return job.checkpointable && job.configs.size() > 1 && job.configs[0].shards == 0;
    };
    return std::all_of(control.waiting().begin(), control.waiting().end(), elastic) &&
           std::all_of(control.running().begin(), control.running().end(), elastic);
}

void ElasticDecision::look_at(const Control& control) {
    const auto& s = control.cluster();
    std::vector<int> nodes(s.classes.size());
    for (int n = 0; n < static_cast<int>(s.nodes.size()); ++n)
        nodes[s.nodes[n].class_id] += !control.floor().node(n).broken;
    slots_ = control.rules().free_moves && s.groups.size() == 1 && s.groups[0].class_ids.size() == s.classes.size();
    pool_of_.assign(s.classes.size(), 0);
    pool_gpus_.clear();
    slot_gpus_ = 0;
    for (int c = 0; c < static_cast<int>(s.classes.size()); ++c) {
        slot_gpus_ = std::max(slot_gpus_, s.classes[c].gpus);
        if (slots_) continue;
        pool_of_[c] = c;
        int most =
            s.classes[c].rented && s.classes[c].max_nodes > 0 ? std::min(nodes[c], s.classes[c].max_nodes) : nodes[c];
        pool_gpus_.push_back(most * s.classes[c].gpus);
    }
    if (slots_) pool_gpus_ = {s.groups[0].max_nodes * slot_gpus_};
}

ElasticJob ElasticDecision::describe(const Control& control, int j) const {
    const auto& job = control.job(j);
    const auto& state = control.state(j);
    ElasticJob e;
    e.left = std::max(1e-7, control.left(j));
    e.due_s = job.due ? static_cast<double>(*job.due - control.now()) : 1e15;
    e.late_s_cost = job.due ? money(job.late_micro_h) / 3600 : 0;
    e.miss_cost = options_.miss_cost;
    e.wait_s_cost = options_.wait_h_cost / 3600;
    e.restart_s = static_cast<double>(job.restart_s);
    e.begun = state.begun || (state.phase == Phase::running && control.now() > state.computes_from);
    for (int c = 0; c < static_cast<int>(job.configs.size()); ++c) {
        const auto& config = job.configs[c];
        const auto& spec = control.cluster().classes[config.class_id];
        int gpus = config.nodes * config.gpus;
        if (!control.may_use(j, c) || !packs(gpus, slots_ ? slot_gpus_ : spec.gpus)) continue;
        Size size{pool_of_[config.class_id], gpus, static_cast<double>(config.run_s),
                  options_.rent_scale * rate_of(control, spec, config), c};
        auto same = std::find_if(e.sizes.begin(), e.sizes.end(),
                                 [&](const Size& o) { return o.pool == size.pool && o.gpus == size.gpus; });
        if (same == e.sizes.end())
            e.sizes.push_back(size);
        else if (size.run_s < same->run_s || (size.run_s == same->run_s && size.cost_s < same->cost_s))
            *same = size;
    }
    std::sort(e.sizes.begin(), e.sizes.end(),
              [](const Size& a, const Size& b) { return a.pool != b.pool ? a.pool < b.pool : a.gpus < b.gpus; });
    if (state.phase == Phase::running) {
        const auto& now = job.configs[state.config];
        for (int s = 0; s < static_cast<int>(e.sizes.size()); ++s)
            if (e.sizes[s].pool == pool_of_[now.class_id] && e.sizes[s].gpus == now.nodes * now.gpus) e.size_now = s;
    }
    return e;
}

void ElasticDecision::decide(Control& control) {
    look_at(control);
    ElasticProblem problem;
    problem.pool_gpus = pool_gpus_;
    jobs_ = control.waiting();
    jobs_.insert(jobs_.end(), control.running().begin(), control.running().end());
    std::sort(jobs_.begin(), jobs_.end());
    for (int j : jobs_) problem.jobs.push_back(describe(control, j));
    ReallotOptions options;
    options.plays = options_.plays;
    options.seed = options_.seed + static_cast<std::uint64_t>(++decisions_);
    Shares shares = reallot(problem, options);
    std::vector<Wanted> wanted;
    for (std::size_t i = 0; i < jobs_.size(); ++i)
        if (shares[i] >= 0) {
            const auto& size = problem.jobs[i].sizes[shares[i]];
            wanted.push_back({jobs_[i], size.config, size.gpus});
        }
    std::stable_sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) { return a.gpus > b.gpus; });
    if (slots_)
        pack_slots(control, std::move(wanted));
    else
        place_on_classes(control, std::move(wanted));
}

// Largest first into slots; each slot then gets the cheapest machine on which its jobs are not slower.
void ElasticDecision::pack_slots(Control& control, std::vector<Wanted> wanted) {
    struct Slot {
        int used = 0;
        std::vector<Wanted> jobs;
    };
    std::vector<Slot> slots;
    for (const auto& w : wanted) {
        auto slot =
            std::find_if(slots.begin(), slots.end(), [&](const Slot& s) { return s.used + w.gpus <= slot_gpus_; });
        if (slot == slots.end()) slot = slots.insert(slots.end(), Slot{});
        slot->used += w.gpus;
        slot->jobs.push_back(w);
    }
    auto running = control.running();
    for (int j : running) control.stop(j);
    const auto& s = control.cluster();
    std::vector<int> used(s.classes.size());
    for (auto& slot : slots) {
        int best = -1;
        double least = 0;
        std::vector<int> best_configs;
        for (int c = 0; c < static_cast<int>(s.classes.size()); ++c) {
            if (s.classes[c].gpus < slot.used) continue;
            double cost = money(s.classes[c].price_micro_h) / 3600;
            std::vector<int> configs;
            for (const auto& w : slot.jobs) {
                const auto& list = control.job(w.job).configs;
                for (int k = 0; k < static_cast<int>(list.size()); ++k) {
                    if (list[k].class_id != c || list[k].gpus != w.gpus) continue;
                    double slower = static_cast<double>(list[k].run_s) / static_cast<double>(list[w.config].run_s) - 1;
                    cost += slower * money(control.job(w.job).late_micro_h) / 3600;
                    configs.push_back(k);
                    break;
                }
            }
            if (configs.size() != slot.jobs.size() || (best >= 0 && cost >= least)) continue;
            best = c, least = cost, best_configs = configs;
        }
        if (best < 0) continue;
        int skip = used[best]++;
        for (int n = 0; n < static_cast<int>(s.nodes.size()); ++n)
            if (s.nodes[n].class_id == best && skip-- == 0) {
                for (std::size_t i = 0; i < slot.jobs.size(); ++i) {
                    const auto& config = control.job(slot.jobs[i].job).configs[best_configs[i]];
                    if (control.floor().fits(config, Place{{n}, -1}))
                        control.start(slot.jobs[i].job, best_configs[i], Place{{n}, -1});
                }
                break;
            }
    }
}

bool ElasticDecision::place_rest(Control& control, const std::vector<Wanted>& wanted) {
    bool all = true;
    for (const auto& w : wanted)
        if (control.state(w.job).phase == Phase::waiting) all &= control.try_start(w.job, w.config);
    return all;
}

// Jobs whose size stays keep their nodes. Where the holes are too small for the others, those on the class move
// together.
void ElasticDecision::place_on_classes(Control& control, std::vector<Wanted> wanted) {
    auto running = control.running();
    for (int j : running) {
        auto same = std::find_if(wanted.begin(), wanted.end(), [&](const Wanted& w) { return w.job == j; });
        if (same == wanted.end() || same->config != control.state(j).config) control.stop(j);
    }
    if (place_rest(control, wanted)) return;
    running = control.running();
    for (int j : running) control.stop(j);
    // Largest first, each where it was if that is still free, so that few move.
    for (const auto& w : wanted) {
        const auto& state = control.state(w.job);
        const auto& config = control.job(w.job).configs[w.config];
        if (state.last_config == w.config && control.floor().fits(config, state.last_place) &&
            state.stopped_at == control.now())
            control.start(w.job, w.config, state.last_place);
        else
            control.try_start(w.job, w.config);
    }
}

}  // namespace squall::sim
