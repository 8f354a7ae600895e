// SPDX-License-Identifier: GPL-3.0-or-later
// Caps and budgets: see caps.h.
#include "cloud/caps.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace squall::cloud {
namespace {

bool launched(const Lease& lease) { return lease.state != LeaseState::wanted; }
bool ending(const Lease& lease) {
    return lease.state == LeaseState::draining || lease.state == LeaseState::terminating;
}

Admission check_count(const std::vector<Lease>& open, const std::vector<std::string>& classes, int limit,
                      const std::string& what) {
    int staying = 0, leaving = 0;
    for (const Lease& lease : open) {
        if (!launched(lease) || std::find(classes.begin(), classes.end(), lease.class_name) == classes.end()) continue;
        (ending(lease) ? leaving : staying)++;
    }
    if (limit <= 0 || staying + leaving < limit) return {};
    return {staying < limit ? Verdict::wait : Verdict::refuse,
            fmt::format("{} MaxNodes={}: {} leased, {} ending", what, limit, staying, leaving)};
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

Admission check_budget(Ledger& ledger, const Lease& lease, const std::vector<Lease>& open, Micro budget, Seconds since,
                       Seconds until, Seconds now, const char* key) {
    if (budget <= 0) return {};
    Micro spent = ledger.rent_since(since, now), committed = 0;
    for (const Lease& other : open)
        if (launched(other) && other.launched_at != 0 && !ending(other)) committed += still_to_come(other, now, until);
    Micro wanted = still_to_come(lease, now, until);
    if (spent + committed + wanted <= budget) return {};
    return {Verdict::refuse, fmt::format("{}={:.2f}: {:.2f} spent, {:.2f} committed, {:.2f} more wanted", key,
                                         budget / 1e6, spent / 1e6, committed / 1e6, wanted / 1e6)};
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

Admission admit(Ledger& ledger, const Lease& lease, const NodeClass& spec, const Conf& conf, Seconds now) {
    std::vector<Lease> open = ledger.open_leases();
    std::vector<Admission> checks;
    checks.push_back(check_count(open, {spec.name}, spec.max_nodes, "NodeClass=" + spec.name));
    for (const GroupConf& group : conf.groups)
        if (std::find(group.classes.begin(), group.classes.end(), spec.name) != group.classes.end())
            checks.push_back(check_count(open, group.classes, group.max_nodes, "CapacityGroup=" + group.name));
    checks.push_back(check_budget(ledger, lease, open, conf.budget_day_micro, day_start(now),
                                  local_start(now, false, 0, 1), now, "BudgetDay"));
    checks.push_back(check_budget(ledger, lease, open, conf.budget_month_micro, month_start(now),
                                  local_start(now, true, 1, 0), now, "BudgetMonth"));
    // A refusal weighs more than a wait.
    return *std::max_element(checks.begin(), checks.end(),
                             [](const Admission& a, const Admission& b) { return a.verdict < b.verdict; });
}

}  // namespace squall::cloud
