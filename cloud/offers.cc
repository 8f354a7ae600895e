// SPDX-License-Identifier: GPL-3.0-or-later
// Ranking and choosing offers: see offers.h.
#include "cloud/offers.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "src/core/request.h"

namespace squall::cloud {
namespace {

constexpr Seconds kCheckpointDefaultS = 600;
constexpr Seconds kPlannedMinS = 60;

std::string clock_text(Seconds at) { return fmt::format("{:%F %T}", fmt::localtime(static_cast<std::time_t>(at))); }

// In force: the offer's own, its family's, or none.
std::optional<Block> block_of(Ledger& ledger, const Offer& offer, Seconds now) {
    std::optional<Block> found;
    for (const std::string& key : {offer.key, offer.family})
        if (!key.empty())
            if (auto block = ledger.block(key); block && block->until > now && (!found || block->until > found->until))
                found = block;
    return found;
}

bool is_cheaper(const Offer& a, const Offer& b, Seconds planned_s) {
    return effective_price(a, planned_s) < effective_price(b, planned_s);
}

}  // namespace

std::vector<std::uint32_t> job_ids_of(const std::string& text) {
    std::vector<std::uint32_t> ids;
    std::istringstream in(text);
    for (std::string word; std::getline(in, word, ',');) {
        std::uint32_t id = 0;
        auto [end, bad] = std::from_chars(word.data(), word.data() + word.size(), id);
        if (bad == std::errc() && end == word.data() + word.size()) ids.push_back(id);
    }
    return ids;
}

Micro effective_price(const Offer& offer, Seconds planned_s) {
    auto lost = static_cast<__int128>(offer.price_micro_h) * offer.interruptions_ppm_h *
                std::max(planned_s, kPlannedMinS) / (2 * kHour);
    return offer.price_micro_h + static_cast<Micro>(lost / 1000000);
}

bool has_slack_for_spot(Ledger& ledger, const Lease& lease, Seconds boot_s) {
    for (std::uint32_t id : job_ids_of(lease.job_ids)) {
        std::vector<DecisionRow> decisions = ledger.decisions(id);
        if (decisions.empty()) continue;
        const DecisionRow& plan = decisions.back();
        std::optional<JobRow> job = ledger.job(id, plan.submit_at);
        Request request;
        if (!job || !parse_words(request, job->request, 0).empty() || !request.due) continue;
        Seconds again = plan.end - plan.start;
        if (request.checkpointable)
            again = std::min(again, request.checkpoint_s > 0 ? request.checkpoint_s : kCheckpointDefaultS);
        if (*request.due - plan.end < again + boot_s) return false;
    }
    return true;
}

OfferChoice choose_offer(Ledger& ledger, const RentedClass& rented, const Lease& lease, Seconds now) {
    OfferChoice choice;
    std::vector<const Offer*> free;
    for (const Offer& offer : rented.offers) {
        if (!offer.error.empty()) {
            choice.why_none = offer.error;
            continue;
        }
        auto block = block_of(ledger, offer, now);
        if (!block) {
            free.push_back(&offer);
        } else if (choice.free_at == 0 || block->until < choice.free_at) {
            choice.free_at = block->until;
            choice.why_none =
                fmt::format("{} is not used until {}: {}", block->key, clock_text(block->until), block->reason);
        }
    }
    Seconds planned_s = lease.planned_end - now;
    std::stable_sort(free.begin(), free.end(),
                     [&](const Offer* a, const Offer* b) { return is_cheaper(*a, *b, planned_s); });
    bool spot_is_safe = has_slack_for_spot(ledger, lease, rented.spec.boot_s);
    for (const Offer* offer : free)
        if (!choice.offer && (!offer->spot || spot_is_safe)) choice.offer = offer;
    if (!choice.offer && !free.empty()) choice.offer = free.front();  // risky is better than none
    return choice;
}

}  // namespace squall::cloud
