// SPDX-License-Identifier: GPL-3.0-or-later
// Offers: which is taken, what follows when one fails, what the planner learns, and that a kill at any moment of a
// fail-over leaks nothing. Virtual time, a cloud and a Slurm in memory.
#include "cloud/class_facts.h"
#include "tests/unit/cloud_fakes.h"
#include "tests/unit/suite.h"

using namespace squall;
using namespace squall::cloud;

namespace {

constexpr Micro kUnit = 1000000;

OfferConf offer(const std::string& name, Micro price, const Options& options) {
    OfferConf made;
    made.name = name;
    made.class_name = "cloud";
    made.price = price * kUnit;
    made.driver_options = options;
    made.line = 7;
    return made;
}

// spot at 1, od-a at 3 and od-b at 5 an hour.
struct Market : Rig {
    Market() {
        conf.offers = {offer("od-b", 5, {{"Type", "b"}, {"Family", "g"}}),
                       offer("od-a", 3, {{"Type", "a"}, {"Family", "p"}}),
                       offer("spot", 1, {{"Type", "s"}, {"Family", "p"}, {"Spot", "yes"}})};
        conf.offers[2].interruptions_ppm_h = 100000;
        restart();
    }
    // Job 7 runs for an hour and is due `slack` after its planned end.
    void plan(Seconds slack) {
        ledger.put_job({7, 1, "u", "a", "gpu", "job", "due=" + std::to_string(now + kHour + slack), ""});
        Request check;
        ck_assert_text(parse_words(check, ledger.job(7, 1)->request, 0), "");
        ledger.put_decision({7, 1, now, "released", "", "c1", now, now + kHour, 0, 0, 0, 0, ""});
    }
    bool blocked(const std::string& key) {
        auto block = ledger.block(key);
        return block && block->until > now;
    }
};

const Error kSoldOut = {ErrorClass::no_capacity, "sold out"};

}  // namespace

START_TEST(cheapest_offer_is_taken_and_its_price_kept) {
    Market market;
    market.up("c1");
    ck_assert_text(market.lease("c1").offer, "spot");
    ck_assert_int_eq(market.lease("c1").price_micro_h, kUnit);
    ck_assert_text(market.lease("c1").driver, "fake");
}
END_TEST

START_TEST(sold_out_offer_is_blocked_for_longer_each_time_and_the_next_one_taken_at_once) {
    Market market;
    market.cloud.errors_of["s"] = kSoldOut;
    market.power_up("c1");
    market.ticks(1);
    ck_assert(market.lease("c1").state == LeaseState::booting);
    ck_assert_text(market.lease("c1").offer, "od-a");
    ck_assert_int_eq(market.lease("c1").price_micro_h, 3 * kUnit);
    ck_assert(market.slurm.forced.empty() && market.blocked("offer:spot") && !market.blocked("class:cloud"));
    ck_assert_int_eq(market.cloud.launches, 2);
    // While it is blocked it is not even asked.
    market.power_up("c2");
    market.ticks(1);
    ck_assert_int_eq(market.cloud.launches, 3);
    Seconds first = market.ledger.block("offer:spot")->until - market.now;
    market.now += 200;
    market.power_up("c3");
    market.ticks(1);
    ck_assert_int_gt(market.ledger.block("offer:spot")->until - market.now, first + 90);
    // Had again, it is forgiven.
    market.now += 300;
    market.cloud.errors_of.clear();
    market.up("c4");
    ck_assert_text(market.lease("c4").offer, "spot");
    ck_assert(!market.ledger.block("offer:spot"));
}
END_TEST

START_TEST(used_up_quota_blocks_the_family_and_tells_the_admin) {
    Market market;
    market.cloud.errors_of["s"] = {ErrorClass::quota, "VcpuLimitExceeded"};
    market.power_up("c1");
    market.ticks(1);
    ck_assert_text(market.lease("c1").offer, "od-b");  // od-a is of the same family
    ck_assert(market.cloud.launched_types == std::vector<std::string>({"s", "b"}));
    ck_assert(market.blocked("family:p"));
    ck_assert_int_eq(market.alerts.size(), 1);
    ASSERT_HAS(market.alerts[0], "quota: offer spot: VcpuLimitExceeded");
}
END_TEST

START_TEST(every_offer_gone_blocks_the_class_until_the_first_may_be_tried) {
    Market market;
    for (const char* type : {"s", "a", "b"}) market.cloud.errors_of[type] = kSoldOut;
    market.power_up("c1");
    market.ticks(3);
    ck_assert(market.lease("c1").state == LeaseState::failed);
    ck_assert_int_eq(market.cloud.launches, 3);
    ck_assert_int_eq(market.slurm.forced.size(), 1);
    ck_assert_int_eq(market.lease("c1").cost, 0);
    auto block = market.ledger.block("class:cloud");
    ck_assert(block && block->until > market.now + 50 && block->until <= market.now + 100);
    market.now = block->until + 1;
    market.cloud.errors_of.clear();
    market.up("c1");
    ck_assert(market.lease("c1").state == LeaseState::ready && !market.ledger.block("class:cloud"));
}
END_TEST

