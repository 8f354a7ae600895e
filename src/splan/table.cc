// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/splan/table.h"

#include <cctype>
#include <cwchar>

namespace squall::splan {
namespace {

std::string list_of(const std::vector<ColumnName>& columns) {
    std::string text;
    for (const auto& c : columns) text += fmt::format("{}{} (%{})", text.empty() ? "" : ", ", c.name, c.letter);
    return text;
}

// Length of the UTF-8 sequence at i, 0 where it is broken.
std::size_t sequence(const std::string& text, std::size_t i) {
    auto c = static_cast<unsigned char>(text[i]);
    std::size_t length = c < 0x80                ? 1
                         : c >= 0xC2 && c < 0xE0 ? 2
                         : c >= 0xE0 && c < 0xF0 ? 3
                         : c >= 0xF0 && c < 0xF5 ? 4
                                                 : 0;
    if (length == 0 || i + length > text.size()) return 0;
    for (std::size_t k = 1; k < length; ++k)
        if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return 0;
    return length;
}

int width_of(const std::string& text, std::size_t i, std::size_t length) {
    if (length == 1) return 1;
    char32_t code = static_cast<unsigned char>(text[i]) & (0xFF >> (length + 1));
    for (std::size_t k = 1; k < length; ++k) code = code << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3F);
    bool wide = (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
                (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
                (code >= 0xFE30 && code <= 0xFE6F) || (code >= 0xFF00 && code <= 0xFF60) ||
                (code >= 0x1F300 && code <= 0x1FAFF) || (code >= 0x20000 && code <= 0x3FFFD);
    bool combining =
        (code >= 0x0300 && code <= 0x036F) || code == 0x200B || code == 0x200D || (code >= 0xFE00 && code <= 0xFE0F);
    return combining ? 0 : wide ? 2 : 1;
}

const char* escape(Tone tone) {
    switch (tone) {
        case Tone::good:
            return "\033[32m";
        case Tone::warn:
            return "\033[33m";
        case Tone::bad:
            return "\033[1;31m";
        case Tone::dim:
            return "\033[2m";
        case Tone::plain:
            break;
    }
    return "";
}

FormatResult parse_names(const std::string& format, const std::vector<ColumnName>& columns) {
    FormatResult result;
    for (std::size_t from = 0; from <= format.size();) {
        auto end = std::min(format.find(',', from), format.size());
        auto name = format.substr(from, end - from);
        std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
        auto at = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == name; });
        if (at == columns.end()) {
            result.error = fmt::format("-o {}: no column \"{}\"; there are {}", printable(format), printable(name),
                                       list_of(columns));
            return result;
        }
        result.picks.push_back(
            {static_cast<std::size_t>(at - columns.begin()), at->width, at->right, false, from == 0 ? "" : " "});
        from = end + 1;
    }
    return result;
}

}  // namespace

FormatResult parse_format(const std::string& format, const std::vector<ColumnName>& columns) {
    if (format.find('%') == format.npos) return parse_names(format, columns);
    FormatResult result;
    std::string before;
    for (std::size_t i = 0; i < format.size(); ++i) {
        if (format[i] != '%') {
            before += format[i];
            continue;
        }
        Pick pick;
        std::size_t k = i + 1;
        if (k < format.size() && format[k] == '.') pick.right = true, ++k;
        for (; k < format.size() && std::isdigit(static_cast<unsigned char>(format[k])) && pick.width < 1000; ++k) {
            pick.width = pick.width * 10 + (format[k] - '0');
            pick.fixed = true;
        }
        char letter = k < format.size() ? format[k] : '\0';
        auto at = std::find_if(columns.begin(), columns.end(),
                               [&](const auto& c) { return c.letter == letter && letter != '\0'; });
        if (at == columns.end()) {
            result.error =
                fmt::format("-o {}: no column %{}; there are {}", printable(format), letter, list_of(columns));
            return result;
        }
        pick.column = static_cast<std::size_t>(at - columns.begin());
        pick.before = before;
        before.clear();
        result.picks.push_back(pick);
        i = k;
    }
    return result;
}

std::string printable(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        auto length = sequence(text, i);
        bool control = length == 1 && (static_cast<unsigned char>(text[i]) < 32 || text[i] == 127);
        bool c1 = length == 2 && static_cast<unsigned char>(text[i]) == 0xC2 &&
                  static_cast<unsigned char>(text[i + 1]) < 0xA0;
        if (length == 0 || control || c1)
            out += '?';
        else
            out += text.substr(i, length);
        i += std::max<std::size_t>(1, length);
    }
    return out;
}

int display_width(const std::string& text) {
    int width = 0;
    for (std::size_t i = 0; i < text.size();) {
        auto length = std::max<std::size_t>(1, sequence(text, i));
        width += width_of(text, i, length);
        i += length;
    }
    return width;
}

std::string cut(const std::string& text, int width) {
    if (display_width(text) <= width) return text;
    std::string out;
    int used = 0;
    for (std::size_t i = 0; i < text.size();) {
        auto length = std::max<std::size_t>(1, sequence(text, i));
        int w = width_of(text, i, length);
        if (used + w > width - 1) break;
        used += w;
        out += text.substr(i, length);
        i += length;
    }
    return width > 0 ? out + "…" : "";
}

std::string layout(const std::vector<Pick>& picks, const std::vector<std::string>& headers,
                   const std::vector<std::vector<Cell>>& cells, const TableOptions& options) {
    std::vector<int> widths;
    for (std::size_t c = 0; c < picks.size(); ++c) {
        int width = picks[c].width;
        if (!picks[c].fixed) {
            if (options.header) width = std::max(width, display_width(headers[c]));
            for (const auto& line : cells) width = std::max(width, display_width(line[c].text));
        }
        widths.push_back(width);
    }
    std::string out;
    auto print = [&](const std::vector<Cell>& line) {
        int used = 0;
        for (std::size_t c = 0; c < picks.size(); ++c) {
            int room = options.terminal_width > 0
                           ? std::max(0, options.terminal_width - used - display_width(picks[c].before))
                           : widths[c];
            bool last = c + 1 == picks.size();
            int width = std::min(widths[c], std::max(room, 0));
            auto text = cut(line[c].text, width);
            std::string pad(static_cast<std::size_t>(std::max(0, width - display_width(text))), ' ');
            bool tint = options.colour && line[c].tone != Tone::plain;
            out += picks[c].before;
            if (picks[c].right) out += pad;
            out += tint ? escape(line[c].tone) + text + "\033[0m" : text;
            if (!picks[c].right && !last) out += pad;
            used += display_width(picks[c].before) + width;
        }
        while (!out.empty() && out.back() == ' ') out.pop_back();
        out += '\n';
    };
    if (options.header) {
        std::vector<Cell> line;
        for (const auto& h : headers) line.push_back({h});
        print(line);
    }
    for (const auto& line : cells) print(line);
    return out;
}

}  // namespace squall::splan
