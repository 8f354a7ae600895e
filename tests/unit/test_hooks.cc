// SPDX-License-Identifier: GPL-3.0-or-later
// The three hook programs as slurmctld runs them: no PATH, descriptors 0–2 closed, both forms of the resume file, and
// every way in which the queue cannot be written.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <vector>

#include "tests/unit/suite.h"
//
#include "cloud/resume_file.h"
#include "src/core/ledger.h"
#include "tests/unit/driver_subject.h"

using namespace squall;
using namespace squall::cloud;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class Site {
  public:
    Site() : scratch("hooks") { configure(""); }
    void configure(const std::string& more) {
        write_file(scratch.path("squall.conf"), fmt::format("StateDir={0}\nLogDir={0}\n{1}", scratch.dir(), more));
    }
    // As slurmctld does. Returns the exit status.
    int run(const std::string& program, const std::vector<std::string>& arguments,
            const std::string& resume_file = "") {
        std::string path = built_program(program), conf = "SLURM_CONF=" + scratch.path("slurm.conf"),
                    resume = "SLURM_RESUME_FILE=" + resume_file;
        std::vector<const char*> argv = {path.c_str()}, environment = {conf.c_str()};
        for (const std::string& one : arguments) argv.push_back(one.c_str());
        argv.push_back(nullptr);
        if (!resume_file.empty()) environment.push_back(resume.c_str());
        environment.push_back(nullptr);
        pid_t pid = fork();
        if (pid == 0) {
            for (int fd = 0; fd < 256; fd++) close(fd);
            execve(path.c_str(), const_cast<char**>(argv.data()), const_cast<char**>(environment.data()));
            _exit(127);
        }
        return wait_child(pid);
    }
    std::vector<PowerRequest> queue() { return Ledger::open(scratch.path("ledger.db")).pending_power_requests(); }
    std::string log() { return read_file(scratch.path("squall-hooks.log")); }
    std::string resume_file(const std::string& text) {
        write_file(scratch.path("resume.json"), text);
        return scratch.path("resume.json");
    }
    Scratch scratch;
};

}  // namespace

START_TEST(resume_queues_each_node_with_its_jobs) {
    Site site;
    std::string file = site.resume_file(
        R"({"jobs":[{"job_id":13,"nodes":"c[1-2]"},{"job_id":14,"nodes":"c2"}],"all_nodes":"c[1-3]"})");
    ck_assert_int_eq(site.run("squall-resume", {"c[1-3]"}, file), 0);
    auto queue = site.queue();
    ck_assert_int_eq(queue.size(), 3);
    ck_assert(queue[0].node == "c1" && queue[0].job_ids == "13" && queue[0].action == PowerAction::resume);
    ck_assert(queue[1].node == "c2" && queue[1].job_ids == "13,14");
    ck_assert(queue[2].node == "c3" && queue[2].job_ids.empty());
    ck_assert_int_gt(queue[0].asked_at, 1600000000);
    ck_assert(has(site.log(), "squall-resume: c[1-3] queued"));
}
END_TEST

START_TEST(newer_form_of_the_resume_file_is_read) {
    Site site;
    std::string file = site.resume_file(R"({"all_nodes_resume":"c[1-2]","jobs":[{"extra":null,"features":"",
        "job_id":140814,"nodes_alloc":"c[1-4]","nodes_resume":"c[1-2]","oversubscribe":"OK","partition":"cloud",
        "reservation":null}]})");
    ResumeFile read = read_resume_file(file);
    ck_assert_text(read.error, "");
    ck_assert_int_eq(read.job_ids.size(), 2);
    ck_assert_text(read.job_ids["c2"], "140814");
}
END_TEST

START_TEST(unusable_resume_file_is_reported_and_the_nodes_resumed_all_the_same) {
    Site site;
    ck_assert_int_eq(site.run("squall-resume", {"c1"}, "/no/such/file"), 0);
    ck_assert_int_eq(site.run("squall-resume", {"c1"}, site.resume_file("{\"jobs\": oops")), 0);
    ck_assert_int_eq(site.run("squall-resume", {"c1"}, site.resume_file("{}")), 0);
    ck_assert_int_eq(site.run("squall-resume", {"c1"}, site.resume_file(R"({"jobs":[{"job_id":"x"},7]})")), 0);
    ck_assert_int_eq(site.queue().size(), 4);
    ck_assert_msg(has(site.log(), "/no/such/file") && has(site.log(), "resumed all the same"), "%s",
                  site.log().c_str());
}
END_TEST

START_TEST(suspend_and_resume_fail_queue_their_own_action) {
    Site site;
    ck_assert_int_eq(site.run("squall-suspend", {"c1"}), 0);
    ck_assert_int_eq(site.run("squall-resume-fail", {"c2,c3"}), 0);
    auto queue = site.queue();
    ck_assert_int_eq(queue.size(), 3);
    ck_assert(queue[0].action == PowerAction::suspend && queue[1].action == PowerAction::resume_fail);
    ck_assert_text(queue[2].node, "c3");
}
END_TEST

