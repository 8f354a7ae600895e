// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/draw/chart_timeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/draw/svg.h"
#include "src/draw/text.h"

namespace squall::draw {
namespace {

constexpr double kTop = 8, kPlot = 180, kHeight = kTop + kPlot + 26;
constexpr int kSteps = 400, kBands = 24, kGutter = 52;

// The largest value of each of `steps` equal steps; what a series was before its first point is 0.
std::vector<double> sampled(const TimeSeries& series, const TimeAxis& axis, int steps) {
    std::vector<double> values(steps);
    double length = static_cast<double>(std::max<Seconds>(1, axis.end - axis.start)), now = 0;
    std::size_t next = 0;
    for (int i = 0; i < steps; ++i) {
        auto from = axis.start + static_cast<Seconds>(length * i / steps);
        auto to = axis.start + static_cast<Seconds>(length * (i + 1) / steps);
        for (; next < series.points.size() && series.points[next].at <= from; ++next) now = series.points[next].value;
        values[i] = now;
        for (; next < series.points.size() && series.points[next].at < to; ++next) {
            now = series.points[next].value;
            values[i] = std::max(values[i], now);
        }
    }
    return values;
}

class Drawing {
  public:
    explicit Drawing(const TimeChart& chart) : chart_(chart), svg_(chart.title, kHeight, kGutter) {
        for (const auto& s : chart.series) tops_.push_back(sampled(s, chart.axis, kSteps));
        if (chart.stacked)
            for (std::size_t s = 1; s < tops_.size(); ++s)
                for (int i = 0; i < kSteps; ++i) tops_[s][i] += tops_[s - 1][i];
        double most = chart.level;
        for (const auto& values : tops_) most = std::max(most, *std::max_element(values.begin(), values.end()));
        scale_ = ticks(most, 4);
    }

    std::string svg() {
        draw_scales();
        for (std::size_t s = tops_.size(); s-- > 0;) draw_series(s);
        if (chart_.level > 0) svg_.line(0, y(chart_.level), 100, y(chart_.level), "level");
        draw_bands();
        return svg_.str();
    }

  private:
    double y(double value) const { return kTop + kPlot * (1 - value / scale_.back()); }

    void draw_scales() {
        for (double at : scale_) {
            svg_.line(0, y(at), 100, y(at), "grid");
            svg_.gutter_text(y(at) + 4, number(at), "tick");
        }
        for (const auto& [at, name] : time_ticks(chart_.axis, 5)) {
            double x = chart_.axis.percent(at);
            svg_.line(x, kTop, x, kTop + kPlot, "grid");
            svg_.text(x, kTop + kPlot + 16, name,
                      x < 4    ? Anchor::start
                      : x > 92 ? Anchor::end
                               : Anchor::middle,
                      "tick");
        }
    }

    void draw_series(std::size_t s) {
        std::vector<Point> points;
        for (int i = 0; i < kSteps; ++i) {
            double value = y(tops_[s][i]);
            if (!points.empty() && points.back().y == value && i + 1 < kSteps) continue;
            points.push_back({100.0 * i / kSteps, points.empty() ? value : points.back().y});
            points.push_back({100.0 * i / kSteps, value});
        }
        points.push_back({100, points.back().y});
        if (chart_.stacked) {
            points.push_back({100, y(0)});
            points.push_back({0, y(0)});
        }
        svg_.path(points, chart_.stacked, chart_.series[s].key.classes());
    }

    // Broad bands that the pointer and the keys can rest on, each with the values at its left edge.
    void draw_bands() {
        Seconds length = chart_.axis.end - chart_.axis.start;
        for (int b = 0; b < kBands; ++b) {
            std::string title = chart_.axis.name(chart_.axis.start + length * b / kBands) + ": ";
            for (std::size_t s = 0; s < tops_.size(); ++s)
                title += fmt::format("{}{} {}", s == 0 ? "" : ", ", chart_.series[s].key.name,
                                     number(value_at(s, b * kSteps / kBands)));
            if (!chart_.unit.empty()) title += " " + chart_.unit;
            svg_.rect(100.0 * b / kBands, kTop, 100.0 / kBands, kPlot, "band", title);
        }
    }

    double value_at(std::size_t s, int i) const {
        return tops_[s][i] - (chart_.stacked && s > 0 ? tops_[s - 1][i] : 0);
    }

    const TimeChart& chart_;
    Svg svg_;
    std::vector<std::vector<double>> tops_;
    std::vector<double> scale_;
};

Table table_of(const TimeChart& chart) {
    Table table;
    table.header = {chart.axis.by_clock ? "time" : "since the start"};
    std::vector<std::vector<double>> values;
    for (const auto& s : chart.series) {
        table.header.push_back(s.key.name + (chart.unit.empty() ? "" : " [" + chart.unit + "]"));
        values.push_back(sampled(s, chart.axis, kBands));
    }
    for (int b = 0; b < kBands; ++b) {
        std::vector<std::string> cells = {
            chart.axis.name(chart.axis.start + (chart.axis.end - chart.axis.start) * b / kBands)};
        for (const auto& v : values) cells.push_back(number(v[b]));
        table.rows.push_back(std::move(cells));
    }
    return table;
}

}  // namespace

std::string time_chart(const TimeChart& chart) {
    if (chart.series.empty()) return "";
    Figure figure{chart.title, chart.note, {}, Drawing(chart).svg(), table_of(chart)};
    for (const auto& s : chart.series) figure.keys.push_back(s.key);
    if (chart.level > 0)
        figure.keys.push_back({fmt::format("{}: {}", chart.level_name, number(chart.level)), 8, false, true, true});
    return figure_html(figure);
}

}  // namespace squall::draw
