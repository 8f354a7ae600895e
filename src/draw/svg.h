// SPDX-License-Identifier: GPL-3.0-or-later
// Builds one inline SVG whose width follows the page: horizontal positions are percentages of the plot, vertical ones
// pixels, so text keeps its size on a phone. Colours are classes of the page's style (tones t1 to t8), which knows
// light, dark and print. Marks carry a title: the pointer shows it, the page's script reads it out and walks marks by
// key.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace squall::draw {

struct Point {
    double x, y;  // percent, pixels
};

enum class Anchor { start, middle, end };

class Svg {
  public:
    // gutter_px: room left of the plot for labels, written at negative positions by gutter_text().
    Svg(std::string_view title, double height, int gutter_px = 0);

    void rect(double x, double y, double width, double height, std::string_view classes, std::string_view title = "");
    void line(double x1, double y1, double x2, double y2, std::string_view classes);
    void text(double x, double y, std::string_view text, Anchor anchor = Anchor::start, std::string_view classes = "");
    // Text that is cut off at the right edge of a box.
    void boxed_text(double x, double y, double width, double height, std::string_view text);
    void gutter_text(double y, std::string_view text, std::string_view classes = "");
    // Through these points; closed: an area. Steps between them are the caller's.
    void path(const std::vector<Point>& points, bool closed, std::string_view classes);
    // A group: marks of one row, or several shapes that are one mark (with a title).
    void open(std::string_view classes, std::string_view title = "");
    void close() { body_ += "</g>\n"; }

    std::string str() const;

  private:
    std::string head_, body_;
    double height_;
};

}  // namespace squall::draw
