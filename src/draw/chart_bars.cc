// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/draw/chart_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "src/draw/svg.h"
#include "src/draw/text.h"

namespace squall::draw {
namespace {

constexpr double kRow = 42, kBar = 18, kLabel = 16, kAxis = 26;

double sum_of(const BarRow& row) { return std::accumulate(row.values.begin(), row.values.end(), 0.0); }

std::string with_unit(double value, const BarChart& chart) {
    return number(value) + (chart.unit.empty() ? "" : " " + chart.unit);
}

void draw_row(Svg& svg, const BarChart& chart, const BarRow& row, double y, double most) {
    double sum = sum_of(row), whole = chart.shares ? sum : most, x = 0;
    svg.text(0, y + kLabel - 4, row.label, Anchor::start, "label");
    svg.text(100, y + kLabel - 4, row.end_text.empty() ? with_unit(sum, chart) : row.end_text, Anchor::end);
    svg.open("row");
    for (std::size_t i = 0; i < row.values.size() && i < chart.parts.size(); ++i) {
        if (row.values[i] <= 0 || whole <= 0) continue;
        double width = 100 * row.values[i] / whole;
        auto share = sum > 0 ? fmt::format(" ({:.1f} %)", 100 * row.values[i] / sum) : "";
        svg.rect(x, y + kLabel, width, kBar, chart.parts[i].classes(),
                 fmt::format("{}, {}: {}{}", row.label, chart.parts[i].name, with_unit(row.values[i], chart),
                             row.values.size() > 1 ? share : ""));
        x += width;
    }
    svg.close();
}

void draw_scale(Svg& svg, const BarChart& chart, const std::vector<double>& scale, double bottom) {
    for (double at : scale) {
        double x = 100 * at / scale.back();
        svg.line(x, 0, x, bottom, "grid");
        auto text = chart.shares ? fmt::format("{:.0f} %", x) : number(at);
        svg.text(x, bottom + 16, text, x < 5 ? Anchor::start : x > 95 ? Anchor::end : Anchor::middle, "tick");
    }
}

Table table_of(const BarChart& chart) {
    Table table;
    table.header = {""};
    for (const auto& part : chart.parts)
        table.header.push_back(part.name + (chart.unit.empty() ? "" : " [" + chart.unit + "]"));
    if (chart.parts.size() > 1) table.header.emplace_back("sum");
    for (const auto& row : chart.rows) {
        std::vector<std::string> cells = {row.label};
        for (double value : row.values) cells.push_back(number(value));
        if (chart.parts.size() > 1) cells.push_back(number(sum_of(row)));
        table.rows.push_back(std::move(cells));
    }
    return table;
}

}  // namespace

std::string bar_chart(const BarChart& chart) {
    double most = chart.most;
    for (const auto& row : chart.rows) most = std::max(most, sum_of(row));
    auto scale = chart.shares ? ticks(100, 4) : ticks(most, 4);
    double bottom = kRow * static_cast<double>(chart.rows.size());
    Svg svg(chart.title, bottom + kAxis);
    draw_scale(svg, chart, scale, bottom);
    for (std::size_t i = 0; i < chart.rows.size(); ++i)
        draw_row(svg, chart, chart.rows[i], kRow * static_cast<double>(i), scale.back());
    return figure_html({chart.title, chart.note, chart.parts, svg.str(), table_of(chart)});
}

}  // namespace squall::draw
