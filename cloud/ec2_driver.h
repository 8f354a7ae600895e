// SPDX-License-Identifier: GPL-3.0-or-later
// Driver=ec2: instances of Amazon EC2, or of what speaks its API, on demand or spot. An instance carries the tags
// squall:cluster, squall:node and squall:generation from its launch on; nothing without the first is ever looked at.
// The launch token is EC2's ClientToken, so a repeated launch is EC2's own promise. Options: squall-cloudd(8).
#pragma once
#include <string>

#include "cloud/driver.h"
#include "cloud/ec2_api.h"

namespace squall::cloud {

class Ec2Driver : public Driver {
  public:
    Ec2Driver(std::string cluster, const Options& options);
    std::string name() const override { return "ec2"; }
    std::string check(const Options& options) const override;
    LaunchResult launch(const LaunchSpec& spec) override;
    ListResult list() override;
    Error terminate(const std::string& instance_id) override;
    std::string family(const Options& options) const override;
    std::string console(const std::string& instance_id) override;
    Seconds settle_s() const override { return 60; }  // EC2 is eventually consistent

  private:
    LaunchResult find_by_token(const std::string& token);
    std::string cluster_;
    Ec2Api api_;
};

}  // namespace squall::cloud
