// SPDX-License-Identifier: GPL-3.0-or-later
// libcurl's side of the drivers' HTTP: see http.h.
#include "cloud/http.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <cctype>
#include <ctime>
#include <stdexcept>

#include "src/core/log.h"

namespace squall::cloud {
namespace {

struct SlistFree {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Slist = std::unique_ptr<curl_slist, SlistFree>;

struct Sink {
    HttpReply* reply;
    std::size_t most;
};

std::size_t take_body(char* data, std::size_t size, std::size_t count, void* to) {
    auto* sink = static_cast<Sink*>(to);
    if (sink->reply->body.size() + size * count > sink->most) return 0;
    sink->reply->body.append(data, size * count);
    return size * count;
}

std::size_t take_header(char* data, std::size_t size, std::size_t count, void* to) {
    std::string line(data, size * count);
    auto* sink = static_cast<Sink*>(to);
    auto colon = line.find(':');
    if (colon != line.npos) {
        std::string name = line.substr(0, colon);
        std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
        auto from = line.find_first_not_of(" \t", colon + 1), to_end = line.find_last_not_of("\r\n \t");
        sink->reply->headers[name] = from == line.npos || to_end < from ? "" : line.substr(from, to_end - from + 1);
    }
    return size * count;
}

std::string host_of(const std::string& url) {
    auto from = url.find("://");
    if (from == url.npos) return "";
    std::string rest = url.substr(from + 3, url.find_first_of("/?#", from + 3) - from - 3);
    if (auto at = rest.rfind('@'); at != rest.npos) rest = rest.substr(at + 1);
    if (!rest.empty() && rest[0] == '[') return rest.substr(0, rest.find(']') + 1);
    return rest.substr(0, rest.find(':'));
}

bool is_near(const std::string& host) {
    return host == "localhost" || host == "[::1]" || host.rfind("127.", 0) == 0 || host == "169.254.169.254" ||
           host == "metadata.google.internal";
}

// Failures before a byte of the request can have been acted on.
bool never_arrived(CURLcode code) {
    return code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT || code == CURLE_URL_MALFORMAT ||
           code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_PEER_FAILED_VERIFICATION ||
           code == CURLE_SSL_CACERT_BADFILE || code == CURLE_SSL_CONNECT_ERROR;
}

constexpr const char* kCertificateRefused = "the server's certificate was refused: ";

}  // namespace

struct Http::Curl {
    CURL* handle = nullptr;
    char text[CURL_ERROR_SIZE] = {};
    Curl() {
        static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
        if (ready == CURLE_OK) handle = curl_easy_init();
        if (!handle) throw std::runtime_error("libcurl cannot be set up");
    }
    ~Curl() { curl_easy_cleanup(handle); }
    Curl(const Curl&) = delete;
    Curl& operator=(const Curl&) = delete;
    template <typename T>
    void set(CURLoption option, T value) {
        curl_easy_setopt(handle, option, value);
    }
};

Http::Http(HttpLimits limits) : curl_(std::make_unique<Curl>()), limits_(std::move(limits)) {}
Http::~Http() = default;

HttpReply Http::send(const HttpRequest& request) {
    HttpReply reply;
    if (reply.error = refuse_url(request.url); !reply.error.empty()) return reply;
    Curl& c = *curl_;
    curl_easy_reset(c.handle);  // keeps connections, sessions and the DNS cache
    c.text[0] = '\0';
    Sink sink{&reply, limits_.body_bytes};
    c.set(CURLOPT_URL, request.url.c_str());
    c.set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    c.set(CURLOPT_PROTOCOLS_STR, "https,http");
    c.set(CURLOPT_NOSIGNAL, 1L);
    c.set(CURLOPT_NOPROXY, is_near(host_of(request.url)) ? "*" : "");
    c.set(CURLOPT_CONNECTTIMEOUT, static_cast<long>(limits_.connect_s));
    c.set(CURLOPT_TIMEOUT, static_cast<long>(request.timeout_s > 0 ? request.timeout_s : limits_.total_s));
    c.set(CURLOPT_SSL_VERIFYPEER, 1L);
    c.set(CURLOPT_SSL_VERIFYHOST, 2L);
    c.set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    if (!limits_.ca_file.empty()) c.set(CURLOPT_CAINFO, limits_.ca_file.c_str());
    c.set(CURLOPT_FOLLOWLOCATION, 0L);
    c.set(CURLOPT_FRESH_CONNECT, request.once ? 1L : 0L);
    c.set(CURLOPT_ERRORBUFFER, c.text);
    c.set(CURLOPT_WRITEFUNCTION, take_body);
    c.set(CURLOPT_WRITEDATA, &sink);
    c.set(CURLOPT_HEADERFUNCTION, take_header);
    c.set(CURLOPT_HEADERDATA, &sink);
    if (!request.body.empty() || request.method == "POST" || request.method == "PUT") {
        c.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
        c.set(CURLOPT_POSTFIELDS, request.body.c_str());
    }
    Slist headers(curl_slist_append(nullptr, "Expect:"));
    for (const std::string& line : request.headers) headers.reset(curl_slist_append(headers.release(), line.c_str()));
    c.set(CURLOPT_HTTPHEADER, headers.get());
    if (!request.sigv4.empty()) {
        c.set(CURLOPT_AWS_SIGV4, request.sigv4.c_str());
        c.set(CURLOPT_USERNAME, request.user.c_str());
        c.set(CURLOPT_PASSWORD, request.secret.c_str());
    }
    CURLcode code = curl_easy_perform(c.handle);
    if (code == CURLE_OK) {
        curl_easy_getinfo(c.handle, CURLINFO_RESPONSE_CODE, &reply.status);
    } else {
        reply = {};
        reply.may_have_arrived = !never_arrived(code);
        reply.error = fmt::format("{}{}: {}", code == CURLE_PEER_FAILED_VERIFICATION ? kCertificateRefused : "",
                                  request.url, c.text[0] ? c.text : curl_easy_strerror(code));
        reply.error = redact(reply.error);
    }
    log_debug("http: {} {} → {}", request.method, redact(request.url), reply.status);
    return reply;
}

void Http::keep_secret(const std::string& text) {
    if (text.size() < 4 || std::find(secrets_.begin(), secrets_.end(), text) != secrets_.end()) return;
    if (secrets_.size() >= 32) secrets_.erase(secrets_.begin());  // old session tokens
    secrets_.push_back(text);
}

std::string Http::redact(std::string text) const {
    for (const std::string& secret : secrets_)
        for (std::size_t at = 0; (at = text.find(secret, at)) != text.npos; at += 8)
            text.replace(at, secret.size(), "[secret]");
    return text;
}

std::string refuse_url(const std::string& url) {
    if (strncasecmp(url.c_str(), "https://", 8) == 0) return "";
    if (strncasecmp(url.c_str(), "http://", 7) == 0) {
        if (is_near(host_of(url))) return "";
        return fmt::format("{}: credentials are not sent without TLS; write https://", url);
    }
    return fmt::format("{}: not a URL; write https://HOST", url);
}

ErrorClass class_of_status(long status) {
    if (status == 401 || status == 403) return ErrorClass::auth;
    if (status == 429) return ErrorClass::throttled;
    if (status == 408 || status >= 500) return ErrorClass::transient;
    return ErrorClass::permanent;
}

ErrorClass class_of(const HttpReply& reply) {
    if (reply.status != 0) return class_of_status(reply.status);
    bool refused = reply.error.rfind(kCertificateRefused, 0) == 0 ||
                   reply.error.find("without TLS") != std::string::npos ||
                   reply.error.find("not a URL") != std::string::npos;
    return refused ? ErrorClass::permanent : ErrorClass::transient;
}

Seconds clock_skew_s(const HttpReply& reply) {
    auto at = reply.headers.find("date");
    if (at == reply.headers.end()) return 0;
    std::time_t theirs = curl_getdate(at->second.c_str(), nullptr);
    return theirs == -1 ? 0 : theirs - std::time(nullptr);
}

Seconds parse_utc(const std::string& text) {
    std::tm utc{};
    return strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &utc) ? timegm(&utc) : 0;
}

std::string url_encode(const std::string& text) {
    std::string out;
    for (unsigned char c : text) {
        if (std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == '~')
            out += static_cast<char>(c);
        else
            out += fmt::format("%{:02X}", c);
    }
    return out;
}

std::string form_body(const std::vector<std::pair<std::string, std::string>>& fields) {
    std::string out;
    for (const auto& [name, value] : fields)
        out += (out.empty() ? "" : "&") + url_encode(name) + "=" + url_encode(value);
    return out;
}

}  // namespace squall::cloud
