// SPDX-License-Identifier: GPL-3.0-or-later
// AWS Signature Version 4 as a server checks it, written from AWS's description and independent of libcurl's signing.
// Used by fake_ec2.h.
#pragma once
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <ctime>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/fake_http.h"

namespace squall::cloud {

inline std::string hex_of(const std::string& bytes) {
    std::string out;
    for (unsigned char byte : bytes) out += fmt::format("{:02x}", byte);
    return out;
}

inline std::string sha256_of(const std::string& text) {
    unsigned char digest[32];
    EVP_Digest(text.data(), text.size(), digest, nullptr, EVP_sha256(), nullptr);
    return {reinterpret_cast<char*>(digest), sizeof digest};
}

inline std::string hmac_of(const std::string& key, const std::string& text) {
    unsigned char digest[32];
    unsigned int size = sizeof digest;
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
         text.size(), digest, &size);
    return {reinterpret_cast<char*>(digest), size};
}

inline std::string between(const std::string& text, const std::string& from, const std::string& to) {
    std::size_t at = text.find(from);
    if (at == text.npos) return "";
    at += from.size();
    return text.substr(at, std::min(text.find(to, at), text.size()) - at);
}

inline std::vector<std::string> split(const std::string& text, char by) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, by);) parts.push_back(part);
    return parts;
}

struct Sigv4Claim {
    std::string key_id, date, region, service, signed_headers, signature, amz_date;
};

inline Sigv4Claim sigv4_claim(const FakeRequest& request) {
    Sigv4Claim claim;
    std::string text = request.header("authorization");
    std::vector<std::string> scope = split(between(text, "Credential=", ","), '/');
    if (text.rfind("AWS4-HMAC-SHA256 ", 0) != 0 || scope.size() != 5 || scope[4] != "aws4_request") return claim;
    return {scope[0],
            scope[1],
            scope[2],
            scope[3],
            between(text, "SignedHeaders=", ","),
            between(text + ",", "Signature=", ","),
            request.header("x-amz-date")};
}

// "" or the error code EC2 answers with. Signature, date, scope and what must be signed.
inline std::string check_sigv4(const FakeRequest& request, const Sigv4Claim& claim, const std::string& secret,
                               const std::string& region, const std::string& service, long skew_s) {
    std::vector<std::string> names = split(claim.signed_headers, ';');
    auto is_signed = [&](const char* name) { return std::count(names.begin(), names.end(), name) > 0; };
    if (!is_signed("host") || !is_signed("x-amz-date") || !std::is_sorted(names.begin(), names.end()))
        return "IncompleteSignature";
    if (!request.header("x-amz-security-token").empty() && !is_signed("x-amz-security-token"))
        return "SignatureDoesNotMatch";
    if (claim.region != region || claim.service != service || claim.amz_date.substr(0, 8) != claim.date)
        return "SignatureDoesNotMatch";
    std::string canonical = request.method + "\n" + request.path + "\n" + request.query + "\n";
    for (const std::string& name : names) canonical += name + ":" + request.header(name) + "\n";
    canonical += "\n" + claim.signed_headers + "\n" + hex_of(sha256_of(request.body));
    std::string scope = claim.date + "/" + claim.region + "/" + claim.service + "/aws4_request";
    std::string to_sign = "AWS4-HMAC-SHA256\n" + claim.amz_date + "\n" + scope + "\n" + hex_of(sha256_of(canonical));
    std::string key =
        hmac_of(hmac_of(hmac_of(hmac_of("AWS4" + secret, claim.date), claim.region), claim.service), "aws4_request");
    if (hex_of(hmac_of(key, to_sign)) != claim.signature) return "SignatureDoesNotMatch";
    std::tm utc{};
    if (!strptime(claim.amz_date.c_str(), "%Y%m%dT%H%M%SZ", &utc)) return "IncompleteSignature";
    return std::abs(timegm(&utc) - std::time(nullptr) - skew_s) > 300 ? "RequestExpired" : "";
}

}  // namespace squall::cloud
