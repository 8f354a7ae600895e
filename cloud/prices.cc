// SPDX-License-Identifier: GPL-3.0-or-later
// Reading price books: see prices.h.
#include "cloud/prices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "src/core/json.h"

namespace squall::cloud {
namespace {

namespace fs = std::filesystem;

constexpr double kDearest = 1e6;  // an hour; beyond it somebody slipped

std::string key_of(const std::string& provider, const std::string& region, const std::string& type,
                   const std::string& market) {
    return provider + " " + region + " " + type + " " + market;
}

}  // namespace

PriceBooks PriceBooks::read(const std::string& folder, const std::string& currency) {
    PriceBooks books;
    books.folder_ = folder;
    std::error_code ignored;
    std::vector<std::string> paths;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
        if (entry.path().extension() == ".json") paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) books.read_book(path, currency);
    return books;
}

void PriceBooks::read_book(const std::string& path, const std::string& currency) {
    std::string error;
    Json book = json_read(path, &error);
    if (!book) return errors_.push_back(error);
    std::string provider = json_text(book.get(), "provider");
    for (const char* needed : {"provider", "currency", "date", "source"})
        if (json_text(book.get(), needed).empty())
            return errors_.push_back(fmt::format("{}: \"{}\" is missing; the book is not used", path, needed));
    if (std::string written = json_text(book.get(), "currency"); written != currency)
        return errors_.push_back(fmt::format("{}: \"currency\" is {}, Currency={}; the book is not used: convert it",
                                             path, written, currency));
    if (!path_of_.emplace(provider, path).second)
        return errors_.push_back(fmt::format("{}: a second book for {}; the book is not used", path, provider));
    const char *region = nullptr, *type = nullptr, *market = nullptr;
    json_t *types = nullptr, *markets = nullptr, *price = nullptr;
    json_object_foreach(json_object_get(book.get(), "prices"), region, types) {
        json_object_foreach(types, type, markets) {
            json_object_foreach(markets, market, price) {
                double value = json_is_number(price) ? json_number_value(price) : -1;
                bool known = std::string(market) == "on_demand" || std::string(market) == "spot";
                if (known && value >= 0 && value <= kDearest)
                    prices_[key_of(provider, region, type, market)] = std::llround(value * 1e6);
                else
                    errors_.push_back(fmt::format("{}: prices/{}/{}/{}: {}; that entry is not used", path, region, type,
                                                  market,
                                                  known ? "not a price" : "neither \"on_demand\" nor \"spot\""));
            }
        }
    }
}

PriceQuote PriceBooks::quote(const std::string& provider, const std::string& region, const std::string& type,
                             bool spot) const {
    const char* market = spot ? "spot" : "on_demand";
    if (auto at = prices_.find(key_of(provider, region, type, market)); at != prices_.end()) return {at->second, ""};
    auto book = path_of_.find(provider);
    if (book == path_of_.end())
        return {std::nullopt, fmt::format("no Price=, and no price book for {} in {}", provider, folder_)};
    return {std::nullopt,
            fmt::format("no Price=, and {} has no {} price of {} in {}", book->second, market, type, region)};
}

}  // namespace squall::cloud
