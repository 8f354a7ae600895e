// SPDX-License-Identifier: GPL-3.0-or-later
// The shape of a job's request: read from Slurm as an AskedShape, molded to the configuration the plan chose, kept as
// JSON in the ledger so that it can be put back. Pure. Called by the reader and the applier.
//
// What an update of a pending job can do with GRES was tried on real Slurm (doc/design.md): tres_per_job, _task and
// _socket are emptied beside the new tres_per_node; a typed request stays typed with the same type and an untyped one
// untyped, since the other way round Slurm answers "with and without type identification"; gpu never becomes shard.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "src/core/configs.h"
#include "src/slurm/client.h"

namespace squall::slurm {

// job.shape must be the shape as asked (not one Squall changed). rigid is set where anything is asked that other
// shapes could break.
AskedShape read_asked(const RawJob& job, const JobShape& original, bool memory_is_consumable);

// Where the plan puts the job.
struct Target {
    const Config* config = nullptr;
    const NodeClass* node_class = nullptr;
    std::vector<std::string> nodes;
    std::string partition;
    bool pin_nodes = true;  // false: Slurm chooses among the nodes the user's own words allow
};
JobShape mold(const JobShape& original, const AskedShape& asked, const Target& target, const std::string& gres_prefix);

// What Slurm had before Squall changed anything: JobRow::asked.
struct Original {
    JobShape shape;
    std::optional<Seconds> begin_at;  // the user's own --begin
    bool operator==(const Original&) const = default;
};
std::string original_to_json(const Original& original);
// nullopt: not such a text.
std::optional<Original> original_from_json(const std::string& text);

}  // namespace squall::slurm
