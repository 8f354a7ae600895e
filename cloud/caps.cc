// SPDX-License-Identifier: GPL-3.0-or-later
// Caps and budgets: see caps.h.
#include "cloud/caps.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <functional>

#include "cloud/offers.h"

namespace squall::cloud {
namespace {

constexpr Seconds kJobRentS = 90 * kDay;  // how far back a job's own rent is looked for

bool launched(const Lease& lease) { return lease.state != LeaseState::wanted; }
bool ending(const Lease& lease) {
    return lease.state == LeaseState::draining || lease.state == LeaseState::terminating;
}

// Wanted for the same jobs, and so launched together with it or not at all.
std::vector<Lease> companions_of(const Lease& lease, const std::vector<Lease>& open) {
    std::vector<Lease> found;
    for (const Lease& other : open)
        if (other.id != lease.id && !launched(other) && !lease.job_ids.empty() && other.job_ids == lease.job_ids)
            found.push_back(other);
    return found;
}

// What a launch is measured against.
struct Wish {
    const Lease& lease;
    const std::vector<Lease>& open;
    std::vector<Lease> companions;
    Seconds now;
};

Admission check_count(const Wish& wish, const std::vector<std::string>& classes, int limit, const std::string& what) {
    int staying = 0, leaving = 0, more = 1;
    auto counts = [&](const Lease& lease) {
        return std::find(classes.begin(), classes.end(), lease.class_name) != classes.end();
    };
    for (const Lease& lease : wish.open)
        if (launched(lease) && counts(lease)) (ending(lease) ? leaving : staying)++;
    for (const Lease& lease : wish.companions) more += counts(lease);
    if (limit <= 0 || staying + leaving + more <= limit) return {};
    return {staying + more <= limit ? Verdict::wait : Verdict::refuse,
            fmt::format("{} MaxNodes={}: {} leased, {} ending{}", what, limit, staying, leaving,
                        more > 1 ? fmt::format(", {} wanted together", more) : "")};
}

// What `lease` will cost from now to `until`, beyond what it has cost so far.
Micro still_to_come(const Lease& lease, Seconds now, Seconds until) {
    Seconds from = lease.launched_at != 0 ? lease.launched_at : now;
    auto cost = [&](Seconds end) {
        return lease_cost(lease.price_micro_h, lease.billing_step_s, lease.billing_min_s, from, end);
    };
    Micro so_far = lease.launched_at != 0 ? cost(now) : 0;
    return std::max<Micro>(0, cost(std::max(now, std::min(lease.planned_end, until))) - so_far);
}

using Counts = std::function<bool(std::uint32_t job_id)>;

// The part of an amount that is for the jobs that count: nodes resumed for several jobs are shared equally.
Micro share(Micro amount, const Lease& lease, const Counts& counts) {
    if (!counts) return amount;
    std::vector<std::uint32_t> ids = job_ids_of(lease.job_ids);
    auto part = std::count_if(ids.begin(), ids.end(), counts);
    return ids.empty() ? 0 : amount * part / static_cast<Micro>(ids.size());
}

struct Budget {
    Micro most;
    Seconds since, until;
    std::string name;
    Counts counts{};  // empty: everything
};

Admission check_budget(Ledger& ledger, const Wish& wish, const Budget& budget) {
    if (budget.most <= 0) return {};
    Micro spent = 0, committed = 0,
          wanted = share(still_to_come(wish.lease, wish.now, budget.until), wish.lease, budget.counts);
    for (const Lease& lease : ledger.leases_since(budget.since))
        spent += share(rent_of(lease, budget.since, wish.now), lease, budget.counts);
    for (const Lease& other : wish.open)
        if (launched(other) && other.launched_at != 0 && !ending(other))
            committed += share(still_to_come(other, wish.now, budget.until), other, budget.counts);
    for (Lease other : wish.companions) {
        other.price_micro_h = wish.lease.price_micro_h;  // the offer it is going to have
        wanted += share(still_to_come(other, wish.now, budget.until), other, budget.counts);
    }
    if (spent + committed + wanted <= budget.most) return {};
    auto money = [](Micro amount) { return static_cast<double>(amount) / 1e6; };
    return {Verdict::refuse, fmt::format("{}={:.2f}: {:.2f} spent, {:.2f} committed, {:.2f} more wanted", budget.name,
                                         money(budget.most), money(spent), money(committed), money(wanted))};
}

Seconds local_start(Seconds now, bool of_month, int months_later, int days_later) {
    std::time_t time = now;
    std::tm local{};
    localtime_r(&time, &local);
    local.tm_hour = local.tm_min = local.tm_sec = 0;
    local.tm_isdst = -1;
    local.tm_mday = of_month ? 1 : local.tm_mday + days_later;
    local.tm_mon += months_later;
    return std::mktime(&local);
}

}  // namespace

Seconds day_start(Seconds now) { return local_start(now, false, 0, 0); }
Seconds month_start(Seconds now) { return local_start(now, true, 0, 0); }

namespace {

// The site's, its accounts' and each job's.
std::vector<Budget> budgets_for(Ledger& ledger, const Lease& lease, const Conf& conf, Seconds now) {
    Seconds day = day_start(now), day_end = local_start(now, false, 0, 1), month = month_start(now),
            month_end = local_start(now, true, 1, 0);
    std::vector<Budget> all = {{conf.budget_day_micro, day, day_end, "BudgetDay"},
                               {conf.budget_month_micro, month, month_end, "BudgetMonth"}};
    for (std::uint32_t id : job_ids_of(lease.job_ids)) {
        all.push_back({conf.budget_job_micro, now - kJobRentS, kForever, fmt::format("job {}: BudgetJob", id),
                       [id](std::uint32_t other) { return other == id; }});
        std::string name = ledger.account_of(id);
        for (const AccountConf& account : conf.accounts) {
            if (account.name != name) continue;
            Counts counts = [&ledger, name](std::uint32_t other) { return ledger.account_of(other) == name; };
            all.push_back({account.budget_day_micro, day, day_end, "Account=" + name + " BudgetDay", counts});
            all.push_back({account.budget_month_micro, month, month_end, "Account=" + name + " BudgetMonth", counts});
        }
    }
    return all;
}

}  // namespace

Admission admit(Ledger& ledger, const Lease& lease, const NodeClass& spec, const Conf& conf, Seconds now) {
    std::vector<Lease> open = ledger.open_leases();
    Wish wish{lease, open, companions_of(lease, open), now};
    std::vector<Admission> checks;
    checks.push_back(check_count(wish, {spec.name}, spec.max_nodes, "NodeClass=" + spec.name));
    for (const GroupConf& group : conf.groups)
        if (std::find(group.classes.begin(), group.classes.end(), spec.name) != group.classes.end())
            checks.push_back(check_count(wish, group.classes, group.max_nodes, "CapacityGroup=" + group.name));
    for (const Budget& budget : budgets_for(ledger, lease, conf, now))
        checks.push_back(check_budget(ledger, wish, budget));
    // A refusal weighs more than a wait.
    return *std::max_element(checks.begin(), checks.end(),
                             [](const Admission& a, const Admission& b) { return a.verdict < b.verdict; });
}

}  // namespace squall::cloud
