// SPDX-License-Identifier: GPL-3.0-or-later
// The ledger's rows about rented nodes: power requests, leases, rent, blocks. See ledger.h.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "src/core/billing.h"
#include "src/core/ledger_impl.h"

namespace squall {
namespace {

constexpr std::array<const char*, 8> kLeaseStates = {"wanted",   "launching",   "booting", "ready",
                                                     "draining", "terminating", "closed",  "failed"};
constexpr std::array<const char*, 3> kPowerActions = {"resume", "suspend", "resume_fail"};

template <typename Enum, std::size_t N>
bool name_to_enum(const std::array<const char*, N>& names, const std::string& text, Enum& value) {
    auto at = std::find_if(names.begin(), names.end(), [&](std::string_view name) { return name == text; });
    if (at == names.end()) return false;
    value = static_cast<Enum>(at - names.begin());
    return true;
}

#define POWER_COLUMNS "node, action, asked_at, job_ids"
template <typename Row>
auto power_fields(Row& r) {
    return std::tie(r.node, r.action, r.asked_at, r.job_ids);
}

#define LEASE_COLUMNS                                                                                           \
    "node, generation, state, class_name, driver, offer, instance_id, address, price_micro_h, billing_step_s, " \
    "billing_min_s, job_ids, wanted_at, launched_at, ready_at, released_at, closed_at, cost, reason, attempt, " \
    "state_at, planned_end, tell_slurm"
template <typename Row>
auto lease_fields(Row& r) {
    return std::tie(r.node, r.generation, r.state, r.class_name, r.driver, r.offer, r.instance_id, r.address,
                    r.price_micro_h, r.billing_step_s, r.billing_min_s, r.job_ids, r.wanted_at, r.launched_at,
                    r.ready_at, r.released_at, r.closed_at, r.cost, r.reason, r.attempt, r.state_at, r.planned_end,
                    r.tell_slurm);
}

#define BLOCK_COLUMNS "key, until, failures, reason"
template <typename Row>
auto block_fields(Row& r) {
    return std::tie(r.key, r.until, r.failures, r.reason);
}

#define FACT_COLUMNS "class_name, price_micro_h, interruptions_ppm_h, boot_s, offer"
template <typename Row>
auto fact_fields(Row& r) {
    return std::tie(r.class_name, r.price_micro_h, r.interruptions_ppm_h, r.boot_s, r.offer);
}

}  // namespace

struct OneText {
    std::string text;
};
struct OneNumber {
    std::int64_t number = 0;
};

Micro rent_of(const Lease& lease, Seconds since, Seconds now) {
    Seconds end = lease.released_at != 0 ? lease.released_at : now;
    if (end < since) return 0;
    Micro whole = lease.open() ? lease.rent_until(end) : lease.cost;
    // What was already owed at `since` belongs to the time before it.
    Micro before = lease.launched_at < since ? lease.rent_until(since) : 0;
    return std::max<Micro>(0, whole - before);
}

const char* to_string(LeaseState state) { return kLeaseStates.at(static_cast<std::size_t>(state)); }
bool from_string(const std::string& text, LeaseState& state) { return name_to_enum(kLeaseStates, text, state); }
const char* to_string(PowerAction action) { return kPowerActions.at(static_cast<std::size_t>(action)); }
bool from_string(const std::string& text, PowerAction& action) { return name_to_enum(kPowerActions, text, action); }

// Found by the templates of sqlite.h.
static auto fields(PowerRequest& row) { return std::tuple_cat(std::tie(row.id), power_fields(row)); }
static auto fields(Lease& row) { return std::tuple_cat(std::tie(row.id), lease_fields(row)); }
static auto fields(Block& row) { return block_fields(row); }
static auto fields(ClassFact& row) { return fact_fields(row); }
static auto fields(OneText& row) { return std::tie(row.text); }
static auto fields(OneNumber& row) { return std::tie(row.number); }

void Ledger::push_power_requests(const std::vector<PowerRequest>& requests) {
    sqlite::Transaction transaction(impl_->db);
    for (const PowerRequest& request : requests)
        impl_->db.run_tuple("INSERT INTO power_requests (" POWER_COLUMNS ") VALUES", power_fields(request));
    transaction.commit();
}

std::vector<PowerRequest> Ledger::pending_power_requests() {
    return impl_->db.rows<PowerRequest>("SELECT id, " POWER_COLUMNS " FROM power_requests ORDER BY id");
}

void Ledger::finish_power_request(std::int64_t id) { impl_->db.run("DELETE FROM power_requests WHERE id = ?", id); }

std::int64_t Ledger::add_lease(Lease lease) {
    sqlite::Transaction transaction(impl_->db);
    auto last = impl_->db.row<Lease>(
        "SELECT id, " LEASE_COLUMNS " FROM leases WHERE node = ? ORDER BY generation DESC LIMIT 1", lease.node);
    lease.generation = last ? last->generation + 1 : 1;
    impl_->db.run_tuple("INSERT INTO leases (" LEASE_COLUMNS ") VALUES", lease_fields(std::as_const(lease)));
    std::int64_t id = impl_->db.last_insert_id();
    transaction.commit();
    return id;
}

void Ledger::update_lease(const Lease& lease) {
    impl_->db.run_tuple("UPDATE leases SET (" LEASE_COLUMNS ") =", lease_fields(lease), "WHERE id = ?", lease.id);
    if (impl_->db.changes() != 1)
        throw LedgerError(impl_->db.path() + ": no lease " + std::to_string(lease.id) + " of node " + lease.node);
}

std::vector<Lease> Ledger::open_leases() {
    return impl_->db.rows<Lease>("SELECT id, " LEASE_COLUMNS
                                 " FROM leases WHERE state NOT IN ('closed', 'failed') ORDER BY id");
}

std::vector<Lease> Ledger::leases() {
    return impl_->db.rows<Lease>("SELECT id, " LEASE_COLUMNS " FROM leases ORDER BY id");
}

std::optional<Lease> Ledger::open_lease(const std::string& node) {
    return impl_->db.row<Lease>("SELECT id, " LEASE_COLUMNS
                                " FROM leases WHERE node = ? AND state NOT IN ('closed', 'failed')"
                                " ORDER BY generation DESC LIMIT 1",
                                node);
}

std::vector<Lease> Ledger::leases_since(Seconds since) {
    return impl_->db.rows<Lease>(
        "SELECT id, " LEASE_COLUMNS " FROM leases WHERE launched_at > 0 AND (closed_at = 0 OR closed_at >= ?)", since);
}

Micro Ledger::rent_since(Seconds since, Seconds now) {
    Micro sum = 0;
    for (const Lease& lease : leases_since(since)) sum += rent_of(lease, since, now);
    return sum;
}

std::string Ledger::account_of(std::uint32_t job_id) {
    auto found =
        impl_->db.row<OneText>("SELECT account FROM jobs WHERE job_id = ? ORDER BY submit_at DESC LIMIT 1", job_id);
    return found ? found->text : "";
}

std::vector<Seconds> Ledger::boot_times(const std::string& class_name, int most) {
    std::vector<Seconds> times;
    for (const OneNumber& row : impl_->db.rows<OneNumber>(
             "SELECT ready_at - launched_at FROM leases WHERE class_name = ? AND ready_at > 0 ORDER BY id DESC LIMIT ?",
             class_name, most))
        times.push_back(row.number);
    return times;
}

void Ledger::put_class_facts(const std::vector<ClassFact>& facts) {
    sqlite::Transaction transaction(impl_->db);
    impl_->db.run("DELETE FROM class_facts");
    for (const ClassFact& fact : facts)
        impl_->db.run_tuple("INSERT INTO class_facts (" FACT_COLUMNS ") VALUES", fact_fields(fact));
    transaction.commit();
}

std::vector<ClassFact> Ledger::class_facts() {
    return impl_->db.rows<ClassFact>("SELECT " FACT_COLUMNS " FROM class_facts ORDER BY class_name");
}

void Ledger::put_block(const Block& block) {
    impl_->db.run_tuple("INSERT OR REPLACE INTO blocks (" BLOCK_COLUMNS ") VALUES", block_fields(block));
}

std::optional<Block> Ledger::block(const std::string& key) {
    return impl_->db.row<Block>("SELECT " BLOCK_COLUMNS " FROM blocks WHERE key = ?", key);
}

void Ledger::clear_block(const std::string& key) { impl_->db.run("DELETE FROM blocks WHERE key = ?", key); }

std::vector<Block> Ledger::blocks(Seconds now) {
    return impl_->db.rows<Block>("SELECT " BLOCK_COLUMNS " FROM blocks WHERE until > ? ORDER BY key", now);
}

}  // namespace squall
