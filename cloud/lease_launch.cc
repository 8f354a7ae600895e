// SPDX-License-Identifier: GPL-3.0-or-later
// The beginning of a lease: choosing an offer, admission, launch calls, the next offer when one fails, and what is
// learned from boots that fail. Part of LeaseMachine (lease_machine.h).
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cloud/caps.h"
#include "cloud/lease_machine.h"

namespace squall::cloud {
namespace {

constexpr Seconds kLongestRetryS = 30;
constexpr int kBreakerFailures = 3;  // boots of one offer that fail in a row
constexpr std::size_t kConsoleBytes = 240;

std::string clock_text(Seconds at) { return fmt::format("{:%F %T}", fmt::localtime(static_cast<std::time_t>(at))); }

// The end of the console as one printable line.
std::string last_lines(const std::string& text) {
    std::string line;
    for (unsigned char c : text) {
        if (c == '\n' || c == '\r') c = '|';
        if (!std::isprint(c) || (c == '|' && (line.empty() || line.back() == '|'))) continue;
        line += static_cast<char>(c);
    }
    while (!line.empty() && (line.back() == '|' || line.back() == ' ')) line.pop_back();
    return line.size() > kConsoleBytes ? "…" + line.substr(line.size() - kConsoleBytes) : line;
}

}  // namespace

void LeaseMachine::alert(const std::string& kind, const std::string& text) {
    if (tools_.alert) tools_.alert(kind, text);
}

void LeaseMachine::step_wanted(Lease& lease) {
    // One instance a node: slurmds of two would fight for the name.
    bool older = std::any_of(open_.begin(), open_.end(), [&](const Lease& other) {
        return other.node == lease.node && other.generation < lease.generation && other.open();
    });
    if (older) return;
    const RentedClass* rented = fleet_.class_named(lease.class_name);
    if (!rented) return refuse(lease, "its NodeClass has left squall.conf", "", 0);
    if (!rented->error.empty()) return refuse(lease, rented->error, "class:" + lease.class_name, rented->block_s);
    if (auto block = tools_.ledger.block(lease.node); block && block->until > now_)
        return refuse(lease,
                      fmt::format("{} is not used until {}: {}", lease.node, clock_text(block->until), block->reason),
                      "", 0);
    OfferChoice choice = choose_offer(tools_.ledger, *rented, lease, now_);
    if (!choice.offer) {
        block_class(*rented, choice);
        return refuse(lease, choice.why_none, "", 0);
    }
    if (take_offer(lease, *rented, *choice.offer)) step_launching(lease);
}

// True: the launch is in the ledger and may be ordered.
bool LeaseMachine::take_offer(Lease& lease, const RentedClass& rented, const Offer& offer) {
    lease.offer = offer.name;
    lease.driver = offer.account;
    lease.price_micro_h = offer.price_micro_h;
    lease.billing_step_s = offer.billing_step_s;
    lease.billing_min_s = offer.billing_min_s;
    Ledger::Batch batch(tools_.ledger);
    Admission admission = admit(tools_.ledger, lease, rented.spec, fleet_.conf(), now_);
    if (admission.verdict == Verdict::wait) {
        conditions_.raise("wait " + name_of(lease),
                          fmt::format("lease {}: waits: {}", name_of(lease), admission.reason), LogLevel::info);
        return false;
    }
    conditions_.clear("wait " + name_of(lease));
    if (admission.verdict == Verdict::refuse) {
        // The node, not the class: there may be room again as soon as any lease ends.
        refuse(lease, admission.reason, lease.node, rented.block_s);
    } else {
        lease.attempt++;
        lease.launched_at = now_;
        memory_[lease.id] = {};
        book_.move(lease, LeaseState::launching, rented.is_own_offer() ? "" : "offer " + offer.name);
    }
    batch.commit();
    if (admission.verdict == Verdict::refuse) alert("cap", name_of(lease) + ": " + admission.reason);
    return lease.state == LeaseState::launching;
}

void LeaseMachine::step_launching(Lease& lease) {
    Memory& memory = memory_[lease.id];
    if (now_ < memory.next_try) return;
    const RentedClass* rented = fleet_.class_named(lease.class_name);
    const Offer* offer = rented ? rented->offer(lease.offer) : nullptr;
    // An earlier process may have launched it: then it must be looked for before it is given up.
    if (!offer || !offer->driver || offer->account != lease.driver)
        return book_.end(lease, rented ? "its Offer has left squall.conf" : "its NodeClass has left squall.conf", true);
    LaunchSpec spec{
        lease.node,       lease.generation, fmt::format("{}/{}/{}", lease.node, lease.generation, lease.attempt),
        lease.class_name, offer->options,   fmt::format("{} {}", lease.wanted_at, lease.offer)};
    LaunchResult result = offer->driver->launch(spec);
    if (result.error) return launch_failed(lease, result.error);
    conditions_.clear("launch " + name_of(lease));
    lease.instance_id = result.instance.id;
    lease.address = result.instance.address;
    if (result.instance.state == InstanceState::gone || result.instance.state == InstanceState::failed)
        return boot_failed(lease, "the instance ended during its launch: " + result.instance.reason);
    sightings_.start_over(lease);
    book_.move(lease, LeaseState::booting, "instance " + lease.instance_id);
}

void LeaseMachine::launch_failed(Lease& lease, const Error& error) {
    const RentedClass& rented = *fleet_.class_named(lease.class_name);
    const Offer& offer = *rented.offer(lease.offer);
    Memory& memory = memory_[lease.id];
    std::string reason = fmt::format("{}: {}", to_string(error.kind), error.message);
    bool passes = error.kind == ErrorClass::throttled || error.kind == ErrorClass::transient;
    if (passes && now_ - lease.launched_at <= boot_timeout_s(lease)) {
        memory.maybe_made = memory.maybe_made || error.kind == ErrorClass::transient;
        later(lease, kLongestRetryS);
        conditions_.raise("launch " + name_of(lease),
                          fmt::format("lease {}: launch is tried again: {}", name_of(lease), reason),
                          LogLevel::warning);
        return;
    }
    block_offer(offer, rented.block_s, error);
    if (passes || memory.maybe_made) {
        // An instance may exist: it ends like one that does.
        end_companions(lease, reason);
        return book_.end(lease, reason, true);
    }
    lease.launched_at = 0;  // nothing was made, nothing is paid
    next_offer(lease, rented, reason);
}

void LeaseMachine::block_offer(const Offer& offer, Seconds block_s, const Error& error) {
    std::string reason = fmt::format("{}: {}", to_string(error.kind), error.message);
    if (error.kind == ErrorClass::quota && !offer.family.empty()) book_.block(offer.family, block_s, reason);
    book_.block(offer.key, block_s, reason);
    if (error.kind == ErrorClass::quota || error.kind == ErrorClass::auth || error.kind == ErrorClass::permanent)
        alert(to_string(error.kind), fmt::format("offer {}: {}", offer.name, error.message));
}

void LeaseMachine::next_offer(Lease& lease, const RentedClass& rented, const std::string& reason) {
    OfferChoice choice = choose_offer(tools_.ledger, rented, lease, now_);
    if (!choice.offer) {
        block_class(rented, choice);
        return refuse(lease, reason, "", 0);
    }
    book_.move(lease, LeaseState::wanted, fmt::format("{}; offer {} is next", reason, choice.offer->name));
    if (take_offer(lease, rented, *choice.offer)) step_launching(lease);
}

// Every offer is blocked: so is the class, until the first is free, and the planner sees it.
void LeaseMachine::block_class(const RentedClass& rented, const OfferChoice& choice) {
    std::string key = "class:" + rented.spec.name;
    auto before = tools_.ledger.block(key);
    if (choice.free_at <= now_ || (before && before->until >= choice.free_at)) return;
    tools_.ledger.put_block({key, choice.free_at, before ? before->failures : 1, choice.why_none});
    tools_.changed();
}

// Ends a lease without an instance.
void LeaseMachine::refuse(Lease& lease, const std::string& reason, const std::string& block_key, Seconds block_s) {
    if (!block_key.empty()) book_.block(block_key, block_s, reason);
    end_companions(lease, reason);
    book_.end(lease, reason, true);
}

// The other nodes of the same jobs are of no use alone.
void LeaseMachine::end_companions(const Lease& lease, const std::string& reason) {
    if (lease.job_ids.empty()) return;
    for (Lease& other : open_) {
        bool coming = other.state == LeaseState::wanted || other.state == LeaseState::launching ||
                      other.state == LeaseState::booting;
        if (other.id == lease.id || !coming || other.job_ids != lease.job_ids) continue;
        book_.end(other, fmt::format("node {} of the same job cannot be had: {}", lease.node, reason), true);
    }
}

void LeaseMachine::boot_failed(Lease& lease, const std::string& reason) {
    const RentedClass* rented = fleet_.class_named(lease.class_name);
    std::string why = reason, console = console_of(lease);
    if (!console.empty()) why += "; its console ends: " + console;
    book_.block(lease.node, rented ? rented->block_s : 60, why);
    if (rented) count_boot_failure(lease, *rented, why);
    end_companions(lease, reason);
    book_.end(lease, why, true);
}

std::string LeaseMachine::console_of(const Lease& lease) {
    Driver* driver = fleet_.driver_for(lease.driver);
    return driver && !lease.instance_id.empty() ? last_lines(driver->console(lease.instance_id)) : "";
}

// The circuit breaker. Its count is a block that is never in force.
void LeaseMachine::count_boot_failure(const Lease& lease, const RentedClass& rented, const std::string& reason) {
    const Offer* offer = rented.offer(lease.offer);
    if (!offer) return;
    auto before = tools_.ledger.block("boots:" + offer->name);
    int failures = before ? before->failures + 1 : 1;
    tools_.ledger.put_block({"boots:" + offer->name, now_, failures, reason});
    if (failures < kBreakerFailures) return;
    std::string text = fmt::format("{} boots in a row failed, the last one: {}", failures, reason);
    book_.block(offer->key, rented.block_s, text);
    alert("boot", fmt::format("offer {}: {}", offer->name, text));
}

// A spot node was taken away: where one went, others may follow.
void LeaseMachine::interrupted(const Lease& lease, const std::string& reason) {
    const RentedClass* rented = fleet_.class_named(lease.class_name);
    const Offer* offer = rented ? rented->offer(lease.offer) : nullptr;
    if (offer && offer->spot) book_.block(offer->key, rented->block_s, reason);
}

// It came up: what was held against it is forgotten.
void LeaseMachine::forgive(const Lease& lease) {
    const RentedClass* rented = fleet_.class_named(lease.class_name);
    const Offer* offer = rented ? rented->offer(lease.offer) : nullptr;
    book_.unblock(lease.node);
    book_.unblock("class:" + lease.class_name);
    if (!offer) return;
    for (const std::string& key : {offer->key, offer->family, "boots:" + offer->name}) book_.unblock(key);
}

}  // namespace squall::cloud
