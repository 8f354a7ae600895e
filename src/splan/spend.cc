// SPDX-License-Identifier: GPL-3.0-or-later
// Sums over leases and outcomes: see spend.h.
#include "src/splan/spend.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <sstream>

#include "src/core/amount.h"
#include "src/splan/table.h"

namespace squall::splan {
namespace {

Seconds start_of(Seconds now, bool month, int months_later = 0) {
    time_t time = now;
    tm day{};
    localtime_r(&time, &day);
    day.tm_hour = day.tm_min = day.tm_sec = 0;
    day.tm_isdst = -1;
    if (month) day.tm_mday = 1;
    day.tm_mon += months_later;
    return mktime(&day);
}

std::string money(const View& view, Micro amount) { return format_amount(amount) + " " + view.currency; }

std::vector<std::string> jobs_of(const Lease& lease) {
    std::vector<std::string> jobs;
    std::istringstream in(lease.job_ids);
    for (std::string id; std::getline(in, id, ',');) jobs.push_back(id);
    return jobs;
}

struct Amounts {
    Micro today, month, total;
    Seconds node_s;
};

class Lines {
  public:
    void add(const char* by, const std::string& name, const Amounts& a, Micro part, Micro parts, bool first) {
        RentLine& line = lines_[{by, name}];
        line.by = by;
        line.name = name;
        line.today += a.today * part / parts;
        line.month += a.month * part / parts;
        line.total += a.total * part / parts;
        line.node_s += a.node_s * part / parts;
        line.leases += first;
    }
    std::vector<RentLine> take() const {
        std::vector<RentLine> all;
        for (const auto& [key, line] : lines_) all.push_back(line);
        return all;
    }

  private:
    std::map<std::pair<std::string, std::string>, RentLine> lines_;
};

void add_lease(const View& view, const Lease& lease, const Amounts& amounts, Lines& lines) {
    std::vector<std::string> jobs = jobs_of(lease);
    auto parts = static_cast<Micro>(jobs.size());
    std::map<std::string, Micro> by_account;
    for (const std::string& job : jobs) {
        auto account = view.account_of.find(static_cast<std::uint32_t>(std::atoll(job.c_str())));
        by_account[account == view.account_of.end() ? "" : account->second]++;
        lines.add("job", job, amounts, 1, parts, true);
    }
    for (const auto& [account, part] : by_account) lines.add("account", account, amounts, part, parts, true);
    if (jobs.empty()) lines.add("account", "", amounts, 1, 1, true);
    lines.add("offer", lease.offer.empty() ? lease.class_name : lease.offer, amounts, 1, 1, true);
}

// What an open lease adds to the month until its planned end.
Micro still_to_come(const View& view, const Lease& lease, Seconds month_end) {
    Seconds end = std::min(lease.planned_end, month_end);
    if (lease.launched_at == 0 || lease.released_at != 0 || end <= view.now) return 0;
    return std::max<Micro>(0, lease.rent_until(end) - lease.rent_until(view.now));
}

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == text.npos) return text;
    std::string out = "\"";
    for (char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
    return out + "\"";
}

std::string rent_table(const Spend& s) {
    std::string out = fmt::format("\n{:<8} {:<16} {:>10} {:>10} {:>10} {:>7} {:>10}\n", "RENT BY", "NAME", "TODAY",
                                  "MONTH", "TOTAL", "LEASES", "NODE HOURS");
    for (const auto& l : s.rent)
        out += fmt::format("{:<8} {:<16} {:>10} {:>10} {:>10} {:>7} {:>10.1f}\n", l.by,
                           l.name.empty() ? "-" : printable(l.name), format_amount(l.today), format_amount(l.month),
                           format_amount(l.total), l.leases, static_cast<double>(l.node_s) / kHour);
    return out;
}

}  // namespace

Spend make_spend(const View& view) {
    Spend s;
    Lines lines;
    Seconds today = start_of(view.now, false), month = start_of(view.now, true), next = start_of(view.now, true, 1);
    for (const auto& lease : view.leases) {
        Seconds end = lease.released_at != 0 ? lease.released_at : view.now;
        if (lease.launched_at != 0) {
            Amounts amounts{rent_of(lease, today, view.now), rent_of(lease, month, view.now),
                            rent_of(lease, 0, view.now), std::max<Seconds>(0, end - lease.launched_at)};
            s.rent_today += amounts.today;
            s.rent_month += amounts.month;
            s.forecast_month += amounts.month + (lease.open() ? still_to_come(view, lease, next) : 0);
            add_lease(view, lease, amounts, lines);
        }
        if (!lease.open()) continue;
        s.open.push_back(lease);
        if (lease.launched_at != 0) s.per_hour += lease.price_micro_h;
    }
    s.rent = lines.take();
    for (const auto& o : view.outcomes) {
        auto line =
            std::find_if(s.by_class.begin(), s.by_class.end(), [&](const auto& l) { return l.name == o.class_name; });
        if (line == s.by_class.end()) line = s.by_class.insert(s.by_class.end(), {o.class_name});
        line->rent += o.rent, line->energy += o.energy, line->late += o.late;
        ++line->jobs;
    }
    return s;
}

std::string spend_text(const View& view, const Spend& s) {
    auto out = fmt::format("rent today {} · this month {}, forecast {} · now {} an hour\n", money(view, s.rent_today),
                           money(view, s.rent_month), money(view, s.forecast_month), money(view, s.per_hour));
    out += fmt::format("\n{:<16} {:>5} {:>10} {:>10} {:>10}\n", "CLASS", "JOBS", "RENT", "ENERGY", "LATE");
    for (const auto& l : s.by_class)
        out += fmt::format("{:<16} {:>5} {:>10} {:>10} {:>10}\n", printable(l.name), l.jobs, format_amount(l.rent),
                           format_amount(l.energy), format_amount(l.late));
    if (!s.rent.empty()) out += rent_table(s);
    if (s.open.empty()) return out + "\nno lease is open\n";
    out += fmt::format("\n{:<12} {:>3} {:<12} {:<12} {:<8} {:>10} {:>10}\n", "NODE", "GEN", "STATE", "OFFER", "SINCE",
                       "PRICE/H", "SO FAR");
    for (const auto& l : s.open)
        out += fmt::format("{:<12} {:>3} {:<12} {:<12} {:<8} {:>10} {:>10}\n", printable(l.node), l.generation,
                           to_string(l.state), printable(l.offer.empty() ? l.class_name : l.offer),
                           l.launched_at ? format_clock(l.launched_at, view.now) : "-", format_amount(l.price_micro_h),
                           format_amount(rent_of(l, 0, view.now)));
    return out;
}

std::string spend_csv(const Spend& s) {
    std::string out = "by,name,today,month,total,leases,node_hours\n";
    auto exact = [](Micro amount) { return fmt::format("{}.{:06}", amount / 1000000, amount % 1000000); };
    for (const auto& l : s.rent)
        out += fmt::format("{},{},{},{},{},{},{:.3f}\n", l.by, csv_field(l.name), exact(l.today), exact(l.month),
                           exact(l.total), l.leases, static_cast<double>(l.node_s) / kHour);
    return out;
}

}  // namespace squall::splan
