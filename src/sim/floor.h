// SPDX-License-Identifier: GPL-3.0-or-later
// The machine room on virtual time: which GPUs are taken, which nodes are up, booting, leased or broken, and what that
// has cost so far. Finds places for configurations (best fit, nodes that are up first) and keeps the caps of classes
// and groups. Used by the engine; policies see it through Control. One thread.
#pragma once
#include <optional>
#include <set>
#include <vector>

#include "src/core/energy_meter.h"
#include "src/core/model.h"

namespace squall::sim {

struct Place {
    std::vector<int> nodes;  // ascending
    int gpu_index = -1;      // shares: which GPU
    bool operator==(const Place&) const = default;
};

class Floor {
  public:
    explicit Floor(const Snapshot& cluster);

    struct NodeNow {
        bool up = true;       // usable, or booting until ready_at
        bool broken = false;  // out until it is repaired
        Seconds ready_at = 0;
        Seconds leased_at = 0;   // rented and up
        Seconds idle_since = 0;  // up and empty
        int free_gpus = 0;       // whole ones
        int jobs = 0;
        int cpus = 0;
        std::int64_t mem_mb = 0;
        std::vector<int> shards;  // taken, by GPU; empty where the class has none
        int generation = 0;       // counts leases and repairs: events of earlier ones are void
    };

    // A place for the configuration now, or nothing. rented_too: nodes that must be leased first count as well.
    std::optional<Place> find(const Config& config, bool rented_too = true) const;
    // Would it fit if the floor were empty and nothing were broken?
    bool ever_fits(const Config& config) const;
    // Does it fit on exactly these nodes?
    bool fits(const Config& config, const Place& place) const;

    // REQUIRES: fits(). Leases nodes that are down. Returns when all of them are usable.
    Seconds take(const Config& config, const Place& place, Seconds now);
    void give(const Config& config, const Place& place, Seconds now);

    void end_lease(int node, Seconds now);   // REQUIRES: empty
    void end_idle_leases(Seconds now);       // of classes that are released at once
    void break_node(int node, Seconds now);  // its lease ends; REQUIRES: empty
    void repair(int node, Seconds now);
    void settle(Seconds now);  // books energy and running leases until now; the end of a simulation

    const NodeNow& node(int index) const { return nodes_[index]; }
    const Snapshot& cluster() const { return cluster_; }
    int free_gpus(int class_id) const { return free_gpus_[class_id]; }  // of nodes that are up
    int leased(int class_id) const { return leased_[class_id]; }
    const std::vector<int>& emptied() const {
        return emptied_;
    }  // rented nodes that became empty since clear_emptied()
    void clear_emptied() { emptied_.clear(); }

    Micro rent() const { return rent_; }
    Micro energy() const;
    // Price of using these GPUs for a time: the share of rent or energy that belongs to them.
    Micro price_of(const Config& config, const Place& place, Seconds from, Seconds to) const;

  private:
    bool room(int node, const Config& config) const;
    int shard_gpu(int node, int shards) const;
    std::optional<Place> find_shared(const Config& config, bool rented_too) const;
    bool may_lease(int class_id, int more) const;
    int closable(int class_id, int group) const;
    void make_room(int class_id, Seconds now);
    void lease(int node, Seconds now);
    void index(int node);
    void unindex(int node);
    void book_energy(int node, Seconds now);
    int busy(int node) const;

    Snapshot cluster_;
    std::vector<NodeNow> nodes_;
    std::vector<std::vector<std::set<int>>> up_by_free_;  // class → free GPUs → nodes
    std::vector<std::set<int>> down_;                     // class → nodes that can be leased
    std::vector<std::set<int>> idle_;                     // class → leased and empty
    std::vector<std::set<int>> sharing_;                  // class → nodes with a GPU partly taken
    std::vector<int> free_gpus_, leased_, total_;
    std::vector<std::vector<int>> groups_of_;  // class → groups
    std::vector<EnergyMeter> meters_;
    std::vector<Seconds> energy_until_;
    std::vector<Pico> energy_;  // by node
    std::vector<int> emptied_;
    Micro rent_ = 0;
};

}  // namespace squall::sim
