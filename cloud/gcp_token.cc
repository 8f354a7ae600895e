// SPDX-License-Identifier: GPL-3.0-or-later
// The GCP driver's access tokens: of the machine's service account by the metadata service, or of a service account's
// key file by a JWT signed with RS256 (RFC 7523). Part of GcpDriver (gcp_driver.h).
#include <fmt/format.h>

#include <ctime>

#include "cloud/crypto.h"
#include "cloud/gcp_driver.h"
#include "cloud/secret_file.h"

namespace squall::cloud {
namespace {

constexpr const char* kScope = "https://www.googleapis.com/auth/compute";
constexpr const char* kGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
constexpr Seconds kMetadataTimeoutS = 3;

std::string make_jwt(const json_t* key, const std::string& audience, std::string* error) {
    std::time_t now = std::time(nullptr);
    Json header(json_pack("{ssssss}", "alg", "RS256", "typ", "JWT", "kid", json_text(key, "private_key_id").c_str()));
    Json claims(json_pack("{sssssssIsI}", "iss", json_text(key, "client_email").c_str(), "scope", kScope, "aud",
                          audience.c_str(), "iat", static_cast<json_int_t>(now), "exp",
                          static_cast<json_int_t>(now + 3600)));
    std::string text =
        base64_url(json_format(header.get(), JSON_COMPACT)) + "." + base64_url(json_format(claims.get(), JSON_COMPACT));
    std::string signature = sign_rs256(json_text(key, "private_key"), text, error);
    return text + "." + base64_url(signature);
}

BearerToken read_token(const std::string& from, const HttpReply& reply) {
    JsonAnswer answer = json_answer(from, reply);
    if (answer.error) {
        std::string why = json_text(answer.body.get(), "error_description", json_text(answer.body.get(), "error"));
        if (!why.empty()) answer.error.message += ": " + why;
        if (answer.status == 400) answer.error.kind = ErrorClass::auth;  // invalid_grant and its kin
        return {"", 0, answer.error};
    }
    std::string text = json_text(answer.body.get(), "access_token");
    if (text.empty()) return {"", 0, {ErrorClass::auth, from + ": the answer has no access_token"}};
    return {text, std::time(nullptr) + json_integer(answer.body.get(), "expires_in", 300), {}};
}

}  // namespace

BearerToken GcpDriver::token(Http& http) {
    if (!file_.empty()) return token_of_file(http);
    std::string url = metadata_ + "/computeMetadata/v1/instance/service-accounts/default/token";
    HttpReply reply = http.send({"GET", url, {"Metadata-Flavor: Google"}, "", "", "", "", kMetadataTimeoutS});
    if (reply.status == 0)
        return {"",
                0,
                {ErrorClass::auth,
                 fmt::format("no Driver.CredentialsFile, and no token from the metadata service: {}", reply.error)}};
    return read_token("GET " + url, reply);
}

BearerToken GcpDriver::token_of_file(Http& http) {
    std::string text;
    if (std::string error = read_secret_file(file_, &text); !error.empty())
        return {"", 0, {ErrorClass::auth, "Driver.CredentialsFile=" + error}};
    Json key(json_loads(text.c_str(), 0, nullptr));
    std::string url = json_text(key.get(), "token_uri", "https://oauth2.googleapis.com/token"), error;
    if (json_text(key.get(), "client_email").empty() || json_text(key.get(), "private_key").empty())
        error = "not a service account's key: no client_email and private_key in it";
    std::string jwt = error.empty() ? make_jwt(key.get(), url, &error) : "";
    if (!error.empty()) return {"", 0, {ErrorClass::auth, fmt::format("Driver.CredentialsFile={}: {}", file_, error)}};
    http.keep_secret(jwt);
    return read_token("POST " + url, http.send({"POST",
                                                url,
                                                {"Content-Type: application/x-www-form-urlencoded"},
                                                form_body({{"grant_type", kGrant}, {"assertion", jwt}}),
                                                "",
                                                "",
                                                "",
                                                0}));
}

}  // namespace squall::cloud
