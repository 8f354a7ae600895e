// SPDX-License-Identifier: GPL-3.0-or-later
// What only the local driver promises: dead machines have no processes, slurmd is started as Slurm needs it, wrong
// options and fault lines are named.
#include <fcntl.h>
#include <fmt/format.h>

#include "cloud/options.h"
#include "tests/unit/driver_subject.h"
#include "tests/unit/suite.h"

using namespace squall;
using namespace squall::cloud;

namespace {

// The one process of the instance whose last argument is `word`, 0 if there is none (yet).
pid_t process_with(const LocalSubject& subject, const std::string& word) {
    for (const Process& one : tree_of(subject.ours())) {
        std::string line = read_file("/proc/" + std::to_string(one.pid) + "/cmdline");
        if (line.size() > word.size() && line.compare(line.size() - word.size() - 1, word.size(), word) == 0)
            return one.pid;
    }
    return 0;
}

bool all_run(const LocalSubject& subject) {
    for (const char* word : {"300", "301", "302", "303"})
        if (process_with(subject, word) == 0) return false;
    return true;
}

std::string launch_error(LocalSubject& subject, const std::string& key, const std::string& value) {
    LaunchSpec spec = subject.spec("c1", 1, 1);
    spec.options[key] = value;
    LaunchResult result = subject.make()->launch(spec);
    ck_assert(subject.make()->list().instances.empty());
    return std::string(to_string(result.error.kind)) + ": " + result.error.message;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

START_TEST(killed_slurmd_takes_every_job_process_with_it) {
    LocalSubject subject;
    auto driver = subject.make();
    std::string id = driver->launch(subject.spec("c1", 1, 1)).instance.id;
    ck_assert(wait_for([&] { return all_run(subject); }));
    kill(process_with(subject, "303"), SIGKILL);
    ck_assert(reaches(*driver, id, InstanceState::failed));
    ListResult list = driver->list();
    ck_assert(has(find_instance(list, id)->reason, "signal 9"));
    ck_assert(wait_for([&] { return subject.left() == 0; }));
}
END_TEST

START_TEST(killed_supervisor_is_a_dead_machine_too) {
    LocalSubject subject;
    auto driver = subject.make();
    std::string id = driver->launch(subject.spec("c1", 1, 1)).instance.id;
    ck_assert(wait_for([&] { return all_run(subject); }));
    pid_t supervisor = process_with(subject, id);
    ck_assert_int_gt(supervisor, 0);
    kill(supervisor, SIGKILL);
    ck_assert(reaches(*driver, id, InstanceState::failed));
    ck_assert(wait_for([&] { return subject.left() == 0; }));
    ck_assert(!driver->terminate(id));
    ck_assert(reaches(*driver, id, InstanceState::gone));
}
END_TEST

START_TEST(process_that_hides_its_environment_dies_with_a_killed_supervisor) {
    LocalSubject subject;
    write_file(subject.slurmd(),
               "#!/bin/sh\nenv -i sleep 304 &\necho $! >" + subject.scratch().path("hidden") + "\nexec sleep 303\n");
    auto driver = subject.make();
    std::string id = driver->launch(subject.spec("c1", 1, 1)).instance.id;
    ck_assert(wait_for([&] { return !read_file(subject.scratch().path("hidden")).empty(); }));
    pid_t hidden = std::atoi(read_file(subject.scratch().path("hidden")).c_str());
    ck_assert(wait_for([&] { return read_file(fmt::format("/proc/{}/comm", hidden)) == "sleep\n"; }));
    ck_assert(reaches(*driver, id, InstanceState::running));
    kill(process_with(subject, id), SIGKILL);
    ck_assert(reaches(*driver, id, InstanceState::failed));
    ck_assert(wait_for([&] {
        auto left = process(hidden);
        return !left || left->zombie;
    }));
}
END_TEST

START_TEST(hanging_supervisor_is_ended_by_force) {
    LocalSubject subject;
    auto driver = subject.make();
    std::string id = driver->launch(subject.spec("c1", 1, 1)).instance.id;
    ck_assert(wait_for([&] { return all_run(subject); }));
    kill(process_with(subject, id), SIGSTOP);
    ck_assert(!driver->terminate(id));
    ck_assert(reaches(*driver, id, InstanceState::gone));
    ck_assert_int_eq(subject.left(), 0);
}
END_TEST

START_TEST(slurmd_that_exits_by_itself_is_reported_with_its_log) {
    LocalSubject subject;
    write_file(subject.slurmd(), "#!/bin/sh\necho no such node >&2\nexit 3\n");
    auto driver = subject.make();
    std::string id = driver->launch(subject.spec("c1", 1, 1)).instance.id;
    ck_assert(reaches(*driver, id, InstanceState::failed));
    ListResult list = driver->list();
    std::string log = subject.root() + "/log/c1.log";
    ck_assert(has(find_instance(list, id)->reason, "status 3") && has(find_instance(list, id)->reason, log));
    ck_assert(has(read_file(log), "no such node"));
}
END_TEST

START_TEST(slurmd_gets_its_arguments_real_descriptors_and_no_secrets) {
    LocalSubject subject;
    write_file(subject.slurmd(), "#!/bin/sh\nls -l /proc/$$/fd >" + subject.scratch().path("fds") + "\nenv >" +
                                     subject.scratch().path("env") + "\necho \"$@\" >" +
                                     subject.scratch().path("args") + "\nexec sleep 303\n");
    setenv("CLOUD_SECRET", "hunter2", 1);
    int leak = open("/dev/null", O_RDONLY);  // not close-on-exec
    ck_assert_int_ge(leak, 0);
    for (int fd : {0, 1, 2}) close(fd);  // as squall-cloudd may have been started
    auto driver = subject.make();
    std::string id = driver->launch(subject.spec("c7", 1, 1)).instance.id;
    ck_assert(wait_for([&] { return !read_file(subject.scratch().path("args")).empty(); }));
    ck_assert_text(read_file(subject.scratch().path("args")).c_str(),
                   ("-N c7 -f " + subject.scratch().path("slurm.conf") + " -D -b\n").c_str());
    std::string fds = read_file(subject.scratch().path("fds"));
    ck_assert_msg(has(fds, "0 -> /dev/null") && has(fds, "1 -> ") && has(fds, "2 -> ") && has(fds, "/log/c7.log"), "%s",
                  fds.c_str());
    ck_assert_msg(!has(fds, "spec.json"), "%s", fds.c_str());
    ck_assert(!has(read_file(subject.scratch().path("env")), "hunter2"));
    ck_assert(has(read_file(subject.scratch().path("env")), "PATH="));
}
END_TEST

START_TEST(wrong_options_are_named_and_make_nothing) {
    LocalSubject subject;
    ck_assert(has(launch_error(subject, "SlurmdPath", "/no/slurmd"), "permanent: Driver.SlurmdPath=/no/slurmd"));
    LocalSubject other;
    ck_assert(has(launch_error(other, "slurmconf", "/no/slurm.conf"), "Driver.SlurmConf=/no/slurm.conf"));
    ck_assert(has(launch_error(other, "BootDelay", "soon"), "Driver.BootDelay=soon: write a time"));
    LocalDriver driver(other.root(), "/no/supervisor", other.scratch().path("slurm.conf"));
    LaunchResult result = driver.launch(other.spec("c2", 1, 1));
    ck_assert(has(result.error.message, "/no/supervisor") && has(result.error.message, "ProgramDir"));
    ck_assert(driver.list().instances.empty());
    ck_assert(driver.launch({"../c1", 1, "../c1/1/1", "cloud", {}}).error.kind == ErrorClass::permanent);
}
END_TEST

START_TEST(fault_lines_are_counted_down_and_bad_ones_named) {
    LocalSubject subject;
    subject.inject("# comment\nc2 no_capacity\nc1 no_capacity 2\n* slow_boot 5 1\n");
    LocalFaults faults(subject.root() + "/faults");
    ck_assert_text(faults.check().c_str(), "");
    ck_assert(faults.take("c1", FaultKind::no_capacity) && faults.take("c1", FaultKind::no_capacity));
    ck_assert(!faults.take("c1", FaultKind::no_capacity));
    ck_assert_int_eq(*faults.take("c9", FaultKind::slow_boot), 5);
    ck_assert(!faults.take("c9", FaultKind::slow_boot));
    for (int i = 0; i < 5; i++) ck_assert(faults.take("c2", FaultKind::no_capacity).has_value());
    ck_assert_text(read_file(subject.root() + "/faults").c_str(), "# comment\nc2 no_capacity\n");
    for (const char* bad : {"c1 explode", "c1", "c1 dies_after", "c1 dies_after x", "c1 quota 1 2", "c1 quota -1"}) {
        subject.inject(std::string("\n") + bad + "\n");
        LaunchResult result = subject.make()->launch(subject.spec("c1", 1, 1));
        ck_assert_msg(has(result.error.message, subject.root() + "/faults:2: "), "%s", result.error.message.c_str());
    }
}
END_TEST

START_TEST(option_times_and_programs) {
    Seconds value = -1;
    ck_assert_text(option_seconds({{"bootdelay", "5m"}}, "BootDelay", 0, &value).c_str(), "");
    ck_assert_int_eq(value, 300);
    ck_assert_text(option_seconds({}, "BootDelay", 7, &value).c_str(), "");
    ck_assert_int_eq(value, 7);
    for (const char* bad : {"5x", "-1", "m", "99999999999999999999", "1 s"})
        ck_assert(!option_seconds({{"BootDelay", bad}}, "BootDelay", 0, &value).empty());
    unsetenv("PATH");
    ck_assert(find_program("sh") != "");
    ck_assert_text(find_program("no-such-program-here").c_str(), "");
}
END_TEST

int main() {
    return run_suite(
        "local_driver",
        {killed_slurmd_takes_every_job_process_with_it, killed_supervisor_is_a_dead_machine_too,
         process_that_hides_its_environment_dies_with_a_killed_supervisor, hanging_supervisor_is_ended_by_force,
         slurmd_that_exits_by_itself_is_reported_with_its_log,
         slurmd_gets_its_arguments_real_descriptors_and_no_secrets, wrong_options_are_named_and_make_nothing,
         fault_lines_are_counted_down_and_bad_ones_named, option_times_and_programs},
        nullptr, nullptr, 120);
}
