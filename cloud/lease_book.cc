// SPDX-License-Identifier: GPL-3.0-or-later
// Writing and logging changes of leases: see lease_book.h.
#include "cloud/lease_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/core/log.h"

namespace squall::cloud {
namespace {

constexpr Seconds kLongestBlockS = 6 * kHour;
constexpr Seconds kForgiveS = kDay;  // after this long without trouble failures count from one again

std::string because(const std::string& why) { return why.empty() ? "" : ": " + why; }

}  // namespace

std::string name_of(const Lease& lease) { return fmt::format("{}/{}", lease.node, lease.generation); }

LeaseBook::LeaseBook(Ledger& ledger, std::string currency, std::function<void()> changed)
    : ledger_(ledger), currency_(std::move(currency)), changed_(std::move(changed)) {}

void LeaseBook::add(Lease lease) {
    lease.state = LeaseState::wanted;
    lease.state_at = now_;
    ledger_.add_lease(lease);
    log_info("lease {}: wanted{}", lease.node, lease.job_ids.empty() ? "" : " for job " + lease.job_ids);
    changed_();
}

void LeaseBook::move(Lease& lease, LeaseState state, const std::string& why) {
    LeaseState before = std::exchange(lease.state, state);
    lease.state_at = now_;
    ledger_.update_lease(lease);
    log_info("lease {}: {} (was {}){}", name_of(lease), to_string(state), to_string(before), because(why));
    changed_();
}

void LeaseBook::end(Lease& lease, const std::string& reason, bool tell_slurm) {
    lease.reason = reason;
    lease.tell_slurm = tell_slurm;
    move(lease, LeaseState::draining, reason);
}

void LeaseBook::close(Lease& lease) {
    lease.closed_at = now_;
    if (lease.launched_at != 0 && lease.released_at == 0) lease.released_at = now_;
    lease.cost = lease.rent_until(lease.released_at);
    std::string cost;
    if (lease.launched_at != 0)
        cost = fmt::format("; {:.4f} {} for {} s", static_cast<double>(lease.cost) / 1e6, currency_,
                           lease.released_at - lease.launched_at);
    move(lease, lease.ready_at != 0 ? LeaseState::closed : LeaseState::failed, lease.reason + cost);
}

void LeaseBook::block(const std::string& key, Seconds base_s, const std::string& reason) {
    auto before = ledger_.block(key);
    if (before && before->until > now_) return;  // several nodes failing together are one failure
    int failures = before && now_ - before->until < kForgiveS ? before->failures + 1 : 1;
    Seconds time = std::max<Seconds>(base_s, 1);
    for (int i = 1; i < failures && time < kLongestBlockS; i++) time *= 2;
    time = std::min(time, std::max(kLongestBlockS, base_s));
    ledger_.put_block({key, now_ + time, failures, reason});
    log_warning("{} is not used for {} s: {}", key, time, reason);
    changed_();
}

void LeaseBook::unblock(const std::string& key) {
    if (ledger_.block(key)) ledger_.clear_block(key);
}

}  // namespace squall::cloud
