// SPDX-License-Identifier: GPL-3.0-or-later
// Slurm's texts for generic resources: node GRES "gpu:v100:4(S:0-1),shard:v100:16", what a job holds on a node
// "gpu:v100:2(IDX:0-1)", what a job asks "gres:gpu:v100:2" or "gres/gpu:v100:2", totals "gres/gpu=2". Pure.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/core/units.h"

namespace squall::slurm {

struct Gres {
    std::string name;  // "gpu", "shard"
    std::string type;  // "v100" or empty
    int count = 1;
    std::vector<int> indices = {};    // (IDX:0,2-3); empty = not said
    std::vector<int> per_index = {};  // shards held on each GPU, "(2/4,0/4)"; empty = not said
    bool operator==(const Gres&) const = default;
};

// Never fails: a part that is no GRES is left out, "(null)" is none.
std::vector<Gres> parse_gres(std::string_view text);

// Sum of the counts of this name.
int count_of(const std::vector<Gres>& list, std::string_view name);

// "gres:gpu:v100:2"; prefix as Client::gres_prefix() says; type may be empty.
std::string format_gres(std::string_view prefix, std::string_view name, std::string_view type, int count);

// CPUs and memory [MB] of "cpu=4,mem=1.50G,node=2"; 0 where not said.
struct TresTotals {
    int cpus = 0;
    std::int64_t mem_mb = 0;
};
TresTotals parse_totals(std::string_view text);

}  // namespace squall::slurm
