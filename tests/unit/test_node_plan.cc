// SPDX-License-Identifier: GPL-3.0-or-later
// A node's load kept as steps answers as a count from its items does, whatever comes and goes.
#include <random>

#include "src/core/check_node.h"
#include "src/core/node_plan.h"
#include "tests/unit/random_snapshot.h"
#include "tests/unit/suite.h"

using namespace squall;

namespace {

std::vector<CheckedUse> uses_of(const NodePlan& plan) {
    std::vector<CheckedUse> uses;
    for (const auto& i : plan.items())
        uses.push_back({i.start, i.end, i.gpus, i.shards, i.gpu_index, i.cpus, i.mem_mb,
                        static_cast<std::uint32_t>(i.job + 1), i.job >= 0, i.job < 0});
    return uses;
}

// GPUs, CPUs, memory and shards counted from the items at one time.
bool has_room_at(const NodePlan& plan, const NodeClass& c, const NodeWant& want, int label, Seconds at) {
    int busy = 0, cpus = want.cpus, shards = want.shards;
    std::int64_t mem = want.mem_mb;
    std::vector<int> shared;
    if (want.shards > 0) shared.push_back(label);
    for (const auto& i : plan.items()) {
        if (i.start > at || i.end <= at) continue;
        busy += i.gpus, cpus += i.cpus, mem += i.mem_mb;
        if (i.shards > 0 && std::find(shared.begin(), shared.end(), i.gpu_index) == shared.end())
            shared.push_back(i.gpu_index);
        if (i.shards > 0 && want.shards > 0 && i.gpu_index == label) shards += i.shards;
    }
    return busy + want.gpus + static_cast<int>(shared.size()) <= c.gpus && shards <= std::max(c.shards_per_gpu, 0) &&
           (want.cpus == 0 || c.cpus == 0 || cpus <= c.cpus) && (want.mem_mb == 0 || c.mem_mb == 0 || mem <= c.mem_mb);
}

bool fits_by_count(const NodePlan& plan, const NodeClass& c, const NodeWant& want, int label, Seconds start,
                   Seconds end) {
    if (!has_room_at(plan, c, want, label, start)) return false;
    for (const auto& i : plan.items())
        for (Seconds at : {i.start, i.end})
            if (at > start && at < end && !has_room_at(plan, c, want, label, at)) return false;
    return true;
}

class Walk {
  public:
    explicit Walk(unsigned seed)
        : random_(seed), snapshot_(RandomProblem(seed).make(4, 2, false)), facts_(snapshot_, 0) {
        snapshot_.nodes[0].ready_at = std::min(snapshot_.nodes[0].ready_at, snapshot_.now + 700);
    }
    int pick(int least, int most) {
        return least + static_cast<int>(random_() % static_cast<unsigned>(most - least + 1));
    }

    void run() {
        NodePlan plan(facts_, snapshot_.nodes[0]);
        for (int step = 0; step < 40; ++step) {
            if (jobs_.empty() || pick(1, 100) <= 65)
                add(plan);
            else
                remove(plan);
            compare(plan);
        }
        while (!jobs_.empty()) remove(plan);
        ck_assert_int_eq(plan.cost(), 0);
        ck_assert_int_eq(plan.earliest({1, 0, 0, 0}, snapshot_.now + 700, 10, -1), snapshot_.now + 700);
    }

  private:
    const NodeClass& c() const { return snapshot_.classes[0]; }

    NodeWant any_want() {
        NodeWant want;
        want.gpus = pick(1, c().gpus);
        if (c().shards_per_gpu > 0 && pick(0, 1)) want.gpus = 0, want.shards = pick(1, c().shards_per_gpu);
        if (c().cpus > 0) want.cpus = pick(0, 3), want.mem_mb = pick(0, 20000);
        return want;
    }

    void add(NodePlan& plan) {
        auto want = any_want();
        int label = want.shards == 0 ? -1
                    : !plan.labels().empty() && pick(0, 2)
                        ? plan.labels()[pick(0, static_cast<int>(plan.labels().size()) - 1)]
                        : plan.new_label();
        Seconds from = std::max(snapshot_.now + pick(0, 3000), plan.append_from()), length = pick(1, 2000);
        Seconds start = plan.earliest(want, from, length, label);
        ck_assert_int_lt(start, kForever);
        ck_assert(fits_by_count(plan, c(), want, label, start, start + length));
        for (int i = 0; i < 5 && start > from; ++i) {
            Seconds sooner = from + pick(0, static_cast<int>(start - from) - 1);
            ck_assert(sooner < ready_from(plan) || !fits_by_count(plan, c(), want, label, sooner, sooner + length));
        }
        NodeItem item{start, start + length, plan.ready_at(start), want.gpus, want.shards,
                      label, want.cpus,      want.mem_mb,          next_};
        Micro before = plan.cost(), more = plan.cost_of(item);
        plan.add(item);
        ck_assert_int_eq(plan.cost() - before, more);
        jobs_.push_back(next_++);
    }

