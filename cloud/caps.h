// SPDX-License-Identifier: GPL-3.0-or-later
// What limits new launches: nodes of a class, capacity groups, the day's and the month's budget. Running leases are
// never touched. Called inside the transaction that writes the launch, so nothing comes between look and leap.
#pragma once
#include <string>
#include <vector>

#include "src/core/conf.h"
#include "src/core/ledger.h"

namespace squall::cloud {

enum class Verdict { go, wait, refuse };

struct Admission {
    Verdict verdict = Verdict::go;
    std::string reason;  // of wait and refuse, with the numbers
};

// The lease's companions (wanted for the same jobs) must fit together with it: several nodes are had all or none.
// wait: there will be room when leases that are ending have ended. A budget counts what has been booked, what running
// leases cost so far, and for every lease the rest of its planned time (Lease::planned_end).
Admission admit(Ledger& ledger, const Lease& lease, const NodeClass& spec, const Conf& conf, Seconds now);

// Begin of the local day and month that `now` is in.
Seconds day_start(Seconds now);
Seconds month_start(Seconds now);

}  // namespace squall::cloud
