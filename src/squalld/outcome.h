// SPDX-License-Identifier: GPL-3.0-or-later
// What became of a finished job, priced with the plan's own rules from its real start and end. Pure. Called by squalld
// for each finished job that Slurm still shows and the ledger does not know.
#pragma once
#include <optional>
#include <vector>

#include "src/core/conf.h"
#include "src/core/ledger.h"
#include "src/slurm/reader.h"

namespace squall {

struct OutcomeInput {
    const slurm::JobView& view;  // finished
    const Conf& conf;
    const Snapshot& snapshot;            // of this cycle: classes and nodes
    std::optional<DecisionRow> release;  // the decision that started it
    std::vector<Lease> leases;           // all: rent is shared along them
    std::vector<OutcomeRow> earlier;     // outcomes recorded before this one
};

// nullopt: it never ran (cancelled while pending), or on nodes Squall does not know: nothing to price.
//   late    its own due date and weight, at the real end
//   energy  local: the draw its GPUs add to a node that runs nothing else, over the real run
//   rent    rented: the lease from where the last job on it had paid up to (launch, for the first) to this one's end
//   and
//           the idle time until release, so that the outcomes of one lease add up to its cost
std::optional<OutcomeRow> price_outcome(const OutcomeInput& input);

}  // namespace squall
