// SPDX-License-Identifier: GPL-3.0-or-later
// What a few quantities were over time: stacked areas (GPUs in use) or lines (rent so far), as steps. Long series are
// thinned to what a screen can show; the largest value of each step is kept.
#pragma once
#include <string>
#include <vector>

#include "src/draw/figure.h"
#include "src/draw/time_axis.h"

namespace squall::draw {

struct TimePoint {
    Seconds at;
    double value;  // from then on
};

struct TimeSeries {
    Key key;
    std::vector<TimePoint> points;  // by time
};

struct TimeChart {
    std::string title, note, unit;
    TimeAxis axis;
    std::vector<TimeSeries> series;
    bool stacked = false;
    double level = 0;  // a line across, such as the capacity; 0: none
    std::string level_name;
};

std::string time_chart(const TimeChart& chart);

}  // namespace squall::draw
