// SPDX-License-Identifier: GPL-3.0-or-later
// squalld's side of the ledger: see keeper.h.
#include "src/squalld/keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace squall {
namespace {

constexpr Seconds kRetry = 30;

// Epoch of local midnight at the start of this day (days = 0), or of a later one; of the month with day = 1.
Seconds local_midnight(tm day, int add_days, int add_months) {
    day.tm_sec = day.tm_min = day.tm_hour = 0;
    day.tm_mday += add_days;
    day.tm_mon += add_months;
    day.tm_isdst = -1;
    return std::mktime(&day);
}

}  // namespace

bool Keeper::with_ledger(const std::function<void(Ledger&)>& work) {
    Seconds now = std::time(nullptr);
    if (!ledger_ && now < retry_at_) return false;
    try {
        if (!ledger_) {
            ledger_.emplace(Ledger::open(path_));
            load();
        }
        work(*ledger_);
        conditions_.clear("ledger", fmt::format("{}: the ledger works again", path_));
        return true;
    } catch (const LedgerError& error) {
        ledger_.reset();
        retry_at_ = now + kRetry;
        conditions_.raise("ledger", fmt::format("{}; planning goes on without it, costs and reasons are not recorded "
                                                "until it works",
                                                error.what()));
        return false;
    }
}

// Once: after that, memory is at least as new as the ledger.
void Keeper::load() {
    if (loaded_) return;
    for (const JobRow& row : ledger_->jobs()) {
        slurm::JobKey key{row.job_id, row.submit_at};
        auto original = slurm::original_from_json(row.asked);
        if (!original) continue;
        originals_.emplace(key, *original);
        stored_.insert(key);
    }
    for (const OutcomeRow& row : ledger_->outcomes()) outcomes_.insert({row.job_id, row.submit_at});
    loaded_ = true;
}

Conf Keeper::with_facts(Conf conf) {
    std::vector<ClassFact> facts;
    with_ledger([&](Ledger& ledger) { facts = ledger.class_facts(); });
    for (const ClassFact& fact : facts)
        for (NodeClassConf& line : conf.classes) {
            if (!line.spec.rented || line.spec.name != fact.class_name) continue;
            if (!fact.offer.empty()) {
                line.spec.price_micro_h = fact.price_micro_h;
                line.spec.interruptions_ppm_h = fact.interruptions_ppm_h;
            }
            if (fact.boot_s > 0) line.spec.boot_s = fact.boot_s;
        }
    return conf;
}

slurm::Knowledge Keeper::knowledge(Seconds now) {
    slurm::Knowledge known;
    std::time_t clock = now;
    tm today{};
    localtime_r(&clock, &today);
    tm first = today;
    first.tm_mday = 1;
    known.day_ends_at = local_midnight(today, 1, 0);
    known.month_ends_at = local_midnight(first, 0, 1);
    with_ledger([&](Ledger& ledger) {
        known.open_leases = ledger.open_leases();
        known.blocks = ledger.blocks(now);
        known.rent_today = ledger.rent_since(local_midnight(today, 0, 0), now);
        known.rent_this_month = ledger.rent_since(local_midnight(first, 0, 0), now);
    });
    known.originals = originals_;
    known.not_before = not_before_;
    return known;
}

void Keeper::remember(const slurm::JobView& view) {
    auto [at, fresh] = originals_.emplace(view.key, slurm::Original{view.original, view.asked_begin});
    if (view.changed_by_user) at->second.shape = view.original;
    if (stored_.count(view.key)) return;
    JobRow row{.job_id = view.key.first,
               .submit_at = view.key.second,
               .user = view.raw->user,
               .account = view.raw->account,
               .partition = view.original.partition,
               .name = view.raw->name,
               .request = format_words(view.comment.request),
               .asked = slurm::original_to_json(at->second)};
    if (with_ledger([&](Ledger& ledger) { ledger.put_job(row); })) stored_.insert(view.key);
}

void Keeper::forget_others(const std::set<slurm::JobKey>& alive) {
    auto gone = [&](const auto& entry) { return !alive.count(entry.first); };
    std::erase_if(originals_, gone);
    std::erase_if(not_before_, gone);
    std::erase_if(stored_, [&](const slurm::JobKey& key) { return !alive.count(key); });
    std::erase_if(outcomes_, [&](const slurm::JobKey& key) { return !alive.count(key); });
}

void Keeper::record(const DecisionRow& row) {
    with_ledger([&](Ledger& ledger) { ledger.put_decision(row); });
}

void Keeper::record(const CycleRow& row) {
    with_ledger([&](Ledger& ledger) { ledger.put_cycle(row); });
}

void Keeper::record(const OutcomeRow& row) {
    if (with_ledger([&](Ledger& ledger) { ledger.put_outcome(row); })) outcomes_.insert({row.job_id, row.submit_at});
}

std::optional<DecisionRow> Keeper::release_of(const slurm::JobKey& key) {
    std::optional<DecisionRow> found;
    with_ledger([&](Ledger& ledger) {
        for (DecisionRow& row : ledger.decisions(key.first))
            if (row.submit_at == key.second && row.state == "released") found = std::move(row);
    });
    return found;
}

std::vector<Lease> Keeper::leases() {
    std::vector<Lease> all;
    with_ledger([&](Ledger& ledger) { all = ledger.leases(); });
    return all;
}

std::vector<OutcomeRow> Keeper::outcomes() {
    std::vector<OutcomeRow> all;
    with_ledger([&](Ledger& ledger) { all = ledger.outcomes(); });
    return all;
}

}  // namespace squall
