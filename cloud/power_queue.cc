// SPDX-License-Identifier: GPL-3.0-or-later
// Resume, suspend, resume_fail: see power_queue.h.
#include "cloud/power_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <vector>

#include "cloud/offers.h"
#include "src/core/log.h"

namespace squall::cloud {
namespace {

constexpr Seconds kUnknownWorkS = kHour;  // what a budget must cover for jobs without a plan

std::string merge_ids(const std::string& one, const std::string& other) {
    std::vector<std::uint32_t> ids = job_ids_of(one + "," + other);
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return fmt::format("{}", fmt::join(ids, ","));
}

// Until when the lease's jobs are planned to hold the node, the idle time after them included.
Seconds planned_end(LeaseBook& book, const std::string& job_ids, const NodeClass& spec) {
    Seconds end = 0;
    for (std::uint32_t id : job_ids_of(job_ids)) {
        std::vector<DecisionRow> decisions = book.ledger().decisions(id);
        if (!decisions.empty()) end = std::max(end, decisions.back().end);
    }
    if (end <= book.now()) end = book.now() + spec.boot_s + kUnknownWorkS;
    return end + spec.release_s;
}

void add_lease(LeaseBook& book, const RentedClass& rented, const PowerRequest& request) {
    Lease lease;
    lease.node = request.node;
    lease.class_name = rented.spec.name;
    lease.price_micro_h = rented.spec.price_micro_h;
    lease.billing_step_s = rented.spec.billing_step_s;
    lease.billing_min_s = rented.spec.billing_min_s;
    lease.job_ids = merge_ids(request.job_ids, "");
    lease.wanted_at = request.asked_at;
    lease.planned_end = planned_end(book, lease.job_ids, rented.spec);
    book.add(lease);
}

bool is_coming(const Lease& lease) {
    return lease.state == LeaseState::wanted || lease.state == LeaseState::launching ||
           lease.state == LeaseState::booting;
}

// False: Slurm's view is needed and not there.
bool resume(LeaseBook& book, const RentedClass& rented, const PowerRequest& request,
            const std::map<std::string, SlurmNode>* nodes) {
    std::optional<Lease> open = book.ledger().open_lease(request.node);
    if (open && is_coming(*open)) {
        open->job_ids = merge_ids(open->job_ids, request.job_ids);
        open->planned_end = std::max(open->planned_end, planned_end(book, open->job_ids, rented.spec));
        book.save(*open);
        return true;
    }
    if (open && open->state == LeaseState::ready) {
        if (!nodes) return false;
        auto node = nodes->find(request.node);
        if (node == nodes->end() || !node->second.powering_up) return true;  // it is up already: an old request
        // slurmctld waits for a boot that comes after this request: the running instance will not do.
        book.end(*open, "Slurm resumed the node again", false);
    }
    add_lease(book, rented, request);
    return true;
}

void end_leases(LeaseBook& book, const PowerRequest& request, const std::string& reason) {
    for (Lease& lease : book.ledger().open_leases()) {
        if (lease.node != request.node) continue;
        if (lease.state == LeaseState::draining || lease.state == LeaseState::terminating) {
            lease.tell_slurm = false;  // Slurm knows
            book.save(lease);
        } else {
            book.end(lease, reason, false);
        }
    }
}

}  // namespace

void take_power_requests(LeaseBook& book, const Fleet& fleet, const std::vector<PowerRequest>& requests,
                         const std::map<std::string, SlurmNode>* nodes) {
    for (const PowerRequest& request : requests) {
        const RentedClass* rented = fleet.class_of(request.node);
        Ledger::Batch batch(book.ledger());
        if (request.action == PowerAction::suspend) {
            end_leases(book, request, "suspended by Slurm");
        } else if (request.action == PowerAction::resume_fail) {
            std::string reason = "Slurm gave up waiting for it (ResumeTimeout)";
            if (rented) book.block(request.node, rented->block_s, reason);
            end_leases(book, request, reason);
        } else if (!rented) {
            log_warning("{} of node {}: it is in no NodeClass with Rented=yes, nothing was done",
                        to_string(request.action), request.node);
        } else if (!resume(book, *rented, request, nodes)) {
            return;  // the rest waits behind it, in order
        }
        book.ledger().finish_power_request(request.id);
        batch.commit();
    }
}

}  // namespace squall::cloud
