// SPDX-License-Identifier: GPL-3.0-or-later
// The lease daemon as a real process, killed with -9 at random moments while nodes are resumed and suspended, slurmds
// die and every fault is injected. Real hooks, real ledger, real local driver; only slurmctld is a fake. Afterwards:
// no instance without a lease, no lease without an instance, every requested node came up or was reported.
// SQUALL_SEED repeats one run.
#include <random>
#include <utility>

#include "tests/unit/suite.h"
//
#include "cloud/cloudd.h"
#include "src/core/conf.h"
#include "src/core/ledger.h"
#include "tests/unit/file_slurm.h"

using namespace squall;
using namespace squall::cloud;

namespace {

class Storm {
  public:
    explicit Storm(unsigned seed) : seed_(seed), random_(seed) {
        std::filesystem::create_directories(slurm_dir());
        write_file(subject_.slurmd(),
                   fmt::format("#!/bin/sh\ntouch {}/registered.$2\nsetsid sleep 301 &\nexec sleep 302\n", slurm_dir()));
        write_file(conf(),
                   fmt::format("StateDir={0}\nLogDir={0}\nProgramDir={1}\nNodeClass=cloud Nodes=c[1-5] GpuType=a100 "
                               "Rented=yes Price=3.06 MaxNodes=5 Driver=local Driver.SlurmdPath={2} "
                               "Driver.SlurmConf={3} Driver.StateDir={4} Driver.BootTimeout=3 Driver.BlockTime=1 "
                               "Driver.OrphanAge=2 Driver.DeadTime=2\n",
                               dir(), built_program(""), subject_.slurmd(), subject_.scratch().path("slurm.conf"),
                               subject_.root()));
        controller_ = std::make_unique<FakeController>(slurm_dir(), conf(),
                                                       std::vector<std::string>{"c1", "c2", "c3", "c4", "c5"});
        Ledger::open(dir() + "/ledger.db");
        start();
    }
    ~Storm() {
        if (daemon_ > 0) stop(SIGKILL);
    }

    void start() {
        daemon_ = in_child([this] {
            CloudOptions options;
            options.patience_s = 2;
            CloudSources sources{[this] { return read_conf(conf()); }, make_driver,
                                 [this](const Conf&) { return std::make_unique<FileSlurm>(slurm_dir()); }};
            return run_cloudd(options, sources);
        });
    }
    int stop(int signal) {
        kill(daemon_, signal);
        return wait_child(std::exchange(daemon_, -1));
    }

