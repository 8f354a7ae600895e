// SPDX-License-Identifier: GPL-3.0-or-later
// The machines behind a fake cloud service, whatever API it speaks: they boot, die, stop and are forgotten by the
// clock, and faults come in the words of the local driver's faults file. Used by fake_ec2.h and its kin, under one
// lock.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cloud/local_faults.h"
#include "tests/unit/scratch.h"

namespace squall::cloud {

inline std::int64_t clock_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

struct FakeMachine {
    std::string id, node, token, address, type, user_data;
    std::string fingerprint;  // of what was asked for with the token
    std::map<std::string, std::string> tags;
    bool spot = false;
    std::int64_t made_at = 0, boots_at = 0, dies_at = 0, told_at = 0;  // ms; 0 = never
    std::int64_t shown_at = 0;                                         // lists are without it before
    std::string death = "Server.SpotInstanceTermination";
};

enum class FakeState { pending, running, stopping, gone, dead };

class FakeFleet {
  public:
    FakeFleet() : scratch_("fake"), faults_(scratch_.path("faults")) {}

    void inject(const std::string& text) { write_file(scratch_.path("faults"), text); }
    std::optional<long> take(const std::string& node, FaultKind kind) { return faults_.take(node, kind); }

    FakeMachine& add(const std::string& id, const std::string& node) {
        FakeMachine& one = machines[id];
        one.id = id;
        one.node = node;
        one.made_at = clock_ms();
        one.address = "10.1." + std::to_string(machines.size() / 250) + "." + std::to_string(1 + machines.size() % 250);
        one.shown_at = one.made_at + appear_ms;
        std::int64_t boot = boot_ms + 1000 * take(node, FaultKind::slow_boot).value_or(0);
        one.boots_at = take(node, FaultKind::never_boots) ? 0 : one.made_at + boot;
        if (auto death = take(node, FaultKind::dies_after)) one.dies_at = one.made_at + boot + 1000 * *death;
        return one;
    }
    FakeState state(const FakeMachine& one) const {
        std::int64_t now = clock_ms();
        if (one.told_at != 0) return now < one.told_at + stop_ms ? FakeState::stopping : FakeState::gone;
        if (one.dies_at != 0 && now >= one.dies_at) return FakeState::dead;
        return one.boots_at != 0 && now >= one.boots_at ? FakeState::running : FakeState::pending;
    }
    void tell(FakeMachine& one) {
        if (one.told_at == 0) one.told_at = clock_ms();
    }
    FakeMachine* by_token(const std::string& token) {
        for (auto& [id, one] : machines)
            if (!token.empty() && one.token == token) return &one;
        return nullptr;
    }
    std::size_t alive() {
        std::lock_guard<std::mutex> hold(lock);
        std::size_t count = 0;
        for (auto& [id, one] : machines) count += state(one) != FakeState::gone && state(one) != FakeState::dead;
        return count;
    }
    std::size_t made() {
        std::lock_guard<std::mutex> hold(lock);
        return machines.size();
    }

    std::mutex lock;
    std::map<std::string, FakeMachine> machines;
    std::int64_t boot_ms = 30, stop_ms = 10, appear_ms = 0;
    std::size_t page = 1000;

  private:
    Scratch scratch_;
    LocalFaults faults_;
};

}  // namespace squall::cloud
