// SPDX-License-Identifier: GPL-3.0-or-later
// Where could this job go? Looks at a handful of promising nodes per class and answers the spot that adds least
// cost. Reads a Schedule, changes nothing.
#pragma once
#include <optional>
#include <random>

#include "src/core/price_table.h"
#include "src/core/schedule.h"

namespace squall {

struct FindOptions {
    const PriceTable* prices = nullptr;  // look-ahead: what the capacity is worth to the jobs still to come
    double price_scale = 1.0;
    Seconds not_before = 0;  // epoch; with the release, the earliest start
    // Scores are raised by up to this share by chance, so that not always the same configuration wins. Needs `random`.
    double noise = 0;
    std::mt19937_64* random = nullptr;
};

struct Found {
    Spot spot;
    double score = 0;  // micro: what it adds, capacity prices included; the least is best
};

// The best spot of one configuration, or of all allowed ones; nullopt: none fits or may be paid for.
std::optional<Found> find_spot(const Schedule& schedule, int job, int config, const FindOptions& options);
std::optional<Found> find_best(const Schedule& schedule, int job, const FindOptions& options);

// Exactly this configuration, start and nodes again, if that still holds; spot gives config, start, nodes, gpu_index.
std::optional<Found> find_same(const Schedule& schedule, int job, const Spot& spot);

// May the job use this configuration at all (burst policy, data on site)?
bool config_allowed(const Schedule& schedule, int job, int config);

}  // namespace squall
