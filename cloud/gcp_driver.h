// SPDX-License-Identifier: GPL-3.0-or-later
// Driver=gcp: instances of Google Compute Engine, on demand or spot, made with bulkInsert. An instance's name follows
// from the launch token, and so does the request's id: a repeated launch makes nothing new. Its label squall-cluster
// says whose it is, its metadata which node it plays. Instances are known here as ZONE/NAME. Options: squall-cloudd(8).
#pragma once
#include <string>

#include "cloud/driver.h"
#include "cloud/json_api.h"

namespace squall::cloud {

class GcpDriver : public Driver {
  public:
    GcpDriver(std::string cluster, const Options& options);
    std::string name() const override { return "gcp"; }
    std::string check(const Options& options) const override;
    LaunchResult launch(const LaunchSpec& spec) override;
    ListResult list() override;
    Error terminate(const std::string& instance_id) override;
    std::string family(const Options& options) const override;
    std::string console(const std::string& instance_id) override;
    Seconds settle_s() const override { return 60; }

  private:
    BearerToken token(Http& http);
    BearerToken token_of_file(Http& http);
    JsonAnswer call(const std::string& method, const std::string& path, const json_t* body = nullptr);
    Error follow(const std::string& zone, JsonAnswer answer, bool* done);
    LaunchResult look(const std::string& zone, const std::string& name, const LaunchSpec& spec);
    Json body_of(const LaunchSpec& spec, const std::string& name, Error* error) const;

    std::string cluster_, project_, file_, metadata_, base_;
    JsonApi api_;
};

}  // namespace squall::cloud
