// SPDX-License-Identifier: GPL-3.0-or-later
// Where the EC2 driver's credentials come from, in this order: Driver.CredentialsFile (with Driver.Profile), the
// environment (AWS_ACCESS_KEY_ID …), the instance's role through the metadata service, version 2. One thread.
#pragma once
#include <string>

#include "cloud/http.h"
#include "cloud/options.h"

namespace squall::cloud {

struct AwsCredentials {
    std::string key_id, secret, session_token;
    Seconds expires_at = 0;  // 0 = never
};

class AwsCredentialSource {
  public:
    AwsCredentialSource(Http& http, const Options& options);
    // A role's credentials are kept until shortly before they end; files are read each time they change hands.
    Error get(AwsCredentials* credentials, Seconds now);
    void forget() { kept_ = {}; }  // the cloud refused them

  private:
    Error from_file(AwsCredentials* credentials);
    Error from_role(AwsCredentials* credentials);
    Http& http_;
    std::string file_, profile_, metadata_;
    AwsCredentials kept_;
};

}  // namespace squall::cloud
