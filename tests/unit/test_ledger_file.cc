// SPDX-License-Identifier: GPL-3.0-or-later
// The ledger's file: several processes at once, kill -9, damage, other versions, missing rights, no space.
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <functional>

#include "src/core/ledger.h"
#include "tests/unit/scratch.h"
#include "tests/unit/suite.h"

using namespace squall;

namespace {

// What LedgerError says, or "" when nothing was thrown.
std::string error_of(const std::function<void()>& body) {
    try {
        body();
    } catch (const LedgerError& error) {
        return error.what();
    }
    return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void run_sql(const std::string& path, const char* sql) {
    sqlite3* db = nullptr;
    ck_assert_int_eq(sqlite3_open(path.c_str(), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(db);
}

PowerRequest resume_of(const std::string& node) { return {0, node, PowerAction::resume, 1, ""}; }

// Root may write everywhere: become somebody else. Returns false if this user cannot write `dir` by mode bits already.
void become_ordinary_user() {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(98);
}

}  // namespace

START_TEST(processes_opening_a_new_ledger_at_once_all_get_it) {
    Scratch scratch("ledger");
    std::string path = scratch.path("ledger.db");
    std::vector<pid_t> children;
    for (int i = 0; i < 8; i++) {
        children.push_back(in_child([&] {
            Ledger ledger = Ledger::open(path);
            ledger.push_power_requests({resume_of("c1")});
            return 0;
        }));
    }
    for (pid_t child : children) ck_assert_int_eq(wait_child(child), 0);
    ck_assert_int_eq(Ledger::open(path).pending_power_requests().size(), 8);
}
END_TEST

START_TEST(two_writers_at_once_wait_for_each_other_and_lose_nothing) {
    Scratch scratch("ledger");
    std::string path = scratch.path("ledger.db");
    auto writer = [&](const std::string& node) {
        return in_child([&path, node] {
            Ledger ledger = Ledger::open(path);
            for (int i = 0; i < 200; i++) {
                Lease lease;
                lease.node = "shared";
                ledger.add_lease(lease);
                ledger.push_power_requests({resume_of(node), resume_of(node)});
            }
            return 0;
        });
    };
    pid_t first = writer("a"), second = writer("b");
    ck_assert_int_eq(wait_child(first), 0);
    ck_assert_int_eq(wait_child(second), 0);
    Ledger ledger = Ledger::open(path);
    ck_assert_int_eq(ledger.pending_power_requests().size(), 800);
    ck_assert_int_eq(ledger.open_lease("shared")->generation, 400);
}
END_TEST

START_TEST(opening_while_another_process_writes_waits) {
    Scratch scratch("ledger");
    std::string path = scratch.path("ledger.db");
    Ledger ledger = Ledger::open(path);
    int ready[2];
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = in_child([&] {
        Ledger other = Ledger::open(path);
        Ledger::Batch batch(other);
        other.push_power_requests({resume_of("c1")});
        if (write(ready[1], "x", 1) != 1) return 1;
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        batch.commit();
        return 0;
    });
    char byte;
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    ck_assert(ledger.pending_power_requests().empty());  // readers see the last committed state, without waiting
    Ledger third = Ledger::open(path);
    third.push_power_requests({resume_of("c2")});
    ck_assert_int_eq(third.pending_power_requests().size(), 2);
    ck_assert_int_eq(wait_child(child), 0);
}
END_TEST

START_TEST(killing_a_writer_anywhere_keeps_whole_transactions_and_what_was_confirmed) {
    Scratch scratch("ledger");
    std::string path = scratch.path("ledger.db");
    int confirmed[2];
    ck_assert_int_eq(pipe(confirmed), 0);
    std::size_t promised = 0;
    for (int round = 0; round < 25; round++) {
        pid_t child = in_child([&] {
            Ledger ledger = Ledger::open(path);
            for (;;) {
                ledger.push_power_requests({resume_of("c1"), resume_of("c2"), resume_of("c3")});
                if (write(confirmed[1], "x", 1) != 1) return 1;
            }
        });
        char byte;
        // At least one write, then a different moment each round.
        ck_assert_int_eq(read(confirmed[0], &byte, 1), 1);
        promised++;
        std::this_thread::sleep_for(std::chrono::microseconds(round * 397));
        kill(child, SIGKILL);
        ck_assert_int_eq(wait_child(child), 128 + SIGKILL);
        pid_t reader = in_child([&] { return Ledger::open(path).pending_power_requests().size() % 3 == 0 ? 0 : 1; });
        ck_assert_int_eq(wait_child(reader), 0);
    }
    close(confirmed[1]);
    char bytes[4096];
    for (ssize_t got; (got = read(confirmed[0], bytes, sizeof bytes)) > 0;) promised += static_cast<std::size_t>(got);
    std::size_t found = Ledger::open(path).pending_power_requests().size();
    ck_assert_int_eq(found % 3, 0);
    ck_assert_int_ge(found / 3, promised);
}
END_TEST

START_TEST(file_that_is_no_database_is_refused_and_left_alone) {
    Scratch scratch("ledger");
    std::string path = scratch.path("ledger.db"), text(8192, 'x');
    write_file(path, text);
    std::string error = error_of([&] { Ledger::open(path); });
    ck_assert_msg(has(error, path) && has(error, "not a database") && has(error, "move it away"), "%s", error.c_str());
    ck_assert(read_file(path) == text);
    ck_assert(has(error_of([&] { Ledger::open_read_only(path); }), path));
}
END_TEST

START_TEST(damaged_pages_are_reported_not_believed) {
    Scratch scratch("ledger");
    std::string path = scratch.path("ledger.db");
    {
        Ledger ledger = Ledger::open(path);
        Ledger::Batch batch(ledger);
        for (int i = 0; i < 2000; i++) ledger.push_power_requests({resume_of("node" + std::to_string(i))});
        batch.commit();
    }
    run_sql(path, "PRAGMA wal_checkpoint(TRUNCATE)");
    {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(0, std::ios::end);
        auto size = file.tellp();
        ck_assert_int_gt(size, 8 * 4096);
        file.seekp(4 * 4096);
        file << std::string(static_cast<std::size_t>(size) - 4 * 4096, '\x5a');
    }
    std::string error = error_of([&] {
        Ledger ledger = Ledger::open(path);
        ledger.pending_power_requests();
        ledger.leases();
    });
    ck_assert_msg(has(error, path) && has(error, "malformed"), "%s", error.c_str());
}
END_TEST

START_TEST(newer_schema_is_refused_in_words) {
    Scratch scratch("ledger");
    std::string path = scratch.path("ledger.db");
    Ledger::open(path);
    run_sql(path, "PRAGMA user_version=1000");
    for (auto open : {&Ledger::open, &Ledger::open_read_only}) {
        std::string error = error_of([&] { open(path); });
        ck_assert_msg(has(error, path) && has(error, "newer Squall") && has(error, "1000"), "%s", error.c_str());
    }
}
END_TEST

START_TEST(another_programs_database_is_refused) {
    Scratch scratch("ledger");
    std::string path = scratch.path("ledger.db");
    run_sql(path, "CREATE TABLE jobs (x)");
    std::string error = error_of([&] { Ledger::open(path); });
    ck_assert_msg(has(error, path) && has(error, "not a ledger"), "%s", error.c_str());
}
END_TEST

START_TEST(missing_folder_names_the_path_and_the_cause) {
    Scratch scratch("ledger");
    std::string path = scratch.path("nowhere/ledger.db");
    std::string error = error_of([&] { Ledger::open(path); });
    ck_assert_msg(has(error, path) && has(error, "No such file"), "%s", error.c_str());
    ck_assert(has(error_of([&] { Ledger::open_read_only(path); }), path));
    ck_assert(!std::filesystem::exists(scratch.path("nowhere")));
}
END_TEST

START_TEST(user_without_write_permission_reads_but_cannot_write) {
    Scratch scratch("ledger");
    std::string path = scratch.path("ledger.db");
    Ledger::open(path).push_power_requests({resume_of("c1")});
    chmod(path.c_str(), 0444);
    chmod(scratch.dir().c_str(), 0555);
    int result = wait_child(in_child([&] {
        become_ordinary_user();
        if (Ledger::open_read_only(path).pending_power_requests().size() != 1) return 1;
        std::string error = error_of([&] { Ledger::open(path); });
        if (!has(error, path) || !has(error, "SlurmUser")) return 2;
        error = error_of([&] { Ledger::open_read_only(path).push_power_requests({resume_of("c2")}); });
        if (!has(error, path) || !has(error, "readonly")) return 3;
        return has(error_of([&] { Ledger::open(scratch.path("new.db")); }), "new.db") ? 0 : 4;
    }));
    chmod(scratch.dir().c_str(), 0755);
    ck_assert_int_eq(result, 0);
}
END_TEST

START_TEST(no_space_is_an_error_and_what_was_there_stays) {
    Scratch scratch("ledger");
    std::string path = scratch.path("ledger.db");
    Ledger::open(path).push_power_requests({resume_of("c1")});
    int result = wait_child(in_child([&] {
        signal(SIGXFSZ, SIG_IGN);
        Ledger ledger = Ledger::open(path);
        rlimit limit{65536, 65536};  // the file cannot grow: what a full disk does to a write
        setrlimit(RLIMIT_FSIZE, &limit);
        std::string error = error_of([&] {
            for (int i = 0; i < 1000; i++) ledger.push_power_requests({resume_of(std::string(1000, 'n'))});
        });
        if (!has(error, path) || !has(error, "cannot write")) return 1;
        return ledger.pending_power_requests().size() >= 1 ? 0 : 2;  // the same connection still reads
    }));
    ck_assert_int_eq(result, 0);
    Ledger ledger = Ledger::open(path);
    ck_assert_text(ledger.pending_power_requests()[0].node.c_str(), "c1");
    ledger.push_power_requests({resume_of("c2")});
}
END_TEST

int main() {
    return run_suite(
        "ledger_file",
        {processes_opening_a_new_ledger_at_once_all_get_it, two_writers_at_once_wait_for_each_other_and_lose_nothing,
         opening_while_another_process_writes_waits,
         killing_a_writer_anywhere_keeps_whole_transactions_and_what_was_confirmed,
         file_that_is_no_database_is_refused_and_left_alone, damaged_pages_are_reported_not_believed,
         newer_schema_is_refused_in_words, another_programs_database_is_refused,
         missing_folder_names_the_path_and_the_cause, user_without_write_permission_reads_but_cannot_write,
         no_space_is_an_error_and_what_was_there_stays});
}
