// SPDX-License-Identifier: GPL-3.0-or-later
#include "src/core/bound_columns.h"

#include <algorithm>
#include <cmath>

#include "src/core/billing.h"
#include "src/core/tariff.h"

namespace squall::bound_detail {
namespace {

// Least watts a GPU in use can add to a node's bill: the node shared by all its GPUs at the most economical number of
// busy ones, beside up to `foreign` GPUs that unmanaged jobs keep busy anyway.
double least_watts_per_gpu(const NodeClass& c, int foreign) {
    double best = -1;
    for (int before = 0; before <= foreign; ++before)
        for (int busy = before + 1; busy <= c.gpus; ++busy) {
            double share = (billed_watts(c, busy) - billed_watts(c, before)) / static_cast<double>(busy - before);
            if (best < 0 || share < best) best = share;
        }
    return std::max(0.0, best);
}

// Micro per GPU-second that a class costs at least.
double own_rate(const Snapshot& snapshot, int class_id, int foreign, Seconds from, Seconds to) {
    const auto& c = snapshot.classes[class_id];
    // Beside an unmanaged job a rented node is paid for already.
    if (c.rented) return foreign > 0 ? 0.0 : static_cast<double>(c.price_micro_h) / kHour / std::max(1, c.gpus);
    double tariff = static_cast<double>(least_tariff(c, from, to, snapshot.utc_offset_s));
    return least_watts_per_gpu(c, foreign) * tariff * c.pue_milli / 1e6 / kHour;  // W·micro/kWh·‰ → micro/s
}

// Adds `amount` per second over [start, end) to the buckets of one row.
void spread(std::vector<double>& row, const Grid& grid, Seconds start, Seconds end, double amount) {
    start = std::max(start, grid.origin) - grid.origin;
    end = std::min(end, grid.edge(grid.count)) - grid.origin;
    while (start < end) {
        Seconds b = start / grid.width_s;
        Seconds stop = std::min(end, (b + 1) * grid.width_s);
        row[b] += amount * static_cast<double>(stop - start);
        start = stop;
    }
}

double hold_gpus(const NodeClass& c, const Hold& hold) {
    return hold.gpus + (c.shards_per_gpu > 0 ? static_cast<double>(hold.shards) / c.shards_per_gpu : 0.0);
}

void fill_capacity(Relaxed& r, const Snapshot& snapshot) {
    for (const auto& node : snapshot.nodes) {
        Seconds from = node.state == NodeState::unavailable ? node.ready_at : snapshot.now;
        spread(r.capacity[node.class_id], r.grid, from, kForever, snapshot.classes[node.class_id].gpus);
    }
    for (const auto& hold : snapshot.holds) {
        if (hold.job >= 0 && snapshot.jobs[hold.job].checkpointable) continue;  // may be moved away
        int c = snapshot.nodes[hold.node].class_id;
        spread(r.capacity[c], r.grid, hold.start, hold.end, -hold_gpus(snapshot.classes[c], hold));
    }
    for (std::size_t c = 0; c < snapshot.classes.size(); ++c) {
        double cap = snapshot.classes[c].max_nodes > 0 ? static_cast<double>(snapshot.classes[c].max_nodes) *
                                                             snapshot.classes[c].gpus * r.grid.width_s
                                                       : INFINITY;
        for (double& free : r.capacity[c]) free = std::clamp(free, 0.0, cap);
    }
    for (std::size_t g = 0; g < snapshot.groups.size(); ++g)
        std::fill(r.capacity[snapshot.classes.size() + g].begin(), r.capacity[snapshot.classes.size() + g].end(),
                  static_cast<double>(snapshot.groups[g].max_nodes) * r.grid.width_s);
}

// When the first GPU of each class can be had: now, or after a boot where every node is down.
std::vector<Seconds> class_open_at(const Snapshot& snapshot) {
    std::vector<Seconds> open(snapshot.classes.size(), kForever);
    for (const auto& node : snapshot.nodes) {
        Seconds at = snapshot.now;
        if (node.state == NodeState::unavailable || node.state == NodeState::booting) at = std::max(at, node.ready_at);
        if (node.state == NodeState::powered_down) at += snapshot.classes[node.class_id].boot_s;
        open[node.class_id] = std::min(open[node.class_id], at);
    }
    return open;
}

bool allowed(const Job& job, const NodeClass& c) {
    return job.burst == Burst::automatic || c.rented == (job.burst == Burst::only);
}

RelaxedJob relax_job(const Snapshot& snapshot, const Job& job, const std::vector<Seconds>& open) {
    RelaxedJob out;
    out.late_per_s = static_cast<double>(job.late_micro_h) / kHour;
    if (job.due) out.due = *job.due;
    if (job.due && job.due_is_hard) out.hard_penalty = static_cast<double>(snapshot.hard_due_penalty_micro);
    for (int i = 0; i < static_cast<int>(job.configs.size()); ++i) {
        const auto& config = job.configs[i];
        const auto& c = snapshot.classes[config.class_id];
        if (!allowed(job, c) || open[config.class_id] >= kForever) continue;
        auto run_s = static_cast<Seconds>(static_cast<__int128>(config.run_s) * job.remaining_ppm / 1000000);
        out.columns.push_back({i, config.class_id, gpus_of(c, config), run_s + job.stage_in_s,
                               std::max({job.release, snapshot.now, open[config.class_id]})});
    }
    return out;
}

// Most GPUs that unmanaged jobs hold on one node of each class.
std::vector<int> foreign_gpus(const Snapshot& snapshot) {
    std::vector<double> on_node(snapshot.nodes.size(), 0);
    std::vector<int> most(snapshot.classes.size(), 0);
    for (const auto& hold : snapshot.holds) {
        if (hold.job >= 0) continue;
        int c = snapshot.nodes[hold.node].class_id;
        on_node[hold.node] += hold.gpus + (hold.shards > 0 ? 1 : 0);
        most[c] = std::max(most[c], std::min(snapshot.classes[c].gpus, static_cast<int>(on_node[hold.node])));
    }
    return most;
}

// A running job that stays: its lateness as expected, and its share of energy or rent at least.
double running_cost(const Relaxed& r, const Snapshot& snapshot, const Job& job) {
    const auto& config = job.configs[job.running->config];
    const auto& c = snapshot.classes[config.class_id];
    Seconds end = std::max(job.running->expected_end, snapshot.now);
    double late_s = job.due ? std::max<double>(0, static_cast<double>(end - *job.due)) : 0;
    double rate = *std::min_element(r.own_rate[config.class_id].begin(), r.own_rate[config.class_id].end());
    return late_s * static_cast<double>(job.late_micro_h) / kHour +
           gpus_of(c, config) * rate * static_cast<double>(end - snapshot.now);
}

// Rent that is owed already for time to come, since leases are billed by the step: using it costs nothing.
double paid_ahead(const Snapshot& snapshot) {
    double sum = 0;
    for (const auto& node : snapshot.nodes) {
        const auto& c = snapshot.classes[node.class_id];
        if (!c.rented || !node.leased_at) continue;
        Micro owed = lease_cost(c.price_micro_h, c.billing_step_s, c.billing_min_s, *node.leased_at, snapshot.now);
        sum += static_cast<double>(owed -
                                   cost_of_time(c.price_micro_h, std::max<Seconds>(0, snapshot.now - *node.leased_at)));
    }
    return sum;
}

Grid make_grid(const Snapshot& snapshot, int buckets, Seconds horizon) {
    Seconds longest = 1;
    for (const auto& job : snapshot.jobs)
        for (const auto& config : job.configs) longest = std::max(longest, config.run_s + job.stage_in_s);
    Seconds span = std::max(horizon - snapshot.now, longest);
    return {snapshot.now, (span + buckets - 1) / buckets, buckets};
}

}  // namespace

Relaxed relax(const Snapshot& snapshot, int buckets, Seconds horizon) {
    Relaxed r;
    r.grid = make_grid(snapshot, buckets, horizon);
    r.capacity.assign(snapshot.classes.size() + snapshot.groups.size(), std::vector<double>(r.grid.count, 0.0));
    fill_capacity(r, snapshot);
    auto foreign = foreign_gpus(snapshot);
    for (int c = 0; c < static_cast<int>(snapshot.classes.size()); ++c) {
        auto& rates = r.own_rate.emplace_back();
        for (int b = 0; b <= r.grid.count; ++b)
            rates.push_back(
                own_rate(snapshot, c, foreign[c], r.grid.edge(b), b < r.grid.count ? r.grid.edge(b + 1) : kForever));
        r.gpus_per_node.push_back(std::max(1, snapshot.classes[c].gpus));
    }
    r.groups_of.resize(snapshot.classes.size());
    for (std::size_t g = 0; g < snapshot.groups.size(); ++g)
        for (int c : snapshot.groups[g].class_ids)
            r.groups_of[c].push_back(static_cast<int>(snapshot.classes.size() + g));
    auto open = class_open_at(snapshot);
    r.constant = -paid_ahead(snapshot);
    for (int j = 0; j < static_cast<int>(snapshot.jobs.size()); ++j) {
        const auto& job = snapshot.jobs[j];
        if (job.running && !job.checkpointable) {
            r.constant += running_cost(r, snapshot, job);
            continue;
        }
        auto relaxed = relax_job(snapshot, job, open);
        relaxed.job = j;
        if (!relaxed.columns.empty()) r.jobs.push_back(std::move(relaxed));
    }
    return r;
}

std::vector<ChargedTime> charge(const Relaxed& r, const std::vector<std::vector<double>>& prices) {
    int count = r.grid.count;
    std::vector<ChargedTime> out(r.own_rate.size());
    for (std::size_t c = 0; c < out.size(); ++c) {
        out[c].rate = r.own_rate[c];
        for (int b = 0; b < count; ++b) {
            out[c].rate[b] += prices[c][b];
            for (int g : r.groups_of[c]) out[c].rate[b] += prices[g][b] / r.gpus_per_node[c];
        }
        // A run is never longer than the grid, so totals over twice its length answer every question.
        out[c].rate.resize(2 * count + 2, out[c].rate[count]);
        out[c].total.resize(2 * count + 2, 0.0);
        for (int b = 0; b + 1 < 2 * count + 2; ++b)
            out[c].total[b + 1] = out[c].total[b] + out[c].rate[b] * static_cast<double>(r.grid.width_s);
    }
    return out;
}

namespace {

double charged_until(const ChargedTime& t, const Grid& grid, Seconds at) {
    Seconds offset = at - grid.origin;
    auto b = std::min<Seconds>(offset / grid.width_s, static_cast<Seconds>(t.rate.size()) - 1);
    return t.total[b] + t.rate[b] * static_cast<double>(offset - b * grid.width_s);
}

double late_cost(const RelaxedJob& job, Seconds end) {
    return end <= job.due ? 0.0 : job.late_per_s * static_cast<double>(end - job.due) + job.hard_penalty;
}

double cost_at(const RelaxedJob& job, const Column& column, const Grid& grid, const ChargedTime& t, Seconds start) {
    double use = charged_until(t, grid, start + column.run_s) - charged_until(t, grid, start);
    return column.gpus * use + late_cost(job, start + column.run_s);
}

}  // namespace

Choice cheapest(const RelaxedJob& job, const Grid& grid, const std::vector<ChargedTime>& charged) {
    Choice best{0, 0, INFINITY};
    auto offer = [&](int column, Seconds start, double cost) {
        if (cost < best.cost) best = {column, start, cost};
    };
    for (int i = 0; i < static_cast<int>(job.columns.size()); ++i) {
        const auto& column = job.columns[i];
        const auto& t = charged[column.class_id];
        offer(i, column.earliest, cost_at(job, column, grid, t, column.earliest));
        Seconds on_time = job.due - column.run_s;
        if (on_time > column.earliest && job.due < kForever) offer(i, on_time, cost_at(job, column, grid, t, on_time));
        Seconds width = grid.width_s, whole = column.run_s / width, rest = column.run_s % width;
        // Starts at an edge: the end lies `rest` into bucket b + whole.
        for (Seconds b = (column.earliest - grid.origin + width - 1) / width; b <= grid.count; ++b) {
            double late = late_cost(job, grid.edge(static_cast<int>(b)) + column.run_s);
            if (late >= best.cost) break;  // lateness only grows from here
            double use = t.total[b + whole] + t.rate[b + whole] * static_cast<double>(rest) - t.total[b];
            offer(i, grid.edge(static_cast<int>(b)), column.gpus * use + late);
        }
        // Ends at an edge: the start lies `width - rest` into bucket e - whole - 1.
        if (rest == 0) continue;
        for (Seconds e = (column.earliest + column.run_s - grid.origin + width - 1) / width; e <= grid.count + whole;
             ++e) {
            double late = late_cost(job, grid.edge(static_cast<int>(e)));
            if (late >= best.cost) break;
            Seconds b = e - whole - 1;
            double use = t.total[e] - t.total[b] - t.rate[b] * static_cast<double>(width - rest);
            offer(i, grid.edge(static_cast<int>(e)) - column.run_s, column.gpus * use + late);
        }
    }
    return best;
}

void add_use(const Relaxed& r, const Column& column, Seconds start, std::vector<std::vector<double>>& use) {
    spread(use[column.class_id], r.grid, start, start + column.run_s, column.gpus);
    for (int g : r.groups_of[column.class_id])
        spread(use[g], r.grid, start, start + column.run_s, column.gpus / r.gpus_per_node[column.class_id]);
}

}  // namespace squall::bound_detail
