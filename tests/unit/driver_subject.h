// SPDX-License-Identifier: GPL-3.0-or-later
// What the contract tests need of a driver beyond its contract: make one, make it misbehave, count what is left of it.
// A new driver adds a Subject to subjects() and must pass every contract test.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cloud/azure_driver.h"
#include "cloud/driver.h"
#include "cloud/ec2_driver.h"
#include "cloud/gcp_driver.h"
#include "cloud/local_driver.h"
#include "cloud/openstack_driver.h"
#include "cloud/processes.h"
#include "tests/unit/fake_azure.h"
#include "tests/unit/fake_ec2.h"
#include "tests/unit/fake_gcp.h"
#include "tests/unit/fake_openstack.h"
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

// A driver that speaks HTTP to a fake, with a credentials file as the site would have it.
class HttpSubject : public Subject {
  public:
    explicit HttpSubject(const std::string& name) : scratch_(name) {}
    virtual Options options() const = 0;
    virtual FakeFleet& fleet() = 0;
    LaunchSpec spec(const std::string& node, int generation, int attempt) override {
        return {node, generation, fmt::format("{}/{}/{}", node, generation, attempt), "cloud", options(), "salt"};
    }
    void inject(const std::string& faults) override { fleet().inject(faults); }
    std::size_t left() override { return fleet().alive(); }
    const Scratch& scratch() const { return scratch_; }
    std::string credentials() const { return scratch_.path("credentials"); }
    static void write_secret(const std::string& path, const std::string& text) {
        write_file(path, text);
        std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    }
    Options with(const Options& more) const {
        Options all = options();
        for (const auto& [key, value] : more) all[key] = value;
        return all;
    }

  private:
    Scratch scratch_;
};

class Ec2Subject : public HttpSubject {
  public:
    Ec2Subject() : HttpSubject("ec2") {
        write_secret(credentials(),
                     "[default]\naws_access_key_id = AKIDEXAMPLE\naws_secret_access_key = "
                     "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY\n");
    }
    std::unique_ptr<Driver> make() override { return std::make_unique<Ec2Driver>("test", options()); }
    FakeFleet& fleet() override { return fake.fleet; }
    Options options() const override {
        return {{"Region", "eu-test-1"},  {"Endpoint", fake.url()},
                {"ImageId", "ami-1"},     {"InstanceType", "p3.2xlarge"},
                {"Timeout", "5"},         {"CredentialsFile", credentials()},
                {"SubnetId", "subnet-1"}, {"SecurityGroupIds", "sg-1,sg-2"}};
    }
    FakeEc2 fake;
};

class OpenstackSubject : public HttpSubject {
  public:
    OpenstackSubject() : HttpSubject("openstack") {
        write_secret(credentials(),
                     "[default]\napplication_credential_id = cred-1\napplication_credential_secret = "
                     "openstack-secret-1\n");
    }
    std::unique_ptr<Driver> make() override { return std::make_unique<OpenstackDriver>("test", options()); }
    FakeFleet& fleet() override { return fake.fleet; }
    Options options() const override {
        return {{"AuthUrl", fake.url()}, {"Region", "RegionOne"},
                {"Flavor", "gpu.large"}, {"Image", "image-1"},
                {"Network", "net-1"},    {"SecurityGroups", "default"},
                {"Timeout", "5"},        {"CredentialsFile", credentials()}};
    }
    FakeOpenstack fake;
};

class GcpSubject : public HttpSubject {
  public:
    GcpSubject() : HttpSubject("gcp") { write_secret(credentials(), fake.key_file()); }
    std::unique_ptr<Driver> make() override { return std::make_unique<GcpDriver>("test", options()); }
    FakeFleet& fleet() override { return fake.fleet; }
    Options options() const override {
        return {{"Project", "project-1"}, {"Zone", "europe-test1-b"},
                {"Endpoint", fake.url()}, {"MachineType", "a2-highgpu-1g"},
                {"Timeout", "5"},         {"Image", "projects/p/global/images/squall"},
                {"Subnetwork", "sub-1"},  {"CredentialsFile", credentials()}};
    }
    FakeGcp fake;
};

class AzureSubject : public HttpSubject {
  public:
    AzureSubject() : HttpSubject("azure") {
        write_secret(credentials(), "[default]\ntenant=tenant-1\nclient_id=client-1\nclient_secret=az~secret/1\n");
        write_file(scratch().path("key.pub"), "ssh-ed25519 AAAA admin\n");
    }
    std::unique_ptr<Driver> make() override { return std::make_unique<AzureDriver>("test", options()); }
    FakeFleet& fleet() override { return fake.fleet; }
    std::size_t left() override { return fleet().alive() + fake.left_behind(); }
    Options options() const override {
        return {{"Subscription", "sub-1"},
                {"ResourceGroup", "group-1"},
                {"Location", "westeurope"},
                {"VmSize", "Standard_NC24ads_A100_v4"},
                {"Image", "/images/squall"},
                {"Subnet", "/subnets/one"},
                {"Endpoint", fake.url()},
                {"LoginEndpoint", fake.url()},
                {"Timeout", "5"},
                {"CredentialsFile", credentials()},
                {"SshKeyFile", scratch().path("key.pub")}};
    }
    FakeAzure fake;
};

inline std::vector<std::unique_ptr<Subject>> subjects() {
    std::vector<std::unique_ptr<Subject>> all;
    all.push_back(std::make_unique<LocalSubject>());
    all.push_back(std::make_unique<Ec2Subject>());
    all.push_back(std::make_unique<OpenstackSubject>());
    all.push_back(std::make_unique<GcpSubject>());
    all.push_back(std::make_unique<AzureSubject>());
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