START_TEST(thousand_nodes_are_one_transaction_and_one_poke) {
    Site site;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::string path = site.scratch.path("cloudd.sock");
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    int receiver = socket(AF_UNIX, SOCK_DGRAM, 0);
    ck_assert_int_eq(bind(receiver, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ck_assert_int_eq(site.run("squall-resume", {"c[1-1000]"}), 0);
    ck_assert_int_eq(site.queue().size(), 1000);
    char byte;
    ck_assert_int_eq(recv(receiver, &byte, 1, MSG_DONTWAIT), 0);
    ck_assert_int_eq(recv(receiver, &byte, 1, MSG_DONTWAIT), -1);
}
END_TEST

START_TEST(hook_waits_for_a_writer_and_works_without_a_daemon) {
    Site site;
    int ready[2];
    ck_assert_int_eq(pipe(ready), 0);
    pid_t writer = in_child([&] {
        Ledger ledger = Ledger::open(site.scratch.path("ledger.db"));
        Ledger::Batch batch(ledger);
        ledger.push_power_requests({{0, "x", PowerAction::suspend, 1, ""}});
        if (write(ready[1], "x", 1) != 1) return 1;
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        batch.commit();
        return 0;
    });
    char byte;
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    ck_assert_int_eq(site.run("squall-suspend", {"c1"}), 0);
    ck_assert_int_eq(wait_child(writer), 0);
    ck_assert_int_eq(site.queue().size(), 2);
}
END_TEST

START_TEST(wrong_call_says_what_to_write_and_queues_nothing) {
    Site site;
    ck_assert_int_eq(site.run("squall-resume", {}), 2);
    ck_assert_int_eq(site.run("squall-resume", {"c1", "c2"}), 2);
    ck_assert_int_eq(site.run("squall-resume", {"c[1-"}), 1);
    ck_assert_msg(has(site.log(), "c[1-"), "%s", site.log().c_str());
    ck_assert_int_eq(site.run("squall-suspend", {""}), 1);
    ck_assert(site.queue().empty());
}
END_TEST

START_TEST(broken_line_elsewhere_in_the_configuration_does_not_keep_a_node_alive) {
    Site site;
    site.configure("NodeClass=cloud Nodes=c1 Rented=perhaps\n");
    ck_assert_int_eq(site.run("squall-suspend", {"c1"}), 0);
    ck_assert_int_eq(site.queue().size(), 1);
    ck_assert_msg(has(site.log(), "squall.conf:3: Rented=perhaps"), "%s", site.log().c_str());
}
END_TEST

START_TEST(ledger_that_cannot_be_written_is_a_failure_with_its_path) {
    Site site;
    write_file(site.scratch.path("ledger.db"), std::string(8192, 'x'));
    ck_assert_int_eq(site.run("squall-suspend", {"c1"}), 1);
    ck_assert_msg(has(site.log(), site.scratch.path("ledger.db") + ": "), "%s", site.log().c_str());
    Site other;
    other.configure("StateDir=" + other.scratch.path("nowhere") + "\n");
    ck_assert_int_ne(other.run("squall-suspend", {"c1"}), 0);
    ck_assert(!std::filesystem::exists(other.scratch.path("nowhere")));
}
END_TEST

START_TEST(closed_descriptors_are_filled_before_anything_is_opened) {
    Site site;
    // With 0–2 closed the ledger would get a low number, and an error message would be written into it.
    site.configure("NodeClass=cloud Nodes=c1 Rented=perhaps\n");
    for (int i = 0; i < 3; i++) ck_assert_int_eq(site.run("squall-suspend", {"c1"}), 0);
    ck_assert_int_eq(site.queue().size(), 3);
    for (const char* file : {"ledger.db", "ledger.db-wal"})
        ck_assert(!has(read_file(site.scratch.path(file)), "squall-suspend: error"));
}
END_TEST

int main() {
    return run_suite(
        "hooks", {resume_queues_each_node_with_its_jobs, newer_form_of_the_resume_file_is_read,
                  unusable_resume_file_is_reported_and_the_nodes_resumed_all_the_same,
                  suspend_and_resume_fail_queue_their_own_action, thousand_nodes_are_one_transaction_and_one_poke,
                  hook_waits_for_a_writer_and_works_without_a_daemon, wrong_call_says_what_to_write_and_queues_nothing,
                  broken_line_elsewhere_in_the_configuration_does_not_keep_a_node_alive,
                  ledger_that_cannot_be_written_is_a_failure_with_its_path,
                  closed_descriptors_are_filled_before_anything_is_opened});
}
