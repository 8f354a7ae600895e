// SPDX-License-Identifier: GPL-3.0-or-later
// Driver=azure: virtual machines of Azure, regular or spot, in one resource group, each with a network interface and a
// disk that go when it goes. A machine's name follows from the launch token, and PUT on a name is idempotent. Its tag
// squall-cluster says whose it is. Instances are known here by that name. Options: squall-cloudd(8).
#pragma once
#include <map>
#include <string>

#include "cloud/driver.h"
#include "cloud/json_api.h"

namespace squall::cloud {

class AzureDriver : public Driver {
  public:
    AzureDriver(std::string cluster, const Options& options);
    std::string name() const override { return "azure"; }
    std::string check(const Options& options) const override;
    LaunchResult launch(const LaunchSpec& spec) override;
    ListResult list() override;
    Error terminate(const std::string& instance_id) override;
    bool remembers_tokens() const override { return false; }
    std::string family(const Options& options) const override;
    Seconds settle_s() const override { return 60; }

  private:
    BearerToken token(Http& http);
    BearerToken token_of_secret(Http& http);
    JsonAnswer call(const std::string& method, const std::string& path, const json_t* body = nullptr);
    Error settle(const std::string& name);
    Instance read_machine(const json_t* machine);
    std::string address_of(const json_t* machine);
    Json body_of(const LaunchSpec& spec, const std::string& name, Error* error) const;

    std::string cluster_, file_, profile_, metadata_, login_, endpoint_, group_, machines_;
    std::map<std::string, std::string> addresses_;  // by network interface, so that each is asked for once
    JsonApi api_;
};

}  // namespace squall::cloud
