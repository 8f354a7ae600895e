// SPDX-License-Identifier: GPL-3.0-or-later
// The lease daemon's work, without its clock and its process: each tick takes the hooks' requests and brings every
// open lease one step on. What is to happen is in the ledger before it happens, so a kill -9 anywhere loses nothing:
// the next tick of the next process does it, again or for the first time.
//
//   wanted → launching → booting → ready → draining → terminating → closed | failed
//
// One thread. Throws LedgerError; the next tick may be tried all the same.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cloud/fleet.h"
#include "cloud/lease_book.h"
#include "cloud/offers.h"
#include "cloud/sightings.h"
#include "cloud/slurm_nodes.h"

namespace squall::cloud {

class LeaseMachine {
  public:
    struct Tools {
        Ledger& ledger;
        SlurmNodes& slurm;
        std::function<void()> changed;   // tells the planner
        std::function<bool()> stopping;  // asked between steps: a launch may take seconds
        Seconds patience_s = 30;         // Slurm's and our view must differ this long before a hook is taken for lost
        // An admin is needed: a short word for the kind, and the story.
        std::function<void(const std::string& kind, const std::string& text)> alert{};
    };
    LeaseMachine(Tools tools, Fleet fleet);

    void reload(Fleet fleet);
    void tick(Seconds now);

  private:
    // What a restart may forget.
    struct Memory {
        Seconds next_try = 0;
        int tries = 0;
        bool maybe_made = false;  // a launch call ended without a clear answer
        bool address_told = false;
        Seconds down_since = 0, off_since = 0;
    };

    void load_slurm(bool asked);
    void step(Lease& lease);
    void step_once(Lease& lease);
    void forget(const Lease& lease);
    void step_wanted(Lease& lease);
    void step_launching(Lease& lease);
    void step_booting(Lease& lease);
    void step_ready(Lease& lease);
    void step_draining(Lease& lease);
    void step_terminating(Lease& lease);

    bool take_offer(Lease& lease, const RentedClass& rented, const Offer& offer);
    void launch_failed(Lease& lease, const Error& error);
    void next_offer(Lease& lease, const RentedClass& rented, const std::string& reason);
    void block_offer(const Offer& offer, Seconds block_s, const Error& error);
    void block_class(const RentedClass& rented, const OfferChoice& choice);
    void refuse(Lease& lease, const std::string& reason, const std::string& block_key, Seconds block_s);
    void end_companions(const Lease& lease, const std::string& reason);
    void boot_failed(Lease& lease, const std::string& reason);
    void count_boot_failure(const Lease& lease, const RentedClass& rented, const std::string& reason);
    std::string console_of(const Lease& lease);
    void interrupted(const Lease& lease, const std::string& reason);
    void forgive(const Lease& lease);
    void alert(const std::string& kind, const std::string& text);
    bool left_by_slurm(Lease& lease);
    bool lost(Lease& lease, bool serving);
    bool is_absent(const Lease& lease) const;
    void tell_address(Lease& lease, const Instance& instance);
    bool tell_slurm(Lease& lease);
    std::string give_up_in_slurm(const std::string& node, const std::string& reason);
    bool terminate(Lease& lease);

    void end_orphans();
    void end_strays();
    void return_nodes();
    void tell_planner();

    const SlurmNode& slurm_node(const std::string& name) const;
    bool has_open_lease(const std::string& node) const;
    Seconds boot_timeout_s(const Lease& lease) const;
    void later(const Lease& lease, Seconds longest_s);

    Tools tools_;
    Fleet fleet_;
    LeaseBook book_;
    Sightings sightings_;
    std::map<std::string, SlurmNode> nodes_;
    bool nodes_known_ = false;
    Seconds next_load_ = 0, next_facts_ = 0;
    std::vector<Lease> open_;                // as of this tick
    std::map<std::int64_t, Memory> memory_;  // by lease id
    std::map<std::string, Seconds> stray_since_;
    Conditions conditions_;
    Seconds now_ = 0;
};

}  // namespace squall::cloud
