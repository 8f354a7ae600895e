// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/draw/page.h"

#include <fmt/format.h>

#include "src/draw/text.h"

namespace squall::draw {
namespace {

constexpr int kTones = 8;

// Stripes a tone, for what must be told apart without colour.
std::string stripes() {
    std::string text = "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs>\n";
    for (int tone = 1; tone <= kTones; ++tone)
        text += fmt::format(
            "<pattern id=\"h{0}\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
            "patternTransform=\"rotate(45)\">"
            "<rect width=\"7\" height=\"7\" class=\"t{0}\"/><rect width=\"2\" height=\"7\" "
            "class=\"stripe\"/></pattern>\n",
            tone);
    return text + "</defs></svg>\n";
}

std::string contents(const Page& page) {
    std::string text = "<nav aria-label=\"Contents\"><ul>";
    for (const auto& s : page.sections)
        text += fmt::format("<li><a href=\"#{}\">{}</a></li>", escape(s.id), escape(s.heading));
    return text + "</ul></nav>\n";
}

}  // namespace

std::string paragraph(const std::string& text) { return fmt::format("<p>{}</p>\n", escape(text)); }

std::string list_html(const std::vector<std::string>& lines) {
    std::string text = "<ul>\n";
    for (const auto& line : lines) text += fmt::format("<li>{}</li>\n", escape(line));
    return text + "</ul>\n";
}

std::string page_html(const Page& page) {
    std::string text = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'sha256-{}'; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"referrer\" content=\"no-referrer\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
        kPageScriptHash, escape(page.title), kPageStyle);
    text +=
        stripes() + fmt::format("<header><h1>{}</h1>\n<p>{}</p></header>\n", escape(page.title), escape(page.subtitle));
    if (page.sections.size() > 2) text += contents(page);
    text += "<main>\n";
    for (const auto& s : page.sections)
        text += fmt::format(
            "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n{2}</section>\n",
            escape(s.id), escape(s.heading), s.html);
    return text + fmt::format("</main>\n<footer><p>{}</p></footer>\n<script>{}</script>\n</body>\n</html>\n",
                              escape(page.footer), kPageScript);
}

}  // namespace squall::draw
