// SPDX-License-Identifier: GPL-3.0-or-later
// A rule that decides who runs where. One class a file in src/sim/policies; the engine calls decide() whenever
// something has happened. A policy keeps what it needs between decisions itself, and one object replays one workload.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "src/core/hedge.h"
#include "src/core/planner.h"
#include "src/sim/control.h"
#include "src/sim/policies/elastic.h"

namespace squall::sim {

struct PolicyOptions {
    PlanOptions plan;          // squall: work and time of one decision
    HedgeOptions hedge;        // squall: what it plans with where run times are not known
    double decision_s = 0.2;   // squall: wall clock of one decision
    double wait_limits = 0.5;  // wait-then-burst: waits this many of its run times at most
    Seconds quantum_s = 1800;  // las: how often it looks again
    ElasticOptions elastic;    // squall: jobs that can be resized
};

class Policy {
  public:
    virtual ~Policy() = default;
    virtual void decide(Control& control) = 0;
};

// nullptr: no such policy.
std::unique_ptr<Policy> make_policy(const std::string& name, const PolicyOptions& options);
const std::vector<std::string>& policy_names();

// One a file.
std::unique_ptr<Policy> make_fifo(const PolicyOptions&);
std::unique_ptr<Policy> make_edf(const PolicyOptions&);
std::unique_ptr<Policy> make_priority(const PolicyOptions&);
std::unique_ptr<Policy> make_easy(const PolicyOptions&);
std::unique_ptr<Policy> make_las(const PolicyOptions&);
std::unique_ptr<Policy> make_greedy(const PolicyOptions&);
std::unique_ptr<Policy> make_local_search(const PolicyOptions&);
std::unique_ptr<Policy> make_squall(const PolicyOptions&);
std::unique_ptr<Policy> make_never_burst(const PolicyOptions&);
std::unique_ptr<Policy> make_burst_at_once(const PolicyOptions&);
std::unique_ptr<Policy> make_wait_then_burst(const PolicyOptions&);

}  // namespace squall::sim
