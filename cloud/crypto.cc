// SPDX-License-Identifier: GPL-3.0-or-later
// Skin over libcrypto: see crypto.h.
#include "cloud/crypto.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <algorithm>
#include <memory>

namespace squall::cloud {
namespace {

const unsigned char* bytes_of(const std::string& text) { return reinterpret_cast<const unsigned char*>(text.data()); }

std::string sha256(const std::string& text) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr);
    return {reinterpret_cast<char*>(digest), size};
}

}  // namespace

std::string sha256_hex(const std::string& text) {
    std::string out;
    for (unsigned char byte : sha256(text)) out += fmt::format("{:02x}", byte);
    return out;
}

std::string base64(const std::string& bytes) {
    std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
    int size =
        EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), bytes_of(bytes), static_cast<int>(bytes.size()));
    out.resize(static_cast<std::size_t>(size));
    return out;
}

std::string from_base64(const std::string& text) {
    std::string clean;
    for (char c : text)
        if (c != '\n' && c != '\r' && c != ' ') clean += c;
    std::string out(clean.size() / 4 * 3 + 1, '\0');
    int size =
        EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()), bytes_of(clean), static_cast<int>(clean.size()));
    if (size < 0) return "";
    for (std::size_t i = clean.size(); i > 0 && clean[i - 1] == '=' && size > 0; i--) size--;
    out.resize(static_cast<std::size_t>(size));
    return out;
}

std::string base64_url(const std::string& bytes) {
    std::string out = base64(bytes);
    out.erase(std::find(out.begin(), out.end(), '='), out.end());
    std::replace(out.begin(), out.end(), '+', '-');
    std::replace(out.begin(), out.end(), '/', '_');
    return out;
}

std::string uuid_of(const std::string& text) {
    std::string hex = sha256_hex(text).substr(0, 32);
    hex[12] = '5';
    hex[16] = "89ab"[hex[16] % 4];
    return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4), hex.substr(16, 4),
                       hex.substr(20));
}

std::string sign_rs256(const std::string& private_key_pem, const std::string& text, std::string* error) {
    std::unique_ptr<BIO, decltype(&BIO_free)> in(
        BIO_new_mem_buf(private_key_pem.data(), static_cast<int>(private_key_pem.size())), BIO_free);
    std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
        PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, const_cast<char*>("")), EVP_PKEY_free);
    if (!key || EVP_PKEY_base_id(key.get()) != EVP_PKEY_RSA) return *error = "not an RSA private key in PEM", "";
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    std::size_t size = 0;
    std::string out;
    bool good = EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
                EVP_DigestSign(context.get(), nullptr, &size, bytes_of(text), text.size()) == 1;
    out.resize(size);
    good = good && EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size, bytes_of(text),
                                  text.size()) == 1;
    if (!good) return *error = "the key cannot sign", "";
    out.resize(size);
    return out;
}

}  // namespace squall::cloud