START_TEST(spot_is_for_jobs_that_could_run_again_and_be_on_time) {
    for (auto [slack, expected] : {std::pair<Seconds, const char*>{3 * kHour, "spot"}, {60, "od-a"}, {-60, "od-a"}}) {
        Market market;
        market.plan(slack);
        market.power_up("c1", "7");
        market.ticks(1);
        ck_assert_text(market.lease("c1").offer, expected);
    }
    // Risky is better than none.
    Market market;
    market.plan(60);
    market.cloud.errors_of["a"] = market.cloud.errors_of["b"] = kSoldOut;
    market.power_up("c1", "7");
    market.ticks(1);
    ck_assert_text(market.lease("c1").offer, "spot");
}
END_TEST

START_TEST(spot_risk_counts_against_a_long_plan) {
    Offer spot, steady;
    spot.price_micro_h = 10 * kUnit;
    spot.interruptions_ppm_h = 200000;
    ck_assert_int_eq(effective_price(spot, kHour), 11 * kUnit);
    ck_assert_int_eq(effective_price(spot, 10 * kHour), 20 * kUnit);
    steady.price_micro_h = 15 * kUnit;
    ck_assert_int_eq(effective_price(steady, 10 * kHour), 15 * kUnit);
}
END_TEST

START_TEST(interrupted_spot_node_frees_its_jobs_and_the_offer_is_avoided) {
    Market market;
    market.up("c1");
    market.cloud.instances["i-1"].state = InstanceState::failed;
    market.cloud.instances["i-1"].reason = "spot interruption";
    ck_assert(market.reach("c1", LeaseState::closed));
    ck_assert(market.slurm.forced.size() == 1 && market.blocked("offer:spot"));
    market.ticks(3);
    market.up("c1");
    ck_assert_text(market.lease("c1").offer, "od-a");
}
END_TEST

START_TEST(boots_that_fail_in_a_row_trip_the_breaker_with_the_consoles_words) {
    Market market;
    market.cloud.boots = false;
    market.cloud.console = "loading\nKernel panic\x1b[0m - not syncing\n\n";
    for (const char* node : {"c1", "c2", "c3"}) {
        market.power_up(node);
        market.ticks(80);
    }
    auto block = market.ledger.block("offer:spot");
    ck_assert(block && block->until > market.now - 80);
    ASSERT_HAS(block->reason, "3 boots in a row failed");
    ASSERT_HAS(block->reason, "Kernel panic[0m - not syncing");
    ASSERT_HAS(market.slurm.forced[0], "its console ends: loading|Kernel panic");
    ck_assert_int_eq(market.alerts.size(), 1);
    ASSERT_HAS(market.alerts[0], "boot: offer spot");
    market.cloud.boots = true;
    market.power_up("c4");
    ck_assert(market.reach("c4", LeaseState::ready));
    ck_assert_text(market.lease("c4").offer, "od-a");
}
END_TEST

START_TEST(boot_that_works_resets_the_breakers_count) {
    Market market;
    for (int round = 0; round < 4; round++) {
        market.cloud.boots = false;
        market.power_up("c1");
        market.ticks(80);
        market.cloud.boots = true;
        market.up("c2");
        market.slurm.suspend("c2", market.now);
        ck_assert(market.reach("c2", LeaseState::closed));
        market.now += 2 * kHour;
    }
    ck_assert(!market.ledger.block("offer:spot") && market.alerts.empty());
}
END_TEST

START_TEST(nodes_of_one_job_come_all_or_none) {
    Rig rig;
    rig.cloud.launch_errors = {{}, {}, kSoldOut};
    for (const char* node : {"c1", "c2", "c3"}) rig.power_up(node, "7");
    rig.power_up("c4", "8");
    ck_assert(rig.reach("c1", LeaseState::failed) && rig.reach("c2", LeaseState::failed));
    ck_assert(rig.lease("c3").state == LeaseState::failed);
    ASSERT_HAS(rig.lease("c1").reason, "node c3 of the same job cannot be had");
    ck_assert_int_eq(rig.cloud.alive(), 0);
    ck_assert_int_eq(rig.slurm.forced.size(), 4);  // c4: its class is blocked
}
END_TEST

