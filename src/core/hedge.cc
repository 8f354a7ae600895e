// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/hedge.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace squall {
namespace {

// Standard normal quantiles of 50, 60, … 90 %.
constexpr std::array<double, 5> kNormal{0, 0.25335, 0.52440, 0.84162, 1.28155};

// Money for an hour of one GPU: rent, or what it draws at full load at the dearest tariff.
double gpu_hour(const NodeClass& c) {
    double gpus = std::max(1, c.gpus);
    if (c.rented) return static_cast<double>(c.price_micro_h) / gpus;
    if (c.busy_watts.empty() || c.tariff.empty()) return 0;
    Micro price = 0;
    for (const auto& step : c.tariff) price = std::max(price, step.price_micro_kwh);
    return c.busy_watts.back() / gpus / 1000.0 * c.pue_milli / 1000.0 * static_cast<double>(price);
}

}  // namespace

int quantile_for(double late_per_h, double early_per_h) {
    if (late_per_h <= 0) return 50;
    double share = late_per_h / (late_per_h + std::max(0.0, early_per_h));
    return std::clamp(static_cast<int>(share * 10) * 10, 50, kHighPct);
}

Seconds run_at(const Config& config, int quantile_pct) {
    if (config.run_s <= 0 || config.run_high_s <= config.run_s) return config.run_s;
    double step = std::clamp((quantile_pct - 50) / 10.0, 0.0, 4.0);
    auto below = std::min<std::size_t>(static_cast<std::size_t>(step), 3);
    double z = kNormal[below] + (step - static_cast<double>(below)) * (kNormal[below + 1] - kNormal[below]);
    double ratio = static_cast<double>(config.run_high_s) / static_cast<double>(config.run_s);
    return std::llround(static_cast<double>(config.run_s) * std::pow(ratio, z / kNormal.back()));
}

Micro aged_weight(const Job& job, Seconds now, const HedgeOptions& options) {
    if (options.aging_s <= 0) return job.late_micro_h;
    // Without a weight of its own a job counts from when it has waited for aging_s.
    bool weightless = !job.due || job.late_micro_h <= 0;
    Seconds from = weightless ? job.release + options.aging_s : *job.due;
    Micro weight = weightless ? options.least_micro_h : job.late_micro_h;
    if (now <= from) return job.late_micro_h;
    double times = static_cast<double>(now - from) / static_cast<double>(options.aging_s) + 1;
    return std::max(job.late_micro_h, static_cast<Micro>(std::min(1e15, static_cast<double>(weight) * times)));
}

void hedge(Snapshot& snapshot, const HedgeOptions& options) {
    for (auto& job : snapshot.jobs) {
        if (job.running) continue;
        for (auto& config : job.configs) {
            const auto& own = snapshot.classes[static_cast<std::size_t>(config.class_id)];
            double late = job.due ? static_cast<double>(job.late_micro_h) : 0;
            int quantile = options.quantile_pct > 0 ? options.quantile_pct
                                                    : quantile_for(late, gpus_of(own, config) * gpu_hour(own));
            config.run_s = run_at(config, quantile);
        }
        Micro weight = aged_weight(job, snapshot.now, options);
        if (weight == job.late_micro_h) continue;
        if (!job.due) job.due = snapshot.now;
        job.late_micro_h = weight;
    }
}

}  // namespace squall
