// SPDX-License-Identifier: GPL-3.0-or-later
// What the contract tests need of a driver beyond its contract: make one, make it misbehave, count what is left of it.
// A new driver adds a Subject to subjects() and must pass every contract test.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cloud/driver.h"
#include "cloud/ec2_driver.h"
#include "cloud/local_driver.h"
#include "cloud/processes.h"
#include "tests/unit/fake_ec2.h"
#include "tests/unit/scratch.h"

namespace squall::cloud {

class Subject {
  public:
    virtual ~Subject() = default;
    virtual std::unique_ptr<Driver> make() = 0;  // as a restarted daemon would
    virtual LaunchSpec spec(const std::string& node, int generation, int attempt = 1) = 0;
    virtual void inject(const std::string& faults) = 0;  // in the words of the local driver's faults file
    virtual std::size_t left() = 0;                      // processes, machines … that cost something
};

inline std::string built_program(const std::string& name) {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path().parent_path() / name;
}

// A script plays slurmd: it starts a job step, and one that has left its session, as users' daemons do.
class LocalSubject : public Subject {
  public:
    LocalSubject() : scratch_("local") {
        write_file(slurmd(), "#!/bin/sh\necho \"$@\" >>" + scratch_.path("slurmd-arguments") +
                                 "\nsh -c 'sleep 300 & sleep 301' &\nsetsid sh -c 'setsid sleep 302 & exit' &\n"
                                 "wait $!\nexec sleep 303\n");
        std::filesystem::permissions(slurmd(), std::filesystem::perms::owner_all);
        write_file(scratch_.path("slurm.conf"), "ClusterName=test\n");
    }
    ~LocalSubject() override { kill_tree(ours()); }
    std::unique_ptr<Driver> make() override {
        return std::make_unique<LocalDriver>(root(), built_program("squall-local-instance"),
                                             scratch_.path("slurm.conf"));
    }
    LaunchSpec spec(const std::string& node, int generation, int attempt) override {
        return {node,
                generation,
                node + "/" + std::to_string(generation) + "/" + std::to_string(attempt),
                "cloud",
                {{"SlurmdPath", slurmd()}}};
    }
    void inject(const std::string& faults) override {
        std::filesystem::create_directories(root());
        write_file(root() + "/faults", faults);
    }
    std::size_t left() override { return tree_of(ours()).size(); }

    std::string root() const { return scratch_.path("local"); }
    std::string slurmd() const { return scratch_.path("slurmd"); }
    const Scratch& scratch() const { return scratch_; }
    // Marked by any instance folder under our root, which no other test shares.
    IsRoot ours() const {
        return [prefix = marker_of(root())](const Process& one) {
            std::ostringstream environment;  // a stream keeps quiet when the process ends meanwhile
            environment << std::ifstream("/proc/" + std::to_string(one.pid) + "/environ").rdbuf();
            return environment.str().find(prefix) != std::string::npos;
        };
    }

  private:
    Scratch scratch_;
};

// A credentials file as the site would have it, and the fake's root of trust.
class Ec2Subject : public Subject {
  public:
    Ec2Subject() : scratch_("ec2") {
        write_secret(scratch_.path("credentials"),
                     "[default]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = "
                     "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY\n");
    }
    std::unique_ptr<Driver> make() override { return std::make_unique<Ec2Driver>("test", options()); }
    LaunchSpec spec(const std::string& node, int generation, int attempt) override {
        return {node, generation, fmt::format("{}/{}/{}", node, generation, attempt), "cloud", options(), "salt"};
    }
    void inject(const std::string& faults) override { fake.fleet.inject(faults); }
    std::size_t left() override { return fake.fleet.alive(); }
    Options options() const {
        return {{"Region", "eu-test-1"},  {"Endpoint", fake.url()},
                {"ImageId", "ami-1"},     {"InstanceType", "p3.2xlarge"},
                {"Timeout", "5"},         {"CredentialsFile", scratch_.path("credentials")},
                {"SubnetId", "subnet-1"}, {"SecurityGroupIds", "sg-1,sg-2"}};
    }
    const Scratch& scratch() const { return scratch_; }
    static void write_secret(const std::string& path, const std::string& text) {
        write_file(path, text);
        std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    }
    FakeEc2 fake;

  private:
    Scratch scratch_;
};

inline std::vector<std::unique_ptr<Subject>> subjects() {
    std::vector<std::unique_ptr<Subject>> all;
    all.push_back(std::make_unique<LocalSubject>());
    all.push_back(std::make_unique<Ec2Subject>());
    return all;
}

inline const Instance* find_instance(const ListResult& list, const std::string& id) {
    for (const Instance& one : list.instances)
        if (one.id == id) return &one;
    return nullptr;
}

// Why the cloud says it died: it may still list the instance as failed, or only remember it.
inline std::string death_of(Driver& driver, const std::string& id) {
    ListResult list = driver.list();
    const Instance* found = find_instance(list, id);
    if (found) return found->state == InstanceState::failed ? found->reason : "";
    for (const Instance& one : list.ended)
        if (one.id == id) return one.reason;
    return "";
}

inline bool reaches(Driver& driver, const std::string& id, InstanceState state) {
    return wait_for([&] {
        ListResult list = driver.list();
        const Instance* found = find_instance(list, id);
        if (list.error) return false;
        return found ? found->state == state : state == InstanceState::gone;
    });
}

}  // namespace squall::cloud
