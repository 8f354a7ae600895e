// SPDX-License-Identifier: GPL-3.0-or-later
// The daemon base: log lines, conditions, signals, lifeline, exclusive lock, poke socket. Each test has a folder of
// its own under TMPDIR.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "src/core/daemon.h"
#include "src/core/log.h"
#include "src/core/poke.h"
#include "tests/unit/suite.h"

using namespace squall;
using std::chrono::milliseconds;

namespace {

std::string g_dir;
constexpr milliseconds kLong{20000};  // never waited out when the test passes

void make_dir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "squall-daemon-XXXXXX").string();
    ck_assert_ptr_nonnull(mkdtemp(pattern.data()));
    g_dir = pattern;
}
void remove_dir() { std::filesystem::remove_all(g_dir); }

std::string read_file(const std::string& path) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

}  // namespace

START_TEST(log_writes_one_dated_line_a_message_and_drops_what_is_too_chatty) {
    std::string path = g_dir + "/x.log";
    ASSERT_TEXT(log_open(path, LogLevel::info), "");
    log_error("job {}: two\nlines", 7);
    log_debug("not this");
    std::string text = read_file(path);
    ASSERT_HAS(text, "] error: job 7: two lines\n");
    ck_assert_int_eq(text[0], '[');
    ck_assert_ptr_null(strstr(text.c_str(), "not this"));
}
END_TEST

START_TEST(log_that_cannot_be_opened_names_the_path_and_stays_where_it_was) {
    std::string path = g_dir + "/x.log";
    log_open(path, LogLevel::info);
    std::string error = log_open(g_dir + "/missing/x.log", LogLevel::info);
    ASSERT_HAS(error, "/missing/x.log");
    log_info("still here");
    ASSERT_HAS(read_file(path), "still here");
}
END_TEST

START_TEST(log_reopened_after_rotation_writes_to_the_new_file) {
    std::string path = g_dir + "/x.log";
    log_open(path, LogLevel::info);
    log_info("before");
    std::filesystem::rename(path, path + ".1");
    log_open(path, LogLevel::info);
    log_info("after");
    ASSERT_HAS(read_file(path), "after");
    ck_assert_ptr_null(strstr(read_file(path + ".1").c_str(), "after"));
}
END_TEST

START_TEST(condition_is_logged_when_it_begins_changes_and_ends_only) {
    log_open(g_dir + "/x.log", LogLevel::info);
    Conditions conditions;
    ck_assert(conditions.raise("slurm", "cannot reach slurmctld"));
    ck_assert(!conditions.raise("slurm", "cannot reach slurmctld"));
    ck_assert(conditions.raise("slurm", "wrong version"));
    ck_assert(conditions.raised("slurm"));
    ck_assert(conditions.clear("slurm", "slurmctld answers again"));
    ck_assert(!conditions.clear("slurm", "slurmctld answers again"));
    std::string text = read_file(g_dir + "/x.log");
    ck_assert_int_eq(std::count(text.begin(), text.end(), '\n'), 3);
}
END_TEST

START_TEST(sigterm_asks_to_stop_even_where_the_parent_had_blocked_it) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, nullptr);
    Daemon daemon(-1);
    ck_assert(!daemon.stopping());
    raise(SIGTERM);
    ck_assert(daemon.wait(kLong).stop);
    ck_assert(daemon.stopping());
}
END_TEST

START_TEST(sighup_seen_by_stopping_is_still_told_by_wait) {
    Daemon daemon(-1);
    raise(SIGHUP);
    ck_assert(!daemon.stopping());
    Wake wake = daemon.wait(kLong);
    ck_assert(wake.reload && !wake.stop);
    ck_assert(!daemon.wait(milliseconds(0)).reload);
}
END_TEST

START_TEST(end_of_file_on_the_lifeline_asks_to_stop) {
    int fds[2];
    ck_assert_int_eq(pipe(fds), 0);
    Daemon daemon(fds[0]);
    ck_assert(!daemon.wait(milliseconds(0)).stop);
    close(fds[1]);
    ck_assert(daemon.wait(kLong).stop);
}
END_TEST

START_TEST(many_pokes_make_one_wake) {
    Daemon daemon(-1);
    std::string error, socket = g_dir + "/s.sock";
    ck_assert_msg(daemon.become_active(g_dir + "/lock", socket, &error), "%s", error.c_str());
    for (int i = 0; i < 5; i++) poke(socket);
    ck_assert(daemon.wait(kLong).poked);
    ck_assert(!daemon.wait(milliseconds(0)).poked);
}
END_TEST

START_TEST(poke_without_a_listener_or_with_an_endless_path_is_harmless) {
    poke(g_dir + "/nobody");
    poke(std::string(300, 'x'));
}
END_TEST

START_TEST(socket_path_too_long_is_an_error_that_says_what_to_do) {
    Daemon daemon(-1);
    std::string error;
    ck_assert(!daemon.become_active(g_dir + "/lock", std::string(200, 'x'), &error));
    ASSERT_HAS(error, "shorter StateDir");
}
END_TEST

START_TEST(lock_that_cannot_be_opened_names_the_path) {
    Daemon daemon(-1);
    std::string error;
    ck_assert(!daemon.become_active(g_dir + "/missing/lock", "", &error));
    ASSERT_HAS(error, "/missing/lock");
}
END_TEST

