// SPDX-License-Identifier: GPL-3.0-or-later
// Opening the ledger and its schema: see ledger.h. The tables' rows are in ledger_jobs.cc and ledger_leases.cc.
#include "src/core/ledger.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>

#include "src/core/ledger_impl.h"

namespace squall {
namespace {

constexpr int kWaitMs = 10000;
constexpr int kApplicationId = 0x5371756c;  // "Squl": tells our file from any other SQLite file

// Step i brings version i to i + 1. Never edit a step that has been released: append one.
constexpr const char* kSteps[] = {
    R"sql(
CREATE TABLE jobs (
    job_id INTEGER, submit_at INTEGER, user TEXT, account TEXT, partition TEXT, name TEXT, request TEXT, asked TEXT,
    PRIMARY KEY (job_id, submit_at)) WITHOUT ROWID;
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY, job_id INTEGER, submit_at INTEGER, decided_at INTEGER, state TEXT, config TEXT, nodes TEXT,
    start INTEGER, end INTEGER, late INTEGER, rent INTEGER, energy INTEGER, moves INTEGER, why TEXT);
CREATE INDEX decisions_of_job ON decisions (job_id, submit_at);
CREATE TABLE outcomes (
    job_id INTEGER, submit_at INTEGER, slurm_state TEXT, start INTEGER, end INTEGER, due INTEGER, class_name TEXT,
    config TEXT, nodes TEXT, rented INTEGER, shared_gpu INTEGER, node_count INTEGER, late INTEGER, rent INTEGER,
    energy INTEGER, planned_start INTEGER, planned_end INTEGER, planned_late INTEGER, planned_rent INTEGER,
    planned_energy INTEGER, PRIMARY KEY (job_id, submit_at)) WITHOUT ROWID;
CREATE TABLE cycles (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER, jobs INTEGER, placed INTEGER, starts INTEGER, cost INTEGER,
    bound INTEGER, plan_ms INTEGER, note TEXT);
CREATE TABLE power_requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT, node TEXT, action TEXT, asked_at INTEGER, job_ids TEXT);
CREATE TABLE leases (
    id INTEGER PRIMARY KEY AUTOINCREMENT, node TEXT, generation INTEGER, state TEXT, class_name TEXT, driver TEXT,
    offer TEXT, instance_id TEXT, address TEXT, price_micro_h INTEGER, billing_step_s INTEGER, billing_min_s INTEGER,
    job_ids TEXT, wanted_at INTEGER, launched_at INTEGER, ready_at INTEGER, released_at INTEGER, closed_at INTEGER,
    cost INTEGER, reason TEXT, attempt INTEGER, state_at INTEGER, planned_end INTEGER,
    tell_slurm INTEGER, UNIQUE (node, generation));
CREATE INDEX leases_open ON leases (state) WHERE state NOT IN ('closed', 'failed');
CREATE TABLE blocks (key TEXT PRIMARY KEY, until INTEGER, failures INTEGER, reason TEXT) WITHOUT ROWID;
)sql",
    R"sql(
CREATE TABLE class_facts (
    class_name TEXT PRIMARY KEY, price_micro_h INTEGER, interruptions_ppm_h INTEGER, boot_s INTEGER, offer TEXT)
    WITHOUT ROWID;
CREATE INDEX leases_of_class ON leases (class_name, id);
)sql",
};
constexpr int kVersion = static_cast<int>(std::size(kSteps));

bool is_new(sqlite::Database& db) {
    return db.integer("PRAGMA application_id") == 0 && db.integer("PRAGMA user_version") == 0 &&
           db.integer("SELECT count(*) FROM sqlite_schema") == 0;
}

void refuse_foreign_or_newer(sqlite::Database& db) {
    if (db.integer("PRAGMA application_id") != kApplicationId)
        throw LedgerError(fmt::format("{}: an SQLite file, but not a ledger of Squall; move it away", db.path()));
    auto version = db.integer("PRAGMA user_version");
    if (version > kVersion)
        throw LedgerError(
            fmt::format("{}: written by a newer Squall (ledger version {}, this one knows up to {}); install that "
                        "version again, or move the file away",
                        db.path(), version, kVersion));
}

// Two processes may open a new file at once, and SQLite answers "busy" without waiting while the journal mode changes
// or another process recovers the journal: so this wait is ours.
void use_wal(sqlite::Database& db) {
    auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kWaitMs);
    for (;;) {
        int result = sqlite3_exec(db.handle(), "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr);
        if (result == SQLITE_OK) return;
        if ((result & 0xff) != SQLITE_BUSY || std::chrono::steady_clock::now() > deadline)
            db.fail("cannot set up the ledger");
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

void migrate(sqlite::Database& db) {
    if (db.integer("PRAGMA user_version") == kVersion) return;
    sqlite::Transaction transaction(db);
    auto version = db.integer("PRAGMA user_version");  // another process may have come first
    if (version == 0) db.execute(fmt::format("PRAGMA application_id={}", kApplicationId).c_str());
    for (; version < kVersion; version++) db.execute(kSteps[version]);
    db.execute(fmt::format("PRAGMA user_version={}", kVersion).c_str());
    transaction.commit();
}

}  // namespace

Ledger::Impl::Impl(const std::string& path, sqlite::Mode mode) : db(path, mode, kWaitMs) {}

Ledger Ledger::open(const std::string& path) {
    auto impl = std::make_unique<Impl>(path, sqlite::Mode::read_write);
    sqlite::Database& db = impl->db;
    if (db.read_only())
        throw LedgerError(fmt::format("{}: this user may not write the ledger; it must belong to SlurmUser", path));
    // Before anything is written: an alien file must stay as it is.
    if (!is_new(db)) refuse_foreign_or_newer(db);
    use_wal(db);
    // A lease's launch must be on disk before the cloud is called, even when the power fails.
    db.execute("PRAGMA synchronous=FULL");
    // Keep -wal and -shm when the last process leaves: a reader who may not write the folder needs them.
    int keep = 1;
    sqlite3_file_control(db.handle(), "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
    migrate(db);
    return Ledger(std::move(impl));
}

Ledger Ledger::open_read_only(const std::string& path) {
    auto impl = std::make_unique<Impl>(path, sqlite::Mode::read_only);
    refuse_foreign_or_newer(impl->db);
    if (impl->db.integer("PRAGMA user_version") < kVersion)
        throw LedgerError(fmt::format("{}: written by an older Squall; start this version's squalld once", path));
    return Ledger(std::move(impl));
}

Ledger::Ledger(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

struct Ledger::Batch::Open {
    sqlite::Transaction transaction;
};
Ledger::Batch::Batch(Ledger& ledger) : open_(new Open{sqlite::Transaction(ledger.impl_->db)}) {}
Ledger::Batch::~Batch() = default;
void Ledger::Batch::commit() { open_->transaction.commit(); }

}  // namespace squall
