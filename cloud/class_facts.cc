// SPDX-License-Identifier: GPL-3.0-or-later
// Learning from leases: see class_facts.h.
#include "cloud/class_facts.h"

#include <algorithm>

#include "cloud/offers.h"

namespace squall::cloud {
namespace {

constexpr int kBootsRemembered = 50;
constexpr Seconds kTypicalWorkS = kHour;  // to weigh spot risk by when no job is known

}  // namespace

Seconds high_quantile(std::vector<Seconds> times) {
    if (times.size() < kBootsNeeded) return 0;
    std::size_t rank = (times.size() * 9 + 9) / 10 - 1;
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(rank), times.end());
    return times[rank];
}

std::vector<ClassFact> make_class_facts(Ledger& ledger, const Fleet& fleet, Seconds now) {
    std::vector<ClassFact> facts;
    for (const auto& rented : fleet.classes()) {
        Lease any;
        any.planned_end = now + kTypicalWorkS;
        OfferChoice choice = choose_offer(ledger, *rented, any, now);
        ClassFact fact;
        fact.class_name = rented->spec.name;
        fact.boot_s = high_quantile(ledger.boot_times(rented->spec.name, kBootsRemembered));
        // Every offer blocked: the class is blocked too, and its own price as good as any.
        const Offer& offer = choice.offer ? *choice.offer : rented->offers.front();
        fact.price_micro_h = offer.error.empty() ? offer.price_micro_h : rented->spec.price_micro_h;
        fact.interruptions_ppm_h = offer.interruptions_ppm_h;
        if (!rented->is_own_offer()) fact.offer = offer.name;
        facts.push_back(fact);
    }
    return facts;
}

}  // namespace squall::cloud
