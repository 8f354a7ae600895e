// SPDX-License-Identifier: GPL-3.0-or-later
// Who runs where and when: a row a node, as many lanes in it as the node has GPUs (or shares), a bar a job and node.
// Bars too narrow to see are drawn together and named by their number; nothing is left out of a row.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "src/draw/figure.h"
#include "src/draw/time_axis.h"

namespace squall::draw {

struct GanttBar {
    Seconds start = 0, end = 0;
    std::string label;   // drawn in the bar where it fits
    std::string detail;  // behind label and times, for the pointer and the keys
    int kind = 0;        // of Gantt::kinds
    int lanes = 1;       // it takes
};

struct GanttRow {
    std::string label, node_class;  // rows of one class stand together under its name
    int lanes = 1;
    std::vector<GanttBar> bars;
};

struct Gantt {
    std::string title, note;
    TimeAxis axis;
    std::optional<Seconds> now;  // a line there
    std::vector<Key> kinds;
    std::vector<GanttRow> rows;
};

std::string gantt_chart(const Gantt& chart);

// First lane of each bar of a row, in the order of its bars; a bar that finds no run of free lanes overlaps from 0.
std::vector<int> gantt_lanes(const GanttRow& row);

}  // namespace squall::draw
