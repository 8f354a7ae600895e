// SPDX-License-Identifier: GPL-3.0-or-later
// JSON over HTTP with a bearer token that is fetched, kept and renewed: what the OpenStack, GCP and Azure drivers
// share. Each brings its way to get a token; a refused token is thrown away and asked for once more. One thread.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "cloud/http.h"
#include "cloud/options.h"
#include "src/core/json.h"

namespace squall::cloud {

struct JsonAnswer {
    Error error;  // by status alone: the driver looks closer at body
    long status = 0;
    Json body;  // null when it is none
    std::map<std::string, std::string> headers;
};

struct BearerToken {
    std::string text;
    Seconds expires_at = 0;
    Error error;
};

class JsonApi {
  public:
    using GetToken = std::function<BearerToken(Http&)>;
    // header: "Authorization: Bearer " or "X-Auth-Token: "; the token is put behind it.
    JsonApi(const Options& options, std::string header, GetToken get_token);

    JsonAnswer call(const std::string& method, const std::string& url, const json_t* body = nullptr,
                    const std::vector<std::string>& headers = {});
    Error ensure_token();  // before the first call, where the URLs come with the token
    Http& http() { return http_; }

  private:
    HttpReply send(const std::string& method, const std::string& url, const std::string& body,
                   const std::vector<std::string>& headers);
    Http http_;
    std::string header_;
    GetToken get_token_;
    BearerToken token_;
};

HttpLimits http_limits(const Options& options);  // Driver.CaFile, Driver.Timeout

// The reply's JSON with what its status means; `what` begins the message.
JsonAnswer json_answer(const std::string& what, const HttpReply& reply);

// value/key/key…; null when a step is missing.
const json_t* json_at(const json_t* value, std::initializer_list<const char*> path);
std::string json_text_at(const json_t* value, std::initializer_list<const char*> path);
// Sets key unless text is empty.
void json_put(json_t* object, const char* key, const std::string& text);

}  // namespace squall::cloud