START_TEST(kill_at_any_moment_of_a_fail_over_leaks_nothing) {
    for (int kill_every = 1; kill_every <= 5; kill_every++) {
        Market market;
        market.cloud.errors_of["s"] = kSoldOut;
        market.cloud.launch_errors = {{ErrorClass::throttled, "slow"}, {}, {ErrorClass::transient, "hiccup"}};
        for (const char* node : {"c1", "c2", "c3", "c4"}) market.power_up(node);
        for (int i = 0; i < 200; i++) {
            if (i % kill_every == 0) market.restart();
            market.cloud.lose_answer = i % 7 == 3;
            market.ticks(1);
        }
        market.cloud.lose_answer = false;
        std::size_t ready = 0;
        for (const char* node : {"c1", "c2", "c3", "c4"}) ready += market.lease(node).state == LeaseState::ready;
        ck_assert_int_eq(market.cloud.alive(), ready);
        ck_assert_int_eq(market.ledger.open_leases().size(), ready);
        for (const char* node : {"c1", "c2", "c3", "c4"}) market.slurm.suspend(node, market.now);
        market.ticks(100);
        ck_assert_int_eq(market.cloud.alive(), 0);
        ck_assert(market.ledger.open_leases().empty());
    }
}
END_TEST

START_TEST(planner_is_told_price_risk_and_boot_time_of_what_would_be_launched) {
    Market market;
    market.ticks(1);
    ClassFact fact = market.ledger.class_facts().at(0);
    ck_assert(fact.offer == "spot" && fact.price_micro_h == kUnit && fact.interruptions_ppm_h == 100000 &&
              fact.boot_s == 0);
    market.cloud.errors_of["s"] = kSoldOut;
    for (int round = 0; round < 6; round++) {
        market.up("c1");
        market.slurm.suspend("c1", market.now);
        ck_assert(market.reach("c1", LeaseState::closed));
    }
    market.ticks(20);
    fact = market.ledger.class_facts().at(0);
    ck_assert(fact.offer == "od-a" && fact.price_micro_h == 3 * kUnit && fact.interruptions_ppm_h == 0);
    ck_assert_int_eq(fact.boot_s, 3);
    ck_assert_int_eq(high_quantile({1, 1, 1, 1}), 0);
    ck_assert_int_eq(high_quantile({9, 1, 1, 1, 1, 1, 1, 1, 1, 1}), 1);
    ck_assert_int_eq(high_quantile({9, 8, 7, 6, 5}), 9);
}
END_TEST

START_TEST(offer_that_is_wrong_is_disabled_by_name_and_the_others_go_on) {
    Market market;
    market.conf.offers[2].driver = "unheard-of";
    market.conf.offers[1].price.reset();
    market.conf.price_dir = market.scratch.path("no-prices");
    market.restart();
    auto errors = market.fleet().errors();
    ck_assert_int_eq(errors.size(), 2);
    ASSERT_HAS(errors[0], "squall.conf:7: Offer=od-a: no Price=, and no price book for fake");
    ASSERT_HAS(errors[1], "squall.conf:7: Offer=spot: no driver unheard-of");
    market.up("c1");
    ck_assert_text(market.lease("c1").offer, "od-b");
}
END_TEST

START_TEST(offer_that_leaves_the_configuration_during_its_launch_is_looked_for_and_ended) {
    Market market;
    market.cloud.lose_answer = true;
    market.power_up("c1");
    market.ticks(2);
    market.conf.offers.pop_back();
    market.cloud.lose_answer = false;
    market.restart();
    ck_assert(market.reach("c1", LeaseState::failed));
    ck_assert_int_eq(market.cloud.alive(), 0);
}
END_TEST

int main() {
    return run_suite(
        "offers",
        {cheapest_offer_is_taken_and_its_price_kept,
         sold_out_offer_is_blocked_for_longer_each_time_and_the_next_one_taken_at_once,
         used_up_quota_blocks_the_family_and_tells_the_admin,
         every_offer_gone_blocks_the_class_until_the_first_may_be_tried,
         spot_is_for_jobs_that_could_run_again_and_be_on_time, spot_risk_counts_against_a_long_plan,
         interrupted_spot_node_frees_its_jobs_and_the_offer_is_avoided,
         boots_that_fail_in_a_row_trip_the_breaker_with_the_consoles_words, boot_that_works_resets_the_breakers_count,
         nodes_of_one_job_come_all_or_none, kill_at_any_moment_of_a_fail_over_leaks_nothing,
         planner_is_told_price_risk_and_boot_time_of_what_would_be_launched,
         offer_that_is_wrong_is_disabled_by_name_and_the_others_go_on,
         offer_that_leaves_the_configuration_during_its_launch_is_looked_for_and_ended},
        nullptr, nullptr, 120);
}
