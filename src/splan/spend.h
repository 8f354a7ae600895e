// SPDX-License-Identifier: GPL-3.0-or-later
// What was spent: --spend as text and CSV, and the numbers behind them. Rent comes from the leases as billed so far; of
// a node that was resumed for several jobs each has an equal part. Pure, from a View.
#pragma once
#include <string>
#include <vector>

#include "src/splan/view.h"

namespace squall::splan {

struct RentLine {
    const char* by = "";  // account, job, offer
    std::string name;
    Micro today = 0, month = 0, total = 0;
    int leases = 0;
    Seconds node_s = 0;  // rented node time; a part of it where a node is shared
};

struct Spend {
    struct Line {
        std::string name;
        Micro rent = 0, energy = 0, late = 0;
        int jobs = 0;
    };
    Micro rent_today = 0, rent_month = 0;  // of the local day and month, as billed so far
    Micro per_hour = 0;                    // open leases
    Micro forecast_month = 0;              // rent_month and what open leases are planned to add to it
    std::vector<Line> by_class;            // finished jobs
    std::vector<RentLine> rent;            // by account, job and offer, each by name
    std::vector<Lease> open;
};
Spend make_spend(const View& view);
std::string spend_text(const View& view, const Spend& spend);
// RFC 4180, a header line, one line a RentLine; amounts with six decimals.
std::string spend_csv(const Spend& spend);

}  // namespace squall::splan
