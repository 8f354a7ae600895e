// SPDX-License-Identifier: GPL-3.0-or-later
// One self-contained HTML page: style and script stand in it, nothing is fetched, and its content security policy lets
// nothing else run. Follows the reader's light or dark setting; print is always light. Without the script everything is
// still there: titles for the pointer, tables for the keys.
#pragma once
#include <string>
#include <vector>

namespace squall::draw {

struct Section {
    std::string id;       // letters, digits and '-'
    std::string heading;  // plain text
    std::string html;     // of bar_chart(), time_chart(), gantt_chart(), table_html() and paragraph()
};

struct Page {
    std::string title, subtitle;
    std::vector<Section> sections;
    std::string footer;
};

std::string page_html(const Page& page);
std::string paragraph(const std::string& text);
std::string list_html(const std::vector<std::string>& lines);

// Script of the page and, for its security policy, that text's SHA-256 in base64.
extern const char* const kPageScript;
extern const char* const kPageScriptHash;
extern const char* const kPageStyle;

}  // namespace squall::draw
