// SPDX-License-Identifier: GPL-3.0-or-later
// The relaxed problem behind the Lagrangian bound: a time grid, capacity in GPU-seconds a bucket, and for
// each job its cheapest column (configuration, start) under given prices. Used by bound.cc only.
#pragma once
#include <vector>

#include "src/core/model.h"

namespace squall::bound_detail {

// Buckets [origin + b·width, origin + (b+1)·width), b = 0 … count-1, then one endless bucket.
struct Grid {
    Seconds origin = 0;
    Seconds width_s = 1;
    int count = 1;
    Seconds edge(int b) const { return origin + b * width_s; }
};

// One way to run one job, relaxed: no boot, node cost shared per GPU at the node's best rate.
struct Column {
    int config;  // index into Job::configs
    int class_id;
    double gpus;       // whole-GPU equivalents over all nodes (a shard is 1/shards_per_gpu)
    Seconds run_s;     // remaining, stage-in included
    Seconds earliest;  // epoch
};

struct RelaxedJob {
    int job = 0;  // index into Snapshot::jobs
    std::vector<Column> columns;
    Seconds due = kForever;
    double late_per_s = 0;    // micro
    double hard_penalty = 0;  // micro, once late
};

struct Relaxed {
    Grid grid;
    std::vector<RelaxedJob> jobs;
    double constant = 0;  // of running jobs that stay where they are; less rent already paid for time to come
    // [row][bucket]: rows are classes, then groups. capacity in GPU-seconds (groups: node-seconds).
    std::vector<std::vector<double>> capacity;
    std::vector<std::vector<double>>
        own_rate;                       // [class][bucket, +1 endless]: micro per GPU-second, rent or energy at least
    std::vector<double> gpus_per_node;  // by class
    std::vector<std::vector<int>> groups_of;  // by class: rows of its groups
};

Relaxed relax(const Snapshot& snapshot, int buckets, Seconds horizon);

struct Choice {
    int column = 0;
    Seconds start = 0;
    double cost = 0;  // micro, prices included
};

// Integral of (own rate + prices) over time, one per class: total[b] = cost of a GPU from origin to edge(b).
struct ChargedTime {
    std::vector<double> rate;   // micro per GPU-second, count + 1 entries
    std::vector<double> total;  // count + 1 entries
};
std::vector<ChargedTime> charge(const Relaxed& relaxed, const std::vector<std::vector<double>>& prices);

// The cheapest column of a job; exact over continuous starts, since the cost is piecewise linear in the start and
// every breakpoint is tried.
Choice cheapest(const RelaxedJob& job, const Grid& grid, const std::vector<ChargedTime>& charged);

// Adds the choice's use to use[row][bucket].
void add_use(const Relaxed& relaxed, const Column& column, Seconds start, std::vector<std::vector<double>>& use);

}  // namespace squall::bound_detail