// Forks a daemon that holds the lock; returns its pid once it is active.
static pid_t fork_holder() {
    int ready[2];
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        Daemon daemon(-1);
        std::string error;
        bool active = daemon.become_active(g_dir + "/lock", g_dir + "/s.sock", &error);
        if (write(ready[1], active ? "y" : "n", 1) != 1) _exit(1);
        for (;;) daemon.wait(kLong);
    }
    close(ready[1]);
    char answer = '?';
    ck_assert_int_eq(read(ready[0], &answer, 1), 1);
    ck_assert_int_eq(answer, 'y');
    close(ready[0]);
    return child;
}

START_TEST(second_daemon_waits_and_takes_over_when_the_first_is_killed) {
    static pid_t holder, told_pid;
    told_pid = 0;
    holder = fork_holder();
    Daemon daemon(-1);
    std::string error;
    ck_assert(daemon.become_active(g_dir + "/lock", g_dir + "/s.sock", &error, [](pid_t pid) {
        told_pid = pid;
        kill(holder, SIGKILL);
    }));
    ck_assert_int_eq(told_pid, holder);
    waitpid(holder, nullptr, 0);
    ck_assert_int_eq(std::stoi(read_file(g_dir + "/lock")), getpid());
}
END_TEST

START_TEST(stop_asked_while_waiting_for_the_lock_leaves_without_an_error) {
    pid_t holder = fork_holder();
    int fds[2];
    ck_assert_int_eq(pipe(fds), 0);
    close(fds[1]);
    Daemon second(fds[0]);
    std::string error;
    ck_assert(!second.become_active(g_dir + "/lock", "", &error));
    ASSERT_TEXT(error, "");
    kill(holder, SIGKILL);
    waitpid(holder, nullptr, 0);
}
END_TEST

// The solver's child outlives a killed squalld for a moment: it must not keep the lock.
START_TEST(forked_child_does_not_keep_the_lock_of_a_killed_daemon) {
    int ready[2];
    ck_assert_int_eq(pipe(ready), 0);
    pid_t first = fork();
    if (first == 0) {
        Daemon daemon(-1);
        std::string error;
        daemon.become_active(g_dir + "/lock", "", &error);
        pid_t solver = fork();
        if (solver == 0) pause();
        if (write(ready[1], &solver, sizeof solver) != static_cast<ssize_t>(sizeof solver)) _exit(1);
        for (;;) pause();
    }
    pid_t solver = 0;
    ck_assert_int_eq(read(ready[0], &solver, sizeof solver), static_cast<int>(sizeof solver));
    kill(first, SIGKILL);
    waitpid(first, nullptr, 0);
    Daemon daemon(-1);
    std::string error;
    ck_assert(daemon.become_active(g_dir + "/lock", "", &error));
    kill(solver, SIGKILL);
}
END_TEST

// The main thread is deaf, as in an RPC to a slurmctld that is gone.
START_TEST(a_stuck_daemon_leaves_after_its_grace_when_stop_is_asked) {
    sigset_t term;  // blocked from before the fork, so that it cannot arrive too early
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, nullptr);
    for (bool by_signal : {true, false}) {
        int lifeline[2];
        ck_assert_int_eq(pipe(lifeline), 0);
        pid_t child = fork();
        if (child == 0) {
            close(lifeline[1]);
            Daemon daemon(lifeline[0]);
            daemon.leave_within(milliseconds(10));
            for (;;) pause();
        }
        close(lifeline[0]);
        if (by_signal) kill(child, SIGTERM);
        if (!by_signal) close(lifeline[1]);
        int status = 1;
        waitpid(child, &status, 0);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        if (by_signal) close(lifeline[1]);
    }
}
END_TEST

START_TEST(closed_standard_descriptors_are_filled) {
    pid_t child = fork();
    if (child == 0) {
        close(0), close(1), close(2);
        Daemon daemon(-1);
        std::string error;
        bool active = daemon.become_active(g_dir + "/lock", g_dir + "/s.sock", &error);
        bool null = read(0, &error, 1) == 0;
        _exit(active && null && write(2, "x", 1) == 1 ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(child_with_reset_signals_can_be_terminated) {
    Daemon daemon(-1);
    pid_t child = fork();
    if (child == 0) {
        reset_signals_in_child();
        for (;;) pause();
    }
    kill(child, SIGTERM);
    int status = 0;
    waitpid(child, &status, 0);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    ck_assert(daemon.wait(kLong).child);
}
END_TEST

int main() {
    return run_suite(
        "daemon",
        {a_stuck_daemon_leaves_after_its_grace_when_stop_is_asked,
         log_writes_one_dated_line_a_message_and_drops_what_is_too_chatty,
         log_that_cannot_be_opened_names_the_path_and_stays_where_it_was,
         log_reopened_after_rotation_writes_to_the_new_file, condition_is_logged_when_it_begins_changes_and_ends_only,
         sigterm_asks_to_stop_even_where_the_parent_had_blocked_it, sighup_seen_by_stopping_is_still_told_by_wait,
         end_of_file_on_the_lifeline_asks_to_stop, many_pokes_make_one_wake,
         poke_without_a_listener_or_with_an_endless_path_is_harmless,
         socket_path_too_long_is_an_error_that_says_what_to_do, lock_that_cannot_be_opened_names_the_path,
         second_daemon_waits_and_takes_over_when_the_first_is_killed,
         stop_asked_while_waiting_for_the_lock_leaves_without_an_error,
         forked_child_does_not_keep_the_lock_of_a_killed_daemon, closed_standard_descriptors_are_filled,
         child_with_reset_signals_can_be_terminated},
        make_dir, remove_dir);
}
