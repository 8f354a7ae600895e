// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/draw/gantt.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "src/draw/svg.h"
#include "src/draw/text.h"

namespace squall::draw {
namespace {

constexpr double kHeading = 20, kGap = 3, kLane = 8, kLeast = 14, kMost = 48, kAxis = 22;
constexpr double kLabelled = 6, kNarrow = 0.3;  // percent of the width
constexpr std::size_t kTableRows = 500;

double height_of(const GanttRow& row) { return std::clamp(kLane * row.lanes, kLeast, kMost); }

int first_free(const std::vector<Seconds>& free_at, int lanes, Seconds start) {
    int run = 0;
    for (int lane = 0; lane < static_cast<int>(free_at.size()); ++lane) {
        run = free_at[lane] <= start ? run + 1 : 0;
        if (run >= lanes) return lane - run + 1;
    }
    return -1;
}

struct Drawn {
    GanttBar bar;
    int lane = 0, jobs = 1;
    bool narrow = false;  // each of them
};

std::vector<int> by_start(const GanttRow& row) {
    std::vector<int> order(row.bars.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return row.bars[a].start < row.bars[b].start; });
    return order;
}

// Narrow neighbours in the same lanes become one.
std::vector<Drawn> joined(const Gantt& chart, const GanttRow& row) {
    auto lanes = gantt_lanes(row);
    auto narrow = static_cast<Seconds>(static_cast<double>(chart.axis.end - chart.axis.start) * kNarrow / 100);
    std::vector<Drawn> list;
    std::map<std::pair<int, int>, std::size_t> last;  // lane, lanes → in list
    for (int i : by_start(row)) {
        const auto& bar = row.bars[i];
        auto found = last.find({lanes[i], bar.lanes});
        if (found != last.end()) {
            auto& before = list[found->second];
            bool both = bar.end - bar.start < narrow && before.narrow;
            if (both && bar.start - before.bar.end < narrow && before.bar.kind == bar.kind) {
                before.bar.end = std::max(before.bar.end, bar.end);
                ++before.jobs;
                continue;
            }
        }
        last[{lanes[i], bar.lanes}] = list.size();
        list.push_back({bar, lanes[i], 1, bar.end - bar.start < narrow});
    }
    return list;
}

std::string title_of(const Gantt& chart, const GanttRow& row, const Drawn& d) {
    std::string kind = chart.kinds.size() > 1 ? ", " + chart.kinds[d.bar.kind].name : "";
    std::string times = fmt::format("{} to {}", chart.axis.name(d.bar.start), chart.axis.name(d.bar.end));
    if (d.jobs > 1) return fmt::format("{}: {} short jobs, {}{}", row.label, d.jobs, times, kind);
    return fmt::format("{}: {}, {}{}{}{}", row.label, d.bar.label, times, kind, d.bar.detail.empty() ? "" : ", ",
                       d.bar.detail);
}

void draw_row(Svg& svg, const Gantt& chart, const GanttRow& row, double y) {
    double height = height_of(row), lane = height / std::max(1, row.lanes);
    svg.rect(0, y, 100, height, "lane");
    svg.gutter_text(y + height / 2 + 4, row.label);
    svg.open("row");
    for (const auto& d : joined(chart, row)) {
        double x = chart.axis.percent(d.bar.start), width = std::max(0.08, chart.axis.percent(d.bar.end) - x);
        double top = y + lane * d.lane, tall = lane * std::clamp(d.bar.lanes, 1, std::max(1, row.lanes));
        svg.rect(x, top + 0.5, width, std::max(1.5, tall - 1), "bar " + chart.kinds[d.bar.kind].classes(),
                 title_of(chart, row, d));
        if (width >= kLabelled && tall >= 11 && d.jobs == 1) svg.boxed_text(x, top, width, tall, d.bar.label);
    }
    svg.close();
}

void draw_time(Svg& svg, const Gantt& chart, double bottom) {
    for (const auto& [at, name] : time_ticks(chart.axis, 5)) {
        double x = chart.axis.percent(at);
        svg.line(x, 0, x, bottom, "grid");
        svg.text(x, bottom + 15, name, x < 4 ? Anchor::start : x > 92 ? Anchor::end : Anchor::middle, "tick");
    }
}

Table table_of(const Gantt& chart, std::string& note) {
    Table table;
    table.header = {"node", "job", "from", "to", "kind", ""};
    std::size_t left_out = 0;
    for (const auto& row : chart.rows)
        for (int i : by_start(row)) {
            const auto& bar = row.bars[i];
            if (table.rows.size() >= kTableRows) {
                ++left_out;
                continue;
            }
            table.rows.push_back({row.label, bar.label, chart.axis.name(bar.start), chart.axis.name(bar.end),
                                  chart.kinds[bar.kind].name, bar.detail});
        }
    if (left_out > 0)
        note += fmt::format("{}The table holds the first {} bars, {} more are only drawn.", note.empty() ? "" : " ",
                            kTableRows, left_out);
    return table;
}

}  // namespace

std::vector<int> gantt_lanes(const GanttRow& row) {
    std::vector<Seconds> free_at(std::max(1, row.lanes), INT64_MIN);
    std::vector<int> lanes(row.bars.size());
    for (int i : by_start(row)) {
        const auto& bar = row.bars[i];
        int wide = std::clamp(bar.lanes, 1, static_cast<int>(free_at.size()));
        int first = std::max(0, first_free(free_at, wide, bar.start));
        for (int k = 0; k < wide; ++k) free_at[first + k] = std::max(free_at[first + k], bar.end);
        lanes[i] = first;
    }
    return lanes;
}

std::string gantt_chart(const Gantt& chart) {
    double height = 0;
    const std::string* last = nullptr;
    std::size_t longest = 4;
    for (const auto& row : chart.rows) {
        if (!last || *last != row.node_class) height += kHeading;
        last = &row.node_class;
        height += height_of(row) + kGap;
        longest = std::max(longest, std::min<std::size_t>(14, row.label.size()));
    }
    Svg svg(chart.title, height + kAxis, static_cast<int>(longest) * 7 + 12);
    draw_time(svg, chart, height);
    last = nullptr;
    double y = 0;
    for (const auto& row : chart.rows) {
        if (!last || *last != row.node_class) {
            svg.text(0, y + kHeading - 6, row.node_class, Anchor::start, "label");
            y += kHeading;
        }
        last = &row.node_class;
        draw_row(svg, chart, row, y);
        y += height_of(row) + kGap;
    }
    if (chart.now) svg.line(chart.axis.percent(*chart.now), 0, chart.axis.percent(*chart.now), height, "now");
    Figure figure{chart.title, chart.note, chart.kinds, svg.str(), {}};
    figure.table = table_of(chart, figure.note);
    return figure_html(figure);
}

}  // namespace squall::draw
