// SPDX-License-Identifier: GPL-3.0-or-later
// The text form of AdminComment: the request's words, and the plan's words with percent-encoded values. See request.h.
#include <fmt/format.h>

#include "src/core/request.h"

namespace squall {
namespace {

constexpr std::string_view kPrefix = "squall:";
constexpr std::string_view kBar = " | ";

bool is_plain(unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("._:/,+-@[]").find(static_cast<char>(c)) != std::string_view::npos;
}

std::string encode(std::string_view text) {
    std::string out;
    for (char c : text) {
        if (is_plain(static_cast<unsigned char>(c)))
            out += c;
        else
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return out;
}

int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::string decode(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        int high = text[i] == '%' && i + 2 < text.size() ? hex(text[i + 1]) : -1;
        int low = high >= 0 ? hex(text[i + 2]) : -1;
        if (low < 0) {
            out += text[i];
            continue;
        }
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return out;
}

}  // namespace

std::string format_admin_comment(const AdminComment& comment) {
    std::string out(kPrefix), words = format_words(comment.request);
    if (!words.empty()) out += " " + words;
    if (!comment.plan.empty()) out += kBar;
    bool first = true;
    for (const auto& [key, value] : comment.plan) {
        out += fmt::format("{}{}={}", first ? "" : " ", key, encode(value));
        first = false;
    }
    return out;
}

std::optional<AdminComment> parse_admin_comment(std::string_view text) {
    if (text.substr(0, kPrefix.size()) != kPrefix) return {};
    text.remove_prefix(kPrefix.size());
    AdminComment out;
    auto bar = text.find(kBar);
    if (!parse_words(out.request, text.substr(0, bar), 0).empty()) return {};
    if (bar == text.npos) return out;
    text.remove_prefix(bar + kBar.size());
    while (!text.empty()) {
        auto end = text.find(' ');
        auto word = text.substr(0, end);
        if (auto equal = word.find('='); equal != word.npos)
            out.plan[std::string(word.substr(0, equal))] = decode(word.substr(equal + 1));
        if (end == text.npos) break;
        text.remove_prefix(end + 1);
    }
    return out;
}

}  // namespace squall
