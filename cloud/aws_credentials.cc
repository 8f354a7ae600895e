// SPDX-License-Identifier: GPL-3.0-or-later
// File, environment, role: see aws_credentials.h.
#include "cloud/aws_credentials.h"

#include <fmt/format.h>

#include <cstdlib>

#include "cloud/secret_file.h"
#include "src/core/json.h"

namespace squall::cloud {
namespace {

constexpr Seconds kRenewBeforeS = 300;
constexpr Seconds kMetadataTimeoutS = 3;  // it is on the same host; elsewhere nothing answers

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

}  // namespace

AwsCredentialSource::AwsCredentialSource(Http& http, const Options& options)
    : http_(http),
      file_(option_text(options, "CredentialsFile", "")),
      profile_(option_text(options, "Profile", "default")),
      metadata_(option_text(options, "MetadataEndpoint", "http://169.254.169.254")) {}

Error AwsCredentialSource::get(AwsCredentials* credentials, Seconds now) {
    if (!kept_.key_id.empty() && (kept_.expires_at == 0 || now < kept_.expires_at - kRenewBeforeS)) {
        *credentials = kept_;
        return {};
    }
    kept_ = {};
    Error error;
    if (!file_.empty()) {
        error = from_file(&kept_);
    } else if (!environment("AWS_ACCESS_KEY_ID").empty()) {
        kept_ = {environment("AWS_ACCESS_KEY_ID"), environment("AWS_SECRET_ACCESS_KEY"),
                 environment("AWS_SESSION_TOKEN"), 0};
    } else {
        error = from_role(&kept_);
    }
    if (error) kept_ = {};
    for (const std::string* secret : {&kept_.secret, &kept_.session_token}) http_.keep_secret(*secret);
    *credentials = kept_;
    return error;
}

Error AwsCredentialSource::from_file(AwsCredentials* credentials) {
    std::string text;
    if (std::string error = read_secret_file(file_, &text); !error.empty())
        return {ErrorClass::auth, "Driver.CredentialsFile=" + error};
    auto section = ini_section(text, profile_);
    *credentials = {section["aws_access_key_id"], section["aws_secret_access_key"], section["aws_session_token"], 0};
    if (!credentials->key_id.empty() && !credentials->secret.empty()) return {};
    return {ErrorClass::auth,
            fmt::format("Driver.CredentialsFile={}: no aws_access_key_id and aws_secret_access_key in "
                        "[{}]",
                        file_, profile_)};
}

Error AwsCredentialSource::from_role(AwsCredentials* credentials) {
    auto trouble = [&](const HttpReply& reply) {
        return Error{
            ErrorClass::auth,
            fmt::format("no Driver.CredentialsFile, no AWS_ACCESS_KEY_ID, and no role from the metadata service "
                        "{}: {}",
                        metadata_, reply.status == 0 ? reply.error : fmt::format("HTTP {}", reply.status))};
    };
    HttpReply token = http_.send({"PUT",
                                  metadata_ + "/latest/api/token",
                                  {"X-aws-ec2-metadata-token-ttl-seconds: 21600"},
                                  "",
                                  "",
                                  "",
                                  "",
                                  kMetadataTimeoutS});
    if (!token.ok()) return trouble(token);
    http_.keep_secret(token.body);
    std::vector<std::string> headers = {"X-aws-ec2-metadata-token: " + token.body};
    std::string folder = metadata_ + "/latest/meta-data/iam/security-credentials/";
    HttpReply role = http_.send({"GET", folder, headers, "", "", "", "", kMetadataTimeoutS});
    if (!role.ok()) return trouble(role);
    std::string name = role.body.substr(0, role.body.find('\n'));
    HttpReply reply = http_.send({"GET", folder + url_encode(name), headers, "", "", "", "", kMetadataTimeoutS});
    if (!reply.ok()) return trouble(reply);
    Json json(json_loads(reply.body.c_str(), 0, nullptr));
    *credentials = {json_text(json.get(), "AccessKeyId"), json_text(json.get(), "SecretAccessKey"),
                    json_text(json.get(), "Token"), parse_utc(json_text(json.get(), "Expiration"))};
    if (credentials->expires_at <= 0) credentials->expires_at = 1;  // not understood: ask again each time
    if (!credentials->key_id.empty() && !credentials->secret.empty()) return {};
    return {ErrorClass::auth, fmt::format("the metadata service {} gives no credentials for role {}", metadata_, name)};
}

}  // namespace squall::cloud
