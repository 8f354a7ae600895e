// SPDX-License-Identifier: GPL-3.0-or-later
// squalld's side of the ledger: what a cycle needs to know and what it records. A ledger that fails (full disk,
// read-only, damaged) is a condition, logged once: planning goes on with what is in memory, and it is opened again
// every half minute. Belongs to the main thread.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/core/ledger.h"
#include "src/core/log.h"
#include "src/slurm/reader.h"

namespace squall {

class Keeper {
  public:
    Keeper(std::string path, Conditions& conditions) : path_(std::move(path)), conditions_(conditions) {}

    // Leases, blocks, rent and the ends of the local day and month as of now; the shapes as asked.
    // squall.conf with what squall-cloudd has learned in place of its estimates.
    Conf with_facts(Conf conf);
    slurm::Knowledge knowledge(Seconds now);

    // Keeps the shape as asked, in the ledger and in memory. Every cycle for every job; known ones cost nothing.
    void remember(const slurm::JobView& view);
    // Slurm did not start it, or refused to: not planned before `until`.
    void wait_until(const slurm::JobKey& key, Seconds until) { not_before_[key] = until; }
    void forget_waits() { not_before_.clear(); }
    // Forgets what is in memory of jobs that are not in `alive`.
    void forget_others(const std::set<slurm::JobKey>& alive);

    void record(const DecisionRow& row);
    void record(const CycleRow& row);
    void record(const OutcomeRow& row);
    bool has_outcome(const slurm::JobKey& key) const { return outcomes_.count(key) > 0; }
    // The last decision that released this job.
    std::optional<DecisionRow> release_of(const slurm::JobKey& key);
    std::vector<Lease> leases();
    std::vector<OutcomeRow> outcomes();

  private:
    // Runs `work` with an open ledger; false when there is none or it failed.
    bool with_ledger(const std::function<void(Ledger&)>& work);
    void load();

    std::string path_;
    Conditions& conditions_;
    std::optional<Ledger> ledger_;
    Seconds retry_at_ = 0;
    bool loaded_ = false;
    std::map<slurm::JobKey, slurm::Original> originals_;
    std::set<slurm::JobKey> stored_;  // those of originals_ that are in the ledger
    std::map<slurm::JobKey, Seconds> not_before_;
    std::set<slurm::JobKey> outcomes_;
};

}  // namespace squall
