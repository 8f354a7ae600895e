// SPDX-License-Identifier: GPL-3.0-or-later
// A cloud and a Slurm in memory, and a rig that runs the lease machine on virtual time between them.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cloud/lease_machine.h"
#include "tests/unit/scratch.h"

namespace squall::cloud {

// The cloud's side: survives the daemon, so it lives outside of the driver object.
struct FakeCloud {
    std::map<std::string, Instance> instances;  // by id
    std::map<std::string, std::string> by_token;
    std::deque<Error> launch_errors;  // one a call; an error that is none works
    bool lose_answer = false, list_fails = false, terminate_fails = false, boots = true;
    std::map<std::string, Error> errors_of;  // by Driver.Type, always
    std::string console;
    int launches = 0, terminates = 0;
    std::vector<std::string> launched_types;
    std::size_t alive() const {
        std::size_t count = 0;
        for (const auto& [id, one] : instances) count += one.state != InstanceState::gone;
        return count;
    }
};

class FakeDriver : public Driver {
  public:
    explicit FakeDriver(FakeCloud& cloud) : cloud_(cloud) {}
    std::string name() const override { return "fake"; }
    Seconds list_every_s(bool) const override { return 1; }
    std::string family(const Options& options) const override { return option_text(options, "Family", ""); }
    std::string console(const std::string&) override { return cloud_.console; }
    LaunchResult launch(const LaunchSpec& spec) override {
        cloud_.launches++;
        std::string type = option_text(spec.options, "Type", "");
        cloud_.launched_types.push_back(type);
        if (auto at = cloud_.errors_of.find(type); at != cloud_.errors_of.end()) return {at->second, {}};
        if (!cloud_.launch_errors.empty()) {
            Error error = cloud_.launch_errors.front();
            cloud_.launch_errors.pop_front();
            if (error) return {error, {}};
        }
        auto [at, fresh] = cloud_.by_token.emplace(spec.token, "i-" + std::to_string(cloud_.by_token.size() + 1));
        if (fresh)
            cloud_.instances[at->second] = {at->second, spec.node, spec.generation, InstanceState::pending, "", ""};
        if (cloud_.lose_answer) return {{ErrorClass::transient, "lost"}, {}};
        return {{}, cloud_.instances[at->second]};
    }
    // An instance is running one list after its launch, and gone one after its end.
    ListResult list() override {
        ListResult result;
        if (cloud_.list_fails) {
            result.error = {ErrorClass::transient, "no list today"};
            return result;
        }
        for (auto& [id, one] : cloud_.instances) {
            if (one.state == InstanceState::gone) continue;
            result.instances.push_back(one);
            if (one.state == InstanceState::pending && cloud_.boots) {
                one.state = InstanceState::running;
                one.address = "10.0.0." + id.substr(2);
            } else if (one.state == InstanceState::stopping) {
                one.state = InstanceState::gone;
            }
        }
        return result;
    }
    Error terminate(const std::string& id) override {
        cloud_.terminates++;
        if (cloud_.terminate_fails) return {ErrorClass::transient, "no"};
        auto at = cloud_.instances.find(id);
        if (at != cloud_.instances.end() && at->second.state != InstanceState::gone)
            at->second.state = InstanceState::stopping;
        return {};
    }

