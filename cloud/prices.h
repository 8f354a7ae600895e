// SPDX-License-Identifier: GPL-3.0-or-later
// Price books: JSON files PriceDir/*.json, one a provider, each with its date and its source. They price the offers of
// squall.conf that name no Price=. Read with the configuration. Pure but for reading files.
//
//   {"provider": "ec2", "currency": "USD", "date": "2026-12-01", "source": "…",
//    "prices": {"REGION": {"TYPE": {"on_demand": 6.88, "spot": 2.1}}}}
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/core/units.h"

namespace squall::cloud {

struct PriceQuote {
    std::optional<Micro> price_micro_h;
    std::string error;  // without a price: which book was looked into and what it lacks
};

class PriceBooks {
  public:
    // A folder that does not exist holds no books.
    static PriceBooks read(const std::string& folder, const std::string& currency);
    PriceQuote quote(const std::string& provider, const std::string& region, const std::string& type, bool spot) const;
    // Books that cannot be used and entries that are wrong; everything else stays good.
    const std::vector<std::string>& errors() const { return errors_; }

  private:
    void read_book(const std::string& path, const std::string& currency);
    std::map<std::string, Micro> prices_;         // "PROVIDER REGION TYPE MARKET"
    std::map<std::string, std::string> path_of_;  // by provider
    std::vector<std::string> errors_;
    std::string folder_;
};

}  // namespace squall::cloud