    void blow(int steps) {
        for (int i = 0; i < steps; i++) {
            one_event();
            controller_->step();
            std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 60));
        }
        subject_.inject("");
        if (daemon_ < 0) start();
    }

    // Polls the controller too: it is a part of the world that must come to rest.
    bool rests(bool (Storm::*condition)()) {
        return wait_for(
            [&] {
                controller_->step();
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
                return (this->*condition)();
            },
            std::chrono::seconds(60));
    }
    bool all_settled() {
        Ledger ledger = Ledger::open_read_only(dir() + "/ledger.db");
        if (!ledger.pending_power_requests().empty()) return false;
        std::vector<Lease> open = ledger.open_leases();
        ListResult list = driver()->list();
        std::size_t up = 0;
        for (const auto& [name, node] : controller_->nodes) {
            if ((node.state != "up" && node.state != "off") || node.down) return false;
            up += node.state == "up";
        }
        bool all_ready = std::all_of(open.begin(), open.end(), [&](const Lease& lease) {
            const Instance* instance = find_instance(list, lease.instance_id);
            return lease.state == LeaseState::ready && instance && instance->state == InstanceState::running &&
                   controller_->nodes[lease.node].state == "up";
        });
        return all_ready && open.size() == up && list.instances.size() == up;
    }
    bool all_gone() {
        Ledger ledger = Ledger::open_read_only(dir() + "/ledger.db");
        return ledger.open_leases().empty() && driver()->list().instances.empty() && subject_.left() == 0;
    }
    // Whatever happened before, every node can be had again.
    bool all_up() {
        bool up = true;
        for (const auto& [name, node] : controller_->nodes) {
            controller_->resume(name);  // again, when a block refused it
            up = up && node.state == "up";
        }
        return up && all_settled();
    }
    void suspend_all() {
        for (const auto& [name, node] : controller_->nodes) controller_->suspend(name);
    }
    void check_books() {
        Ledger ledger = Ledger::open(dir() + "/ledger.db");
        Micro sum = 0;
        std::map<std::string, int> generation;
        for (const Lease& lease : ledger.leases()) {
            ck_assert(!lease.open() && lease.closed_at > 0 && !lease.tell_slurm);
            ck_assert_int_eq(lease.generation, ++generation[lease.node]);
            ck_assert_int_eq(lease.cost, lease.rent_until(lease.released_at));
            ck_assert_msg((lease.state == LeaseState::closed) == (lease.ready_at > 0), "%s", lease.reason.c_str());
            sum += lease.cost;
        }
        ck_assert_int_eq(ledger.rent_since(0, std::time(nullptr)), sum);
        for (const auto& [name, node] : controller_->nodes)
            ck_assert_msg(node.requested == node.came_up + node.given_up, "%s: asked %d, up %d, given up %d",
                          name.c_str(), node.requested, node.came_up, node.given_up);
    }
    std::string story() {
        std::string log = read_file(dir() + "/squall-cloudd.log");
        std::string text =
            fmt::format("SQUALL_SEED={}\n", seed_) + log.substr(log.size() > 6000 ? log.size() - 6000 : 0);
        for (const auto& [name, node] : controller_->nodes)
            text += fmt::format("{}: {} down={} address={}\n", name, node.state, node.down, node.address);
        for (const Instance& one : driver()->list().instances)
            text += fmt::format("{} {} {}\n", one.id, to_string(one.state), one.reason);
        return text;
    }
    int kills() const { return kills_; }

  private:
    std::string dir() const { return subject_.scratch().dir(); }
    std::string slurm_dir() const { return dir() + "/slurm"; }
    std::string conf() const { return dir() + "/squall.conf"; }
    std::unique_ptr<Driver> driver() { return subject_.make(); }
    std::string any_node() { return "c" + std::to_string(1 + random_() % 5); }

    void one_event() {
        switch (random_() % 8) {
            case 0:
            case 1:
                return controller_->resume(any_node());
            case 2:
                return controller_->suspend(any_node());
            case 3:
            case 4:
                kills_ += daemon_ > 0;
                if (daemon_ > 0) stop(SIGKILL);
                return;
            case 5:
                return inject_fault();
            case 6:
                return kill_something();
            default:
                if (daemon_ < 0) start();
        }
    }
    void inject_fault() {
        static const char* const kFaults[] = {"no_capacity",     "quota",       "throttled",   "auth",
                                              "transient",       "lost_answer", "never_boots", "dies_after 1",
                                              "terminate_fails", "slow_boot 2"};
        std::string line = any_node() + " " + kFaults[random_() % std::size(kFaults)] + " 1\n";
        if (random_() % 4 == 0) line = "* list_fails 2\n";
        subject_.inject(line);
    }
    void kill_something() {
        std::vector<Process> all = tree_of(subject_.ours());
        if (!all.empty()) kill(all[random_() % all.size()].pid, SIGKILL);
    }

    unsigned seed_;
    std::mt19937 random_;
    LocalSubject subject_;
    std::unique_ptr<FakeController> controller_;
    pid_t daemon_ = -1;
    int kills_ = 0;
};

void weather(unsigned seed, int steps) {
    Storm storm(seed);
    storm.blow(steps);
    ck_assert_int_gt(storm.kills(), 0);
    ck_assert_msg(storm.rests(&Storm::all_settled), "not settled: %s", storm.story().c_str());
    ck_assert_msg(storm.rests(&Storm::all_up), "not all up: %s", storm.story().c_str());
    storm.suspend_all();
    ck_assert_msg(storm.rests(&Storm::all_gone), "not gone: %s", storm.story().c_str());
    ck_assert_int_eq(storm.stop(SIGTERM), 0);
    storm.check_books();
}

}  // namespace

START_TEST(killed_at_random_moments_nothing_is_lost_and_nothing_leaks) {
    if (const char* seed = std::getenv("SQUALL_SEED")) return weather(static_cast<unsigned>(std::atoi(seed)), 150);
    for (unsigned seed : {1u, 2u}) weather(seed, 150);
}
END_TEST

int main() {
    return run_suite("cloudd_kill", {killed_at_random_moments_nothing_is_lost_and_nothing_leaks}, nullptr, nullptr,
                     300);
}
