// SPDX-License-Identifier: GPL-3.0-or-later
// List scheduling at search speed. A Shop is the nodes that compete for each other: one class, or the classes of one
// capacity group. Jobs are appended one after the other, each where it ends cheapest after all that came before, so
// that a plan is a sequence of jobs with a configuration each (Sequence, sequence.h). Every node is a row of times at
// which its GPUs are free for good: no gaps are kept, since the sequence itself decides who goes first.
// Costs are doubles in micro: what they steer is priced again, exactly, on a Schedule.
#pragma once
#include <cstdint>
#include <vector>

#include "src/core/schedule.h"

namespace squall {

using Tick = std::int32_t;  // seconds from Snapshot::now
inline constexpr Tick kNever = INT32_MAX / 4;

// What list scheduling needs of a job and of one of its configurations.
struct ShopConfig {
    int config = 0;  // index into Job::configs
    int shop = 0, floor = 0;
    int first = 0, pools = 1;  // where in ShopJob::configs this configuration stands for each pool of its class
    int nodes = 1, gpus = 0, shards = 0, cpus = 0;
    std::int64_t mem_mb = 0;
    Tick run_s = 0;
    double least = 0;  // micro: no plan runs it cheaper
};

struct ShopJob {
    int job = 0;  // index into Snapshot::jobs
    Tick ready = 0, due = kNever;
    double late_per_s = 0, hard_penalty = 0;  // micro
    std::vector<ShopConfig> configs;          // what it may use
    double late_cost(Tick end) const {
        return end <= due ? 0 : late_per_s * static_cast<double>(end - due) + hard_penalty;
    }
};

// The unchanging side of one class.
struct FloorFacts {
    FloorFacts(const Snapshot& snapshot, int index) : facts(snapshot, index), class_id(index) {}
    ClassFacts facts;
    int class_id;
    bool boots = false;    // some of its nodes may be down
    bool tight = false;    // CPUs or memory may run out before the GPUs do
    bool closing = false;  // some window closes
    bool plain() const { return !boots && !tight; }
    std::vector<double> rate;  // micro per second by busy GPUs, where the tariff is flat; else empty
    struct Kind {              // untouched nodes that are alike
        Tick open = 0, leased = 0;
        bool up = true;
        std::vector<int> nodes;
    };
    std::vector<Kind> kinds;
};

// A stretch of one node's time, from where it is free to `close`. A node that is reserved later has several.
struct Window {
    int node = -1;  // index into Snapshot::nodes
    Tick close = kNever;
    Tick up_until = -1;  // nodes that boot: down for a start after this; rented ones: the lease's release
    Tick up_at = 0;      // end of the last boot
    Tick launch = 0;     // of the last lease
    Tick last = 0;       // nodes that boot: nothing starts before
    double rent = 0;     // of the last lease
    int slot = -1;       // of the capacity group
    int sharing = 0;     // shared GPUs
};

// What changes while jobs are appended; copied at every checkpoint of a Sequence.
struct Floor {
    std::vector<Window> windows;
    std::vector<Tick> free;  // [window * gpus + g]: from when on g + 1 GPUs are free
    struct SharedGpu {
        int window, label;
    };
    std::vector<SharedGpu> shared;
    std::vector<Tick> shard_free;  // [shared * shards_per_gpu + s]
    std::vector<int> kind_used;    // beside FloorFacts::kinds
    struct Held {
        int window, cpus;
        std::int64_t mem_mb;
        Tick end;
    };
    std::vector<Held> held;  // tight floors only
    int next_label = 1000;
};

struct ShopState {
    std::vector<Floor> floors;
    std::vector<Tick> slots;  // of the capacity group: when each is free
};

// Where append() put a job.
struct Appended {
    Tick start = 0, ready = 0, end = kNever;
    double late = 0, nodes_cost = 0;
    std::vector<int> nodes;  // indices into Snapshot::nodes
    int label = -1;
    double total() const { return late + nodes_cost; }
};

class Shop {
  public:
    std::vector<FloorFacts> floors;
    int slots = -1;     // nodes of the capacity group at once; -1 = no group
    ShopState initial;  // with the fixed load

    // Puts the job behind all others. False where it does not fit at all, with nothing changed.
    bool append(ShopState& state, const ShopJob& job, const ShopConfig& config, Appended& out) const;

    // When the job would end there; kNever where it does not fit.
    Tick earliest_end(const ShopState& state, const ShopJob& job, const ShopConfig& config) const;

  private:
    struct Pick {  // a window, or the next untouched node of a kind
        int window = -1, kind = -1;
        Tick start = kNever, ready = kNever, end = kNever;
        double cost = 0;
        Tick fit = -1, next_fit = -1;
        bool found() const { return window >= 0 || kind >= 0; }
        bool better_than(const Pick& other) const;
    };
    Pick pick(const ShopState& state, const ShopJob& job, const ShopConfig& config, int window, int kind) const;
    Pick best_window(const ShopState& state, const ShopJob& job, const ShopConfig& config) const;
    bool append_single(ShopState& state, const ShopJob& job, const ShopConfig& config, Appended& out) const;
    bool append_several(ShopState& state, const ShopJob& job, const ShopConfig& config, Appended& out) const;
    bool append_shared(ShopState& state, const ShopJob& job, const ShopConfig& config, Appended& out) const;
    struct SharedPick {
        int index = -1;  // into Floor::shared
        Tick start = kNever;
    };
    SharedPick best_shared(const ShopState& state, const ShopJob& job, const ShopConfig& config) const;
    bool gather_several(const ShopState& state, const ShopJob& job, const ShopConfig& config, std::vector<Pick>& picks,
                        Tick& start) const;
    void gather(const ShopState& state, const ShopJob& job, const ShopConfig& config, std::vector<Pick>& picks) const;
    int open_window(ShopState& state, int floor, const Pick& pick) const;
    void take(ShopState& state, const ShopConfig& config, int window, Appended& out) const;
    void book(ShopState& state, const ShopConfig& config, int window, Appended& out) const;
    Tick room_at(const Floor& floor, const FloorFacts& facts, const ShopConfig& config, int window, Tick from) const;
    Tick slot_from(const ShopState& state, const Window& window, Tick start) const;
    void lease(ShopState& state, const FloorFacts& facts, Window& window, const Appended& out) const;
};

// The shops of a snapshot with the fixed load of `base`, and its movable jobs. A class of many nodes is split into
// several shops of about `pool_nodes` nodes that are open before `cut`, so that what a change costs to evaluate does
// not grow with the cluster; jobs may change shops. Nodes that are taken until `cut` are left out.
struct Shops {
    std::vector<Shop> shops;
    std::vector<ShopJob> jobs;
    std::vector<int> shop_of_node;  // by node; -1 = left out
};
Shops make_shops(const Schedule& base, Tick cut, int pool_nodes);

}  // namespace squall
