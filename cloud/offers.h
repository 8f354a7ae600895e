// SPDX-License-Identifier: GPL-3.0-or-later
// Which offer a lease is launched with: the cheapest that is not blocked, spot only while its jobs could still be on
// time after an interruption. Pure but for reading the ledger; called by the lease machine before each launch.
#pragma once
#include <string>

#include "cloud/fleet.h"
#include "src/core/ledger.h"

namespace squall::cloud {

struct OfferChoice {
    const Offer* offer = nullptr;
    std::string why_none;
    Seconds free_at = 0;  // without an offer: when the first block ends; 0 = no block is the reason
};

OfferChoice choose_offer(Ledger& ledger, const RentedClass& rented, const Lease& lease, Seconds now);

// What an hour costs when interruptions are counted in: half of the work since the last one is lost with each.
Micro effective_price(const Offer& offer, Seconds planned_s);

// Could every job of the lease run again from its beginning (or its last checkpoint) and still be on time?
bool has_slack_for_spot(Ledger& ledger, const Lease& lease, Seconds boot_s);

std::vector<std::uint32_t> job_ids_of(const std::string& text);  // "13,14"

}  // namespace squall::cloud
