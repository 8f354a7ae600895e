// SPDX-License-Identifier: GPL-3.0-or-later
// Replays a workload under one policy on virtual time: arrivals, boots, true ends, leases that end, nodes that fail,
// spot nodes that vanish, launches that find no capacity. Everything that costs is charged here, whatever the policy
// thinks.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "src/sim/policy.h"
#include "src/sim/workload.h"

namespace squall::sim {

struct Faults {
    double node_mtbf_h = 0;  // local nodes break this often; 0 = never
    Seconds repair_s = 3600;
    double launch_failures = 0;  // share of launches that find no capacity; the class is dry for dry_s then
    Seconds dry_s = 600;
    std::uint64_t seed = 1;  // spot interruptions follow the class's own rate
};

struct EngineOptions {
    Faults faults;
    bool keep_segments = false;                        // for the Gantt chart
    std::function<void(int done, int jobs)> progress;  // may be empty
};

struct Segment {
    int job = 0, config = 0, first_node = 0;
    Seconds start = 0, end = 0;
};

struct TimePoint {
    Seconds at = 0;
    double local_gpus = 0, rented_gpus = 0;  // busy from here on
    int waiting = 0;
    Micro rent = 0;  // booked so far
};

struct Result {
    std::string policy;
    int jobs = 0, done = 0, with_due = 0, on_time = 0, unplaceable = 0, moves = 0, killed_by_faults = 0;
    Micro lateness_cost = 0, rent = 0, energy = 0, restart_cost = 0;
    Micro total() const { return lateness_cost + rent + energy + restart_cost; }
    double late_s = 0;  // sum
    double cloud_gpu_h = 0, gpu_h = 0;
    double mean_completion_h = 0;  // end − submit, of the jobs that ended
    Seconds start = 0, end = 0;
    std::vector<double> decision_s;
    std::vector<Seconds> lateness_s;  // end − due, by job with a due date; negative = early
    std::vector<Segment> segments;
    std::vector<TimePoint> timeline;            // thinned
    std::vector<std::string> unplaceable_jobs;  // the first few, with the reason
};

Result replay(const Workload& workload, const Snapshot& cluster, Policy& policy, const EngineOptions& options);

}  // namespace squall::sim
