// SPDX-License-Identifier: GPL-3.0-or-later
// Everything splan shows, as plain data: made by gather.cc, printed by the views. Amounts are micro-units, times epoch
// seconds; absent values are std::nullopt or empty.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/core/ledger.h"
#include "src/core/request.h"

namespace squall::splan {

struct ClassRow {
    std::string name, gpu_type;
    bool rented = false;
    int nodes = 0, up = 0, booting = 0, unavailable = 0;  // up: powered or leased
    int gpus = 0, gpus_used = 0, gpus_shared = 0;         // gpus: of nodes that are up, or could be
    Micro cost_micro_h = 0;                               // what it costs at this moment
};

struct JobLine {
    std::uint32_t id = 0;
    std::string name, user, account, partition;
    std::string slurm_state;  // PENDING …
    std::string state;        // Squall's word: parked, planned, released, running, late …, done
    std::string reason;       // Slurm's, while pending
    Request request;
    std::optional<Seconds> due, start, end;  // planned while pending, real once running or done
    std::string config, nodes, where;        // where: local, rented
    Micro cost = 0, late = 0, rent = 0, energy = 0;
    std::string why;
    Seconds submit_at = 0;
    bool finished = false;
    std::optional<Seconds> slack() const { return due && end ? std::optional(*due - *end) : std::nullopt; }
};

struct View {
    Seconds now = 0;
    std::string currency = "EUR";
    std::vector<ClassRow> classes;
    std::vector<JobLine> jobs;  // Squall's, by id
    int other_jobs = 0;         // running or pending, not Squall's
    bool has_ledger = false;
    std::string no_ledger_why;      // what to do about it
    std::optional<CycleRow> cycle;  // the last plan
    std::vector<OutcomeRow> outcomes;
    std::vector<Lease> leases;
    std::map<std::uint32_t, std::string> account_of;  // by job id, from the ledger
};

}  // namespace squall::splan
