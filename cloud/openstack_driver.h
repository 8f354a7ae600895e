// SPDX-License-Identifier: GPL-3.0-or-later
// Driver=openstack: servers of an OpenStack cloud, by application credential. Keystone gives token and catalogue, nova
// the servers. Ours carry two tags from their creation on, one for the cluster and one for the launch token, and the
// node in their metadata. Nova knows no idempotent creation: the token's tag is looked for first. Options:
// squall-cloudd(8).
#pragma once
#include <string>

#include "cloud/driver.h"
#include "cloud/json_api.h"

namespace squall::cloud {

class OpenstackDriver : public Driver {
  public:
    OpenstackDriver(std::string cluster, const Options& options);
    std::string name() const override { return "openstack"; }
    std::string check(const Options& options) const override;
    LaunchResult launch(const LaunchSpec& spec) override;
    ListResult list() override;
    Error terminate(const std::string& instance_id) override;
    bool remembers_tokens() const override { return false; }
    std::string family(const Options&) const override { return "openstack " + auth_url_ + " " + region_; }
    std::string console(const std::string& instance_id) override;
    Seconds settle_s() const override { return 10; }

  private:
    BearerToken login(Http& http);
    JsonAnswer nova(const std::string& method, const std::string& path, const json_t* body = nullptr);
    ListResult list_tagged(const std::string& tags);
    LaunchResult settle(const std::string& id);
    Json server_body(const LaunchSpec& spec, const std::string& token_tag, Error* error) const;

    std::string cluster_, auth_url_, region_, file_, profile_, interface_;
    std::string compute_url_;  // from the catalogue, with the token
    JsonApi api_;
};

}  // namespace squall::cloud
