// SPDX-License-Identifier: GPL-3.0-or-later
// Opening, binding, reading and the messages of the SQLite skin: see sqlite.h.
#include "src/core/sqlite.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "src/core/ledger.h"

namespace squall::sqlite {
namespace {

// What an admin can do about it. SQLite's own words say only what happened.
const char* advice(int code) {
    switch (code & 0xff) {
        case SQLITE_FULL:
            return "; free space on its file system";
        case SQLITE_READONLY:
        case SQLITE_PERM:
            return "; the file and its folder must be writable for SlurmUser";
        case SQLITE_CANTOPEN:
            return "; StateDir must exist and belong to SlurmUser";
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return "; restore it from a backup, or move it away together with its -wal and -shm files and let squalld "
                   "make a new one";
        case SQLITE_IOERR:
            return "; check its disk; StateDir must be on a local file system";
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return "; another process holds it locked: is one stopped in the middle of a write?";
        default:
            return "";
    }
}

}  // namespace

Database::Database(const std::string& path, Mode mode, int wait_ms) : path_(path) {
    int flags = mode == Mode::read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(path.c_str(), &db_, flags | SQLITE_OPEN_NOMUTEX, nullptr) != SQLITE_OK) {
        std::string why = db_ ? sqlite3_errmsg(db_) : "out of memory";
        int code = db_ ? sqlite3_errcode(db_) : SQLITE_NOMEM;
        int system = db_ ? sqlite3_system_errno(db_) : 0;
        if (system != 0) why += fmt::format(" ({})", std::strerror(system));
        sqlite3_close(db_);
        throw LedgerError(fmt::format("{}: cannot open the ledger: {}{}", path, why, advice(code)));
    }
    sqlite3_extended_result_codes(db_, 1);
    sqlite3_busy_timeout(db_, wait_ms);
}

Database::~Database() { sqlite3_close(db_); }

void Database::fail(const std::string& doing) const {
    int code = sqlite3_extended_errcode(db_);
    std::string why = sqlite3_errmsg(db_);
    int system = sqlite3_system_errno(db_);
    int primary = code & 0xff;
    if (system != 0 && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_FULL))
        why += fmt::format(" ({})", std::strerror(system));
    throw LedgerError(fmt::format("{}: {}: {}{}", path_, doing, why, advice(code)));
}

void Database::execute(const char* sql) {
    if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail("cannot write the ledger");
}

std::int64_t Database::integer(const char* sql) {
    Statement statement(*this, sql);
    std::int64_t value = 0;
    if (statement.step()) statement.read(value);
    return value;
}

Statement::Statement(Database& db, const char* sql) : db_(db) {
    if (sqlite3_prepare_v2(db.handle(), sql, -1, &stmt_, nullptr) != SQLITE_OK) db.fail("cannot read the ledger");
}

bool Statement::step() {
    int result = sqlite3_step(stmt_);
    column_ = 0;
    if (result == SQLITE_ROW) return true;
    if (result != SQLITE_DONE)
        db_.fail(sqlite3_stmt_readonly(stmt_) ? "cannot read the ledger" : "cannot write the ledger");
    return false;
}

void Statement::bind(std::string_view text) {
    // A null data pointer would bind NULL; an empty text is a text.
    const char* data = text.data() ? text.data() : "";
    sqlite3_bind_text64(stmt_, ++parameter_, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void Statement::bind_integer(std::int64_t value) { sqlite3_bind_int64(stmt_, ++parameter_, value); }

void Statement::bind_null() { sqlite3_bind_null(stmt_, ++parameter_); }

void Statement::read(std::string& value) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(stmt_, column_));
    value.assign(text ? text : "", static_cast<std::size_t>(sqlite3_column_bytes(stmt_, column_)));
    column_++;
}

std::int64_t Statement::integer() { return sqlite3_column_int64(stmt_, column_++); }

void Statement::bad_column(const std::string& text) {
    throw LedgerError(fmt::format("{}: column {} holds \"{}\", which this version does not know", db_.path(),
                                  sqlite3_column_name(stmt_, column_ - 1), text));
}

Transaction::Transaction(Database& db) : db_(db) {
    if (db_.depth_ == 0) db_.execute("BEGIN IMMEDIATE");
    db_.depth_++;
}

Transaction::~Transaction() {
    db_.depth_--;
    if (done_ || db_.depth_ > 0) return;
    // Fails when SQLite has rolled back by itself (full disk): nothing is left to undo then.
    sqlite3_exec(db_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
    if (db_.depth_ == 1) db_.execute("COMMIT");
    done_ = true;
}

}  // namespace squall::sqlite
