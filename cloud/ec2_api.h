// SPDX-License-Identifier: GPL-3.0-or-later
// EC2's query API: one signed POST to "/", XML back, its error codes sorted into our classes. Used by the EC2 driver.
#pragma once
#include <pugixml.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cloud/aws_credentials.h"
#include "cloud/http.h"

namespace squall::cloud {

using Fields = std::vector<std::pair<std::string, std::string>>;

struct Ec2Answer {
    Error error;
    std::string code;  // EC2's own, of an error
    pugi::xml_document xml;
};

class Ec2Api {
  public:
    // options: Driver.Region, Driver.Endpoint, Driver.CaFile, Driver.Timeout and those of aws_credentials.h.
    explicit Ec2Api(const Options& options);
    void call(const std::string& action, Fields fields, Ec2Answer* answer);
    const std::string& region() const { return region_; }
    const std::string& endpoint() const { return endpoint_; }

  private:
    Error explain(const std::string& action, const HttpReply& reply, Ec2Answer* answer);
    std::string region_, endpoint_;
    Http http_;
    AwsCredentialSource credentials_;
};

ErrorClass class_of_ec2_code(const std::string& code, long status);

}  // namespace squall::cloud
