// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/draw/svg.h"

#include <fmt/format.h>

#include "src/draw/text.h"

namespace squall::draw {
namespace {

constexpr double kWide = 10000;  // of the stretched box that paths are drawn in

std::string short_number(double value) {
    auto text = fmt::format("{:.3f}", value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text == "-0" ? "0" : text;
}

std::string title_of(std::string_view title) {
    return title.empty() ? "" : fmt::format("<title>{}</title>", escape(title));
}

// A mark can be focused by the script and names itself.
std::string attributes(std::string_view classes, std::string_view title) {
    if (title.empty()) return classes.empty() ? "" : fmt::format(" class=\"{}\"", escape(classes));
    return fmt::format(" class=\"mark{}{}\" role=\"img\" tabindex=\"-1\"", classes.empty() ? "" : " ", escape(classes));
}

}  // namespace

Svg::Svg(std::string_view title, double height, int gutter_px) : height_(height) {
    head_ = fmt::format(
        "<svg class=\"chart\" role=\"group\" tabindex=\"0\" width=\"100%\" height=\"{}\" style=\"padding-left:{}px\" "
        "aria-label=\"{}\">\n",
        short_number(height), gutter_px, escape(title));
}

void Svg::rect(double x, double y, double width, double height, std::string_view classes, std::string_view title) {
    body_ += fmt::format("<rect x=\"{}%\" y=\"{}\" width=\"{}%\" height=\"{}\"{}>{}</rect>\n", short_number(x),
                         short_number(y), short_number(width), short_number(height), attributes(classes, title),
                         title_of(title));
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view classes) {
    body_ += fmt::format("<line x1=\"{}%\" y1=\"{}\" x2=\"{}%\" y2=\"{}\" class=\"{}\"/>\n", short_number(x1),
                         short_number(y1), short_number(x2), short_number(y2), escape(classes));
}

void Svg::text(double x, double y, std::string_view text, Anchor anchor, std::string_view classes) {
    const char* where = anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
    body_ += fmt::format("<text x=\"{}%\" y=\"{}\" text-anchor=\"{}\"{}>{}</text>\n", short_number(x), short_number(y),
                         where, attributes(classes, ""), escape(text));
}

void Svg::boxed_text(double x, double y, double width, double height, std::string_view text) {
    body_ += fmt::format(
        "<svg x=\"{}%\" y=\"{}\" width=\"{}%\" height=\"{}\"><text class=\"inside\" x=\"4\" y=\"{}\">{}</text></svg>\n",
        short_number(x), short_number(y), short_number(width), short_number(height), short_number(height / 2 + 4),
        escape(text));
}

void Svg::gutter_text(double y, std::string_view text, std::string_view classes) {
    body_ += fmt::format("<text x=\"-6\" y=\"{}\" text-anchor=\"end\"{}>{}</text>\n", short_number(y),
                         attributes(classes, ""), escape(text));
}

void Svg::path(const std::vector<Point>& points, bool closed, std::string_view classes) {
    if (points.empty()) return;
    std::string steps;
    for (const auto& p : points)
        steps += fmt::format("{}{:.0f} {}", steps.empty() ? "M" : "L", p.x / 100 * kWide, short_number(p.y));
    body_ += fmt::format(
        "<svg x=\"0\" y=\"0\" width=\"100%\" height=\"{0}\" viewBox=\"0 0 {1:.0f} {0}\" preserveAspectRatio=\"none\">"
        "<path class=\"{2}\" d=\"{3}{4}\"/></svg>\n",
        short_number(height_), kWide, escape(classes), steps, closed ? "Z" : "");
}

void Svg::open(std::string_view classes, std::string_view title) {
    body_ += fmt::format("<g{}>{}", attributes(classes, title), title_of(title));
}

std::string Svg::str() const { return head_ + body_ + "</svg>\n"; }

}  // namespace squall::draw
