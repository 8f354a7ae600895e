// SPDX-License-Identifier: GPL-3.0-or-later
// Jobs that may be stopped, moved and resized: how many GPUs does each get now? Plain data and one rule, "share":
// everybody the least first, in order of urgency, then whoever gains most per GPU grows. play() follows the rule until
// every job has ended and says what that costs; reallot() looks for a better first step than the rule's own. Pure.
#pragma once
#include <cstdint>
#include <vector>

namespace squall::sim {

// One size of a job on one pool.
struct Size {
    int pool = 0;
    int gpus = 1;
    double run_s = 0;   // all of the work on this many
    double cost_s = 0;  // money a second while it runs there
    int config = -1;    // the caller's
};

struct ElasticJob {
    double left = 1;         // share of the work
    double due_s = 0;        // from now; negative: late already
    double late_s_cost = 0;  // money a second late
    double miss_cost = 0;    // money once when late at all
    double wait_s_cost = 0;  // money for every second until it ends
    double restart_s = 0;    // lost when its size changes; also when it starts again
    int size_now = -1;       // it runs with this one of its sizes; -1: it does not run
    bool begun = false;
    std::vector<Size> sizes;  // by pool, then GPUs, ascending
};

struct ElasticProblem {
    std::vector<int> pool_gpus;  // how many each pool has; sizes in a pool divide each other, so that they always pack
    std::vector<ElasticJob> jobs;
};

// Which size each job gets; -1: it waits.
using Shares = std::vector<int>;

struct ShareRule {
    double lookahead = 2;  // urgency falls by e for this many mean run times of slack
    double growth = 1;     // worth of being faster against the money it costs
    double reserve = 0;    // share of each pool not given to growth
};

Shares share(const ElasticProblem& problem, const ShareRule& rule);

// What everything costs from now on when the rule is followed, the first step given or the rule's own.
double play(const ElasticProblem& problem, const ShareRule& rule, const Shares* first = nullptr);

struct ReallotOptions {
    std::int64_t plays = 400;  // at most
    std::uint64_t seed = 1;
};
// The best first step found.
Shares reallot(const ElasticProblem& problem, const ReallotOptions& options);

}  // namespace squall::sim
