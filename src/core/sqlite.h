// SPDX-License-Identifier: GPL-3.0-or-later
// A thin RAII skin over SQLite: database, statement, transaction. Used by the ledger only; one thread a Database.
// Every failure throws LedgerError with the file's path, what SQLite says and what to do about it.
#pragma once
#include <sqlite3.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace squall::sqlite {

enum class Mode { read_only, read_write };

class Database {
  public:
    // read_write creates the file (never its folder). Locks held by others are waited for, up to wait_ms a call.
    Database(const std::string& path, Mode mode, int wait_ms);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    const std::string& path() const { return path_; }
    sqlite3* handle() const { return db_; }
    bool read_only() const { return sqlite3_db_readonly(db_, "main") == 1; }
    void execute(const char* sql);  // no parameters, rows ignored; may be several statements
    std::int64_t last_insert_id() const { return sqlite3_last_insert_rowid(db_); }
    int changes() const { return sqlite3_changes(db_); }
    std::int64_t integer(const char* sql);  // first column of the first row, 0 without one

    // Parameters bound in order, no rows expected.
    template <typename... Args>
    void run(const char* sql, const Args&... args);
    // The same with a row's fields as one parenthesized list between `sql` and `tail`: "INSERT … VALUES" (?, …).
    template <typename Tuple, typename... Args>
    void run_tuple(const std::string& sql, const Tuple& row, const char* tail = "", const Args&... args);
    // Rows are read column by column into fields(row), a std::tie of its members.
    template <typename Row, typename... Args>
    std::vector<Row> rows(const char* sql, const Args&... args);
    template <typename Row, typename... Args>
    std::optional<Row> row(const char* sql, const Args&... args);

    [[noreturn]] void fail(const std::string& doing) const;

  private:
    friend class Transaction;
    std::string path_;
    sqlite3* db_ = nullptr;
    int depth_ = 0;  // of nested Transactions
};

class Statement {
  public:
    Statement(Database& db, const char* sql);
    ~Statement() { sqlite3_finalize(stmt_); }
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    bool step();  // true: a row is there

    void bind(std::string_view text);
    void bind(const char* text) { bind(std::string_view(text)); }
    template <typename T>
    void bind(const T& value) {
        if constexpr (std::is_enum_v<T>) {
            bind(std::string_view(to_string(value)));
        } else if constexpr (std::is_arithmetic_v<T>) {
            bind_integer(static_cast<std::int64_t>(value));
        } else {
            bind(std::string_view(value));
        }
    }
    template <typename T>
    void bind(const std::optional<T>& value) {
        value ? bind(*value) : bind_null();
    }

    void read(std::string& value);
    template <typename T>
    void read(T& value) {
        if constexpr (std::is_enum_v<T>) {
            std::string text;
            read(text);
            if (!from_string(text, value)) bad_column(text);
        } else {
            value = static_cast<T>(integer());
        }
    }
    template <typename T>
    void read(std::optional<T>& value) {
        if (sqlite3_column_type(stmt_, column_) == SQLITE_NULL) {
            column_++;
            value.reset();
        } else {
            read(value.emplace());
        }
    }

  private:
    void bind_integer(std::int64_t value);
    void bind_null();
    std::int64_t integer();
    [[noreturn]] void bad_column(const std::string& text);

    Database& db_;
    sqlite3_stmt* stmt_ = nullptr;
    int parameter_ = 0;  // the last bound
    int column_ = 0;     // the next to read
};

// BEGIN IMMEDIATE … COMMIT; rolled back unless committed. One inside another joins it: the outer decides.
// Immediate, because a read that turns into a write fails at once, without waiting, when another process wrote.
class Transaction {
  public:
    explicit Transaction(Database& db);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit();

  private:
    Database& db_;
    bool done_ = false;
};

template <typename... Args>
void Database::run(const char* sql, const Args&... args) {
    Statement statement(*this, sql);
    (statement.bind(args), ...);
    while (statement.step()) {
    }
}

template <typename Tuple, typename... Args>
void Database::run_tuple(const std::string& sql, const Tuple& row, const char* tail, const Args&... args) {
    std::string list = " (?";
    for (std::size_t i = 1; i < std::tuple_size_v<Tuple>; i++) list += ", ?";
    std::string text = sql + list + ") " + tail;
    std::apply([&](const auto&... field) { run(text.c_str(), field..., args...); }, row);
}

template <typename Row, typename... Args>
std::vector<Row> Database::rows(const char* sql, const Args&... args) {
    Statement statement(*this, sql);
    (statement.bind(args), ...);
    std::vector<Row> found;
    while (statement.step())
        std::apply([&](auto&... field) { (statement.read(field), ...); }, fields(found.emplace_back()));
    return found;
}

template <typename Row, typename... Args>
std::optional<Row> Database::row(const char* sql, const Args&... args) {
    std::vector<Row> found = rows<Row>(sql, args...);
    if (found.empty()) return std::nullopt;
    return std::move(found.front());
}

}  // namespace squall::sqlite
