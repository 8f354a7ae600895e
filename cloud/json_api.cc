// SPDX-License-Identifier: GPL-3.0-or-later
// Token keeping and JSON replies: see json_api.h.
#include "cloud/json_api.h"

#include <fmt/format.h>

#include <ctime>

namespace squall::cloud {
namespace {

constexpr Seconds kRenewBeforeS = 120;

}  // namespace

HttpLimits http_limits(const Options& options) {
    HttpLimits limits;
    limits.ca_file = option_text(options, "CaFile", "");
    option_seconds(options, "Timeout", limits.total_s, &limits.total_s);
    return limits;
}

JsonAnswer json_answer(const std::string& what, const HttpReply& reply) {
    JsonAnswer answer;
    answer.status = reply.status;
    answer.headers = reply.headers;
    answer.body.reset(json_loads(reply.body.c_str(), JSON_ALLOW_NUL, nullptr));
    if (reply.status == 0) {
        answer.error = {class_of(reply), fmt::format("{}: {}", what, reply.error)};
    } else if (!reply.ok()) {
        answer.error = {class_of_status(reply.status), fmt::format("{}: HTTP {}", what, reply.status)};
        Seconds skew = clock_skew_s(reply);
        if (answer.error.kind == ErrorClass::auth && (skew > 60 || skew < -60))
            answer.error.message += fmt::format(" (this machine's clock is {} s {} the cloud's; set it right)",
                                                skew > 0 ? skew : -skew, skew > 0 ? "behind" : "ahead of");
    } else if (!reply.body.empty() && !answer.body) {
        answer.error = {ErrorClass::transient, fmt::format("{}: the answer is not JSON", what)};
    }
    return answer;
}

JsonApi::JsonApi(const Options& options, std::string header, GetToken get_token)
    : http_(http_limits(options)), header_(std::move(header)), get_token_(std::move(get_token)) {}

Error JsonApi::ensure_token() {
    if (!token_.text.empty() && std::time(nullptr) < token_.expires_at - kRenewBeforeS) return {};
    token_ = get_token_(http_);
    http_.keep_secret(token_.text);
    token_.error.message = http_.redact(token_.error.message);
    Error error = token_.error;
    if (error) token_ = {};
    return error;
}

HttpReply JsonApi::send(const std::string& method, const std::string& url, const std::string& body,
                        const std::vector<std::string>& headers) {
    HttpRequest request{method, url, headers, body, "", "", "", 0, method == "POST"};
    request.headers.push_back(header_ + token_.text);
    request.headers.push_back("Accept: application/json");
    if (!body.empty()) request.headers.push_back("Content-Type: application/json");
    return http_.send(request);
}

JsonAnswer JsonApi::call(const std::string& method, const std::string& url, const json_t* body,
                         const std::vector<std::string>& headers) {
    JsonAnswer answer;
    std::string text = body ? json_format(body, JSON_COMPACT) : "";
    for (int attempt = 0; attempt < 2; attempt++) {
        if ((answer.error = ensure_token())) return answer;
        answer = json_answer(method + " " + url.substr(0, url.find('?')), send(method, url, text, headers));
        answer.error.message = http_.redact(answer.error.message);
        if (answer.status != 401) break;
        token_ = {};  // revoked or outlived: once more with a new one
    }
    return answer;
}

const json_t* json_at(const json_t* value, std::initializer_list<const char*> path) {
    for (const char* key : path) value = json_object_get(value, key);
    return value;
}

std::string json_text_at(const json_t* value, std::initializer_list<const char*> path) {
    const json_t* found = json_at(value, path);
    return json_is_string(found) ? json_string_value(found) : "";
}

void json_put(json_t* object, const char* key, const std::string& text) {
    if (!text.empty()) json_object_set_new(object, key, json_stringn(text.data(), text.size()));
}

}  // namespace squall::cloud
