// SPDX-License-Identifier: GPL-3.0-or-later
// A lease's changes of state, each written to the ledger and logged once, at the same time and in one place. Used by
// the parts of the lease daemon, in its one thread. Throws LedgerError.
#pragma once
#include <functional>
#include <string>

#include "src/core/ledger.h"

namespace squall::cloud {

std::string name_of(const Lease& lease);  // "c1/3"

class LeaseBook {
  public:
    // changed: called after each change, so that the planner looks again.
    LeaseBook(Ledger& ledger, std::string currency, std::function<void()> changed);

    Ledger& ledger() { return ledger_; }
    Seconds now() const { return now_; }
    void set_now(Seconds now) { now_ = now; }

    void add(Lease lease);
    void save(const Lease& lease) { ledger_.update_lease(lease); }
    void move(Lease& lease, LeaseState state, const std::string& why);
    // It is to end: from here on its instance is terminated and, with tell_slurm, its node given up.
    void end(Lease& lease, const std::string& reason, bool tell_slurm);
    // It is over: books what it cost.
    void close(Lease& lease);

    // Blocks for base_s, twice as long with each failure in a row; one that is in force stays as it is.
    void block(const std::string& key, Seconds base_s, const std::string& reason);
    void unblock(const std::string& key);

  private:
    Ledger& ledger_;
    std::string currency_;
    std::function<void()> changed_;
    Seconds now_ = 0;
};

}  // namespace squall::cloud