    Seconds ready_from(const NodePlan& plan) const { return plan.earliest({0, 0, 0, 0}, snapshot_.now, 1, -1); }

    // On nodes that boot, last come, first gone.
    void remove(NodePlan& plan) {
        std::size_t i =
            plan.boots() ? jobs_.size() - 1 : static_cast<std::size_t>(pick(0, static_cast<int>(jobs_.size()) - 1));
        plan.remove_job(jobs_[i]);
        jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(i));
    }

    void compare(const NodePlan& plan) {
        auto uses = uses_of(plan);
        Micro full = c().rented ? checked_rent(snapshot_, 0, uses) : checked_energy(snapshot_, 0, uses);
        auto steps = static_cast<Micro>(4 * uses.size() + 4);
        ck_assert_msg(std::abs(full - plan.cost()) <= (c().rented ? 0 : steps), "full %lld, incremental %lld",
                      static_cast<long long>(full), static_cast<long long>(plan.cost()));
        for (int g = 1; g <= c().gpus; ++g) {
            Seconds last = ready_from(plan);
            for (const auto& use : uses)
                if (!has_room_at(plan, c(), {g, 0, 0, 0}, -1, use.end - 1)) last = std::max(last, use.end);
            ck_assert_int_ge(plan.tail(g), last);
            ck_assert(fits_by_count(plan, c(), {g, 0, 0, 0}, -1, plan.tail(g), plan.tail(g) + 1000000));
        }
    }

    std::mt19937 random_;
    Snapshot snapshot_;
    ClassFacts facts_;
    std::vector<int> jobs_;
    int next_ = 0;
};

}  // namespace

START_TEST(steps_answer_as_a_count_from_the_items_does) {
    for (unsigned seed = 1; seed <= 300; ++seed) Walk(seed).run();
}
END_TEST

START_TEST(energy_adds_up_however_time_is_cut) {
    for (unsigned seed = 1; seed <= 100; ++seed) {
        auto s = RandomProblem(seed).make(4, 2, false);
        EnergyMeter meter(s.classes[0], s.utc_offset_s);
        std::mt19937 random(seed);
        Seconds from = s.now, to = s.now + 200000, cut = from + static_cast<Seconds>(random() % 200000);
        for (int busy = 0; busy <= s.classes[0].gpus; ++busy) {
            ck_assert_int_eq(meter.cost(busy, from, to), meter.cost(busy, from, cut) + meter.cost(busy, cut, to));
            ck_assert_int_eq(meter.more(busy, busy + 1, from, to),
                             meter.cost(busy + 1, from, to) - meter.cost(busy, from, to));
        }
    }
}
END_TEST

START_TEST(energy_is_watts_times_pue_times_price) {
    NodeClass c;
    c.gpus = 1;
    c.busy_watts = {1000};
    c.pue_milli = 1500;
    c.tariff = {{0, 100000}, {6 * kHour, 300000}};
    Seconds day = 20000 * kDay, offset = 2 * kHour;
    EnergyMeter meter(c, offset);
    // From 05:00 to 07:00 of the local day: 1 kWh × 1.5 at 0.10 and at 0.30.
    ck_assert_int_eq(to_micro(meter.cost(1, day + 3 * kHour, day + 5 * kHour)), 150000 + 450000);
}
END_TEST

START_TEST(a_load_for_ever_costs_nothing_and_blocks_for_ever) {
    auto s = RandomProblem(1).make(4, 2, false);
    s.classes[0].tariff = {{0, 100000}, {7 * kHour, 300000}};
    ClassFacts facts(s, 0);
    Node node;
    NodePlan plan(facts, node);
    plan.add({s.now - 10, kForever, s.now - 10, s.classes[0].gpus, 0, -1, 0, 0, -1});
    plan.seal();
    ck_assert_int_eq(plan.cost(), 0);
    ck_assert_int_eq(plan.earliest({1, 0, 0, 0}, s.now, 10, -1), kForever);
    ck_assert_int_eq(plan.tail(1), kForever);
    ck_assert_int_eq(checked_energy(s, 0, uses_of(plan)), 0);
}
END_TEST

int main() {
    return squall::run_suite(
        "node_plan", {steps_answer_as_a_count_from_the_items_does, energy_adds_up_however_time_is_cut,
                      energy_is_watts_times_pue_times_price, a_load_for_ever_costs_nothing_and_blocks_for_ever});
}
