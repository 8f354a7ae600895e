// SPDX-License-Identifier: GPL-3.0-or-later
// The few pieces of libcrypto the cloud drivers need: hashes for launch tokens, base64 for user data, RS256 for
// Google's service accounts. Pure; any thread.
#pragma once
#include <string>

namespace squall::cloud {

std::string sha256_hex(const std::string& text);
std::string base64(const std::string& bytes);
std::string base64_url(const std::string& bytes);  // RFC 4648 §5, no padding
std::string from_base64(const std::string& text);  // "" when it is not base64
// Version-5-like UUID made of a hash: the same text, the same UUID.
std::string uuid_of(const std::string& text);
// RSASSA-PKCS1-v1_5 with SHA-256; "" and *error when the key cannot be used.
std::string sign_rs256(const std::string& private_key_pem, const std::string& text, std::string* error);

}  // namespace squall::cloud
