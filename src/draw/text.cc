// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/draw/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace squall::draw {
namespace {

// Bytes of the well-formed UTF-8 character at `i`; 0: it is broken there (overlong, surrogate, cut off, too large).
std::size_t character_at(std::string_view text, std::size_t i) {
    auto byte = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u; };
    unsigned first = byte(i);
    if (first < 0x80) return 1;
    std::size_t size = first >= 0xf0 && first <= 0xf4 ? 4 : first >= 0xe0 && first <= 0xef ? 3 : 2;
    if (first < 0xc2 || first > 0xf4) return 0;
    for (std::size_t k = 1; k < size; ++k)
        if ((byte(i + k) & 0xc0) != 0x80) return 0;
    unsigned second = byte(i + 1);
    bool bad = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
               (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
    return bad ? 0 : size;
}

std::string grouped(const std::string& digits) {
    auto point = std::min(digits.find('.'), digits.size());
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        bool behind_digit = i > 0 && digits[i - 1] != '-';
        if (i < point && behind_digit && (point - i) % 3 == 0) text += ',';
        text += digits[i];
    }
    return text;
}

}  // namespace

std::string escape(std::string_view text) {
    std::string safe;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t size = character_at(text, i);
        auto c = static_cast<unsigned char>(text[i]);
        bool control = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
        if (size == 0 || control)
            safe += "\xEF\xBF\xBD";
        else if (c == '&')
            safe += "&amp;";
        else if (c == '<')
            safe += "&lt;";
        else if (c == '>')
            safe += "&gt;";
        else if (c == '"')
            safe += "&quot;";
        else if (c == '\'')
            safe += "&#39;";
        else
            safe += text.substr(i, size);
        i += std::max<std::size_t>(1, size);
    }
    return safe;
}

std::string number(double value) {
    if (!std::isfinite(value)) return "–";
    double size = std::abs(value);
    if (size < 1e-9) return "0";
    if (size >= 1e15) return fmt::format("{:.3g}", value);
    int digits = std::clamp(3 - static_cast<int>(std::floor(std::log10(size))), 0, 6);
    auto text = fmt::format("{:.{}f}", value, digits);
    if (text.find('.') != text.npos) {
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.') text.pop_back();
    }
    return grouped(text);
}

std::vector<double> ticks(double most, int about) {
    if (!std::isfinite(most) || most <= 0) return {0, 1};
    double rough = most / std::max(1, about), power = std::pow(10, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (double factor : {1.0, 2.0, 2.5, 5.0})
        if (factor * power >= rough * 0.999) {
            step = factor * power;
            break;
        }
    std::vector<double> list;
    for (int i = 0; i == 0 || list.back() < most * 0.9999; ++i) list.push_back(i * step);
    return list;
}

}  // namespace squall::draw