  private:
    FakeCloud& cloud_;
};

// slurmctld: a node that has an address registers when its instance runs; given-up nodes are suspended through the
// queue.
class FakeSlurm : public SlurmNodes {
  public:
    FakeSlurm(FakeCloud& cloud, Ledger& ledger) : cloud_(cloud), ledger_(ledger) {}
    std::string load(std::map<std::string, SlurmNode>& nodes) override {
        if (unreachable) return "no answer";
        for (auto& [name, node] : nodes_) {
            if (node.powering_up && !addresses[name].empty() && runs(name)) node.powering_up = false;
            if (node.powering_down) node.powering_down = false, node.powered_down = true;
        }
        nodes = nodes_;
        return "";
    }
    std::string set_address(const std::string& node, const std::string& address) override {
        if (unreachable) return "no answer";
        addresses[node] = address;
        return "";
    }
    std::string power_down_force(const std::string& node, const std::string& reason) override {
        if (unreachable) return "no answer";
        forced.push_back(node + ": " + reason);
        suspend(node);
        return "";
    }
    std::string set_down(const std::string& node, const std::string& reason) override {
        if (unreachable) return "no answer";
        nodes_[node].down = true;
        nodes_[node].reason = reason;
        return "";
    }
    std::string resume(const std::string& node) override {
        if (unreachable) return "no answer";
        nodes_[node].down = false;
        return "";
    }
    void power_up(const std::string& node, Seconds now, const std::string& jobs = "") {
        nodes_[node] = {};
        nodes_[node].cloud = nodes_[node].powering_up = true;
        addresses.erase(node);
        ledger_.push_power_requests({{0, node, PowerAction::resume, now, jobs}});
    }
    void suspend(const std::string& node, Seconds now = 1) {
        nodes_[node].powering_up = false;
        nodes_[node].powering_down = true;
        ledger_.push_power_requests({{0, node, PowerAction::suspend, now, ""}});
    }
    SlurmNode& node(const std::string& name) { return nodes_[name]; }

    bool unreachable = false;
    std::map<std::string, std::string> addresses;
    std::vector<std::string> forced;  // "NODE: reason"

  private:
    bool runs(const std::string& name) const {
        for (const auto& [id, one] : cloud_.instances)
            if (one.node == name && one.state == InstanceState::running) return true;
        return false;
    }
    FakeCloud& cloud_;
    Ledger& ledger_;
    std::map<std::string, SlurmNode> nodes_;
};

// Nodes c1 … c4 at 1 a second, by the fake driver.
inline Conf fake_conf(const std::string& state_dir) {
    Conf conf;
    conf.path = "squall.conf";
    conf.state_dir = state_dir;
    NodeClassConf line;
    line.spec.name = "cloud";
    line.spec.rented = true;
    line.spec.price_micro_h = 3600000000;
    line.spec.boot_s = 20;
    line.nodes = {"c1", "c2", "c3", "c4"};
    line.driver = "fake";
    line.driver_options = {{"BootTimeout", "60"}, {"BlockTime", "100"}, {"OrphanAge", "10"}, {"DeadTime", "20"}};
    conf.classes.push_back(line);
    return conf;
}

class Rig {
  public:
    Rig()
        : scratch("machine"),
          ledger(Ledger::open(scratch.path("ledger.db"))),
          conf(fake_conf(scratch.dir())),
          slurm(cloud, ledger) {
        restart();
    }
    // As after kill -9: only the ledger, the cloud and Slurm remember.
    void restart() {
        machine = std::make_unique<LeaseMachine>(
            LeaseMachine::Tools{
                ledger, slurm, [this] { changes++; }, [] { return false; }, 30,
                [this](const std::string& kind, const std::string& text) { alerts.push_back(kind + ": " + text); }},
            fleet());
    }
    Fleet fleet() {
        return Fleet(conf, [this](const std::string& name, const Options&, const DriverContext&, std::string* error) {
            if (name == "fake") return std::unique_ptr<Driver>(std::make_unique<FakeDriver>(cloud));
            *error = "no driver " + name;
            return std::unique_ptr<Driver>();
        });
    }
    void ticks(int count) {
        for (int i = 0; i < count; i++) machine->tick(++now);
    }
    // The node's newest lease, open or not.
    Lease lease(const std::string& node) {
        Lease found;
        for (const Lease& one : ledger.leases())
            if (one.node == node) found = one;
        return found;
    }
    bool reach(const std::string& node, LeaseState state, int within = 200) {
        for (int i = 0; i < within && lease(node).state != state; i++) ticks(1);
        return lease(node).state == state;
    }
    void power_up(const std::string& node, const std::string& jobs = "") { slurm.power_up(node, now, jobs); }
    void up(const std::string& node) {
        power_up(node);
        reach(node, LeaseState::ready);
    }

    Scratch scratch;
    Ledger ledger;
    Conf conf;
    FakeCloud cloud;
    FakeSlurm slurm;
    std::unique_ptr<LeaseMachine> machine;
    Seconds now = 1800000000;
    int changes = 0;
    std::vector<std::string> alerts;
};

}  // namespace squall::cloud
