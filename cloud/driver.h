// SPDX-License-Identifier: GPL-3.0-or-later
// The contract every cloud driver keeps. squall-cloudd calls it from one thread; a call may take seconds
// but never forever. A driver holds no state of its own that a kill -9 could lose: what exists is what
// list() says. Tags (node, generation) identify our instances; nothing else of the account is touched.
// tests/unit/test_driver_contract.cc runs against every driver.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/core/units.h"

namespace squall::cloud {

enum class ErrorClass { none, no_capacity, quota, throttled, auth, transient, permanent };
const char* to_string(ErrorClass error);

struct Error {
    ErrorClass kind = ErrorClass::none;
    std::string message;  // for the log and the admin; no secrets
    explicit operator bool() const { return kind != ErrorClass::none; }
};

struct LaunchSpec {
    std::string node;  // Slurm's node name
    int generation = 0;
    std::string token;  // idempotency: the same token never makes a second instance
    std::string class_name;
    std::map<std::string, std::string> options;  // NodeClass Driver.Key=Value
    std::string salt{};                          // goes with the token where a cloud's tokens outlive a ledger
};

enum class InstanceState { pending, running, stopping, gone, failed };
const char* to_string(InstanceState state);

struct Instance {
    std::string id;
    std::string node;  // from its tags
    int generation = 0;
    InstanceState state = InstanceState::pending;
    std::string address;  // empty until known
    std::string reason;   // of failed
};

struct LaunchResult {
    Error error;
    Instance instance;
};

struct ListResult {
    Error error;  // set: the list is partial or missing, conclude nothing from absence
    std::vector<Instance> instances;
    std::vector<Instance> ended;  // gone, but the cloud still says why; never complete
};

class Driver {
  public:
    virtual ~Driver() = default;
    virtual std::string name() const = 0;
    // Do these options make sense? Asked when the configuration is read; "" or "Driver.KEY=VALUE: what to write".
    virtual std::string check(const std::map<std::string, std::string>&) const { return ""; }
    // no_capacity, quota, auth and permanent: no instance was made. throttled and transient: one may have been; ask
    // again with the same token. A token whose instance has ended answers with that instance, gone, where the cloud
    // remembers tokens (remembers_tokens()); elsewhere it may make a new one.
    virtual LaunchResult launch(const LaunchSpec& spec) = 0;
    virtual ListResult list() = 0;  // all of ours, in any state but gone
    // Success: the cloud has taken the order; list() tells when it is done. Idempotent; already gone is success.
    virtual Error terminate(const std::string& instance_id) = 0;
    virtual bool remembers_tokens() const { return true; }
    // What shares a quota with these options: blocked together when the quota is used up.
    virtual std::string family(const std::map<std::string, std::string>&) const { return ""; }
    // The last lines of the instance's console, to say why it did not boot; "" when there are none.
    virtual std::string console(const std::string&) { return ""; }
    // How long after a launch the list may still be without the instance.
    virtual Seconds settle_s() const { return 0; }
    // How often list() is to be asked; busy: while instances come or go.
    virtual Seconds list_every_s(bool busy) const { return busy ? 5 : 30; }
};

}  // namespace squall::cloud
