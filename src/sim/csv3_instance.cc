// SPDX-License-Identifier: GPL-3.0-or-later
// Measured epoch times of AlexNet on K80 and M60 GPUs, and on-demand prices, as published. Between two measured numbers
// of GPUs times are linear.
#include "src/sim/csv3_instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <vector>

#include "src/sim/python_random.h"

namespace squall::sim {
namespace {

using Four = std::array<double, 4>;  // on 1, 2, 4 and 8 GPUs
constexpr std::array<int, 4> kCounts = {1, 2, 4, 8};
constexpr std::array<int, 4> kEpochs = {500, 1000, 1500, 2000};

struct Batch {
    int size;
    Four k80, m60;  // seconds an epoch
};
constexpr std::array<Batch, 4> kBatches = {{{128, {169.6, 168.0, 155.9, 127.1}, {170.3, 166.3, 159.8, 142.7}},
                                            {256, {164.0, 159.1, 139.1, 94.2}, {168.7, 160.6, 147.3, 117.8}},
                                            {512, {161.2, 154.6, 130.8, 77.7}, {168.5, 158.0, 141.0, 105.3}},
                                            {1024, {159.9, 152.5, 126.7, 69.5}, {168.7, 156.9, 137.9, 99.0}}}};
constexpr std::array<const char*, 4> kPriceK80 = {"0.56", "1.13", "2.25", "4.48"};
constexpr std::array<const char*, 4> kPriceM60 = {"0.62", "1.24", "2.48", "4.96"};

struct Run {
    std::string gpu, price;
    int used, machine_gpus;
    double seconds;
};

double epoch_time(const Four& times, int used) {
    std::size_t high = 0;
    while (kCounts[high] < used) ++high;
    if (kCounts[high] == used) return times[high];
    double share = static_cast<double>(used - kCounts[high - 1]) / (kCounts[high] - kCounts[high - 1]);
    return times[high - 1] + share * (times[high] - times[high - 1]);
}

std::vector<Run> runs_of(const Batch& batch, int epochs) {
    std::vector<Run> runs;
    for (bool k80 : {true, false})
        for (std::size_t m = 0; m < kCounts.size(); ++m)
            for (int used = 1; used <= kCounts[m]; ++used)
                runs.push_back({k80 ? "K80" : "M60", k80 ? kPriceK80[m] : kPriceM60[m], used, kCounts[m],
                                epoch_time(k80 ? batch.k80 : batch.m60, used) * epochs});
    return runs;
}

struct Drawn {
    int batch, epochs;
    std::vector<Run> runs;
};

double mean_gap(const Csv3Options& options, const std::vector<Drawn>& jobs, int index) {
    double sum = 0;
    for (const auto& job : jobs) {
        double least = INFINITY;
        for (const auto& run : job.runs)
            if (run.used == 1) least = std::min(least, run.seconds);
        sum += least;
    }
    double high = sum / static_cast<double>(jobs.size()) / (options.nodes * 8);
    if (options.load == "low") return high * 4;
    return options.load == "mixed" && (index / 10) % 2 != 0 ? high * 4 : high;
}

}  // namespace

std::string write_csv3(const std::string& folder, const Csv3Options& options) {
    PythonRandom random(options.seed);
    std::vector<Drawn> drawn;
    int count = options.jobs > 0 ? options.jobs : 10 * options.nodes;
    for (int i = 0; i < count; ++i) {
        const auto& batch = kBatches[random.below(4)];
        int epochs = kEpochs[random.below(4)];
        drawn.push_back({batch.size, epochs, runs_of(batch, epochs)});
    }
    std::ofstream jobs(folder + "/Lof_Selectjobs.csv"), times(folder + "/SelectJobs_times.csv");
    jobs << "Application,Images,Epochs,Batchsize,Jobs,UniqueJobsID,SubmissionTime,Deadline,Tardinessweight,MinExecTime,"
            "MaxExecTime\n";
    times << "UniqueJobsID,VMtype,GPUtype,nGPUs,max_nGPUs,cost,ExecutionTime\n";
    double at = 0;
    for (int i = 0; i < count; ++i) {
        const auto& job = drawn[i];
        auto less = [](const Run& a, const Run& b) { return a.seconds < b.seconds; };
        double fast = std::min_element(job.runs.begin(), job.runs.end(), less)->seconds;
        double slow = std::max_element(job.runs.begin(), job.runs.end(), less)->seconds;
        double due = at + random.uniform(fast, std::min(3 * fast, slow));
        double weight = 2 * random.uniform(0.0015, 0.0075);
        jobs << fmt::format("alexnet,0,{},{},J{}e{},JJ{},{:.3f},{:.3f},{:.6f},{:.3f},{:.3f}\n", job.epochs, job.batch,
                            job.batch, job.epochs, i + 1, at, due, weight, fast, slow);
        for (const auto& run : job.runs)
            times << fmt::format("JJ{},{}x{},{},{},{},{},{:.3f}\n", i + 1, run.gpu, run.machine_gpus, run.gpu, run.used,
                                 run.machine_gpus, run.price, run.seconds);
        at += random.expovariate(1 / mean_gap(options, drawn, i));
    }
    std::ofstream nodes(folder + "/tNodes.csv");
    nodes << "Nodes\n";
    for (int n = 1; n <= options.nodes; ++n) nodes << "n" << n << "\n";
    for (auto* file : {&jobs, &times, &nodes}) {
        file->close();
        if (!*file) return folder + ": the instance cannot be written there";
    }
    return "";
}

}  // namespace squall::sim
