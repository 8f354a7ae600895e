// SPDX-License-Identifier: GPL-3.0-or-later
// The one room where the cloud drivers speak HTTP: libcurl with time limits, connection reuse, verified TLS, and no
// secret in any message. Plain http:// is refused but for this machine and the link-local metadata service. One Http a
// driver, one thread. Redirects are not followed: a signed request is for one host.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cloud/driver.h"
#include "src/core/units.h"

namespace squall::cloud {

struct HttpRequest {
    std::string method = "GET";
    std::string url;
    std::vector<std::string> headers;  // "Name: value"
    std::string body;
    std::string sigv4;         // "aws:amz:REGION:SERVICE": signed with user and secret
    std::string user, secret;  // for sigv4 only
    Seconds timeout_s = 0;     // 0: the room's
    bool once = false;         // sent at most once: libcurl repeats a request whose reused connection was closed
};

struct HttpReply {
    long status = 0;  // 0: no answer
    std::string body;
    std::map<std::string, std::string> headers;  // names in lower case
    std::string error;                           // of status 0, redacted
    bool may_have_arrived = false;               // of status 0: the request may have been acted on
    bool ok() const { return status >= 200 && status < 300; }
};

struct HttpLimits {
    Seconds connect_s = 10, total_s = 30;
    std::size_t body_bytes = std::size_t{64} << 20;
    std::string ca_file;  // "": the system's
};

class Http {
  public:
    explicit Http(HttpLimits limits = {});
    ~Http();
    Http(const Http&) = delete;
    Http& operator=(const Http&) = delete;

    HttpReply send(const HttpRequest& request);

    // From now on `text` is shown as "[secret]" by redact(), which every message of this room passes.
    void keep_secret(const std::string& text);
    std::string redact(std::string text) const;

  private:
    struct Curl;
    std::unique_ptr<Curl> curl_;
    HttpLimits limits_;
    std::vector<std::string> secrets_;
};

// "" or why this URL is not spoken to.
std::string refuse_url(const std::string& url);

// What a status means where the cloud gives no code of its own.
ErrorClass class_of_status(long status);
// Of a reply that is not ok: its class; for status 0 transient, or permanent when the peer's certificate was refused.
ErrorClass class_of(const HttpReply& reply);
// By how much the server's clock is ahead of ours, from its Date header; 0 when it says nothing.
Seconds clock_skew_s(const HttpReply& reply);

// "2026-12-01T12:00:00Z", fractions ignored; 0 when it is something else.
Seconds parse_utc(const std::string& text);

std::string url_encode(const std::string& text);  // RFC 3986: all but unreserved characters
// "a=1&b=x%20y"
std::string form_body(const std::vector<std::pair<std::string, std::string>>& fields);

}  // namespace squall::cloud
