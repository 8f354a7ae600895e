// SPDX-License-Identifier: GPL-3.0-or-later
// What the clouds' lists say against the leases: is a lease's instance there, and which instances belong to nobody.
// Nothing is ever concluded from a list that failed or is partial. In memory only: after a restart the next lists
// tell the same again. One thread.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cloud/fleet.h"
#include "src/core/ledger.h"
#include "src/core/log.h"

namespace squall::cloud {

class Sightings {
  public:
    // Asks each driver whose list is due. `leases`: the open ones, as they are before the lists are made.
    void refresh(const Fleet& fleet, const std::vector<Lease>& leases, Seconds now);

    // The lease's instance as its driver's last list had it; nullopt: not in it.
    std::optional<Instance> instance(const Lease& lease) const;
    // How many good lists in a row were without it; 0 after a list that failed or is partial.
    int absences(const Lease& lease) const;
    // The cloud says that the lease's instance is gone, and why ("" when it does not say why).
    std::optional<std::string> death(const Lease& lease) const;
    bool was_seen(const Lease& lease) const;  // in any list since the last start_over()
    // Counts anew: lists older than what was just ordered say nothing about it.
    void start_over(const Lease& lease) { sights_.erase(lease.id); }

    struct Stranger {
        Driver* driver = nullptr;
        Instance instance;
        Seconds since = 0;
        int times = 0;
    };
    // Instances that had no lease in two good lists in a row, and are known for at least OrphanAge.
    std::vector<Stranger> orphans(const Fleet& fleet, Seconds now) const;

    void forget_drivers();  // before the fleet goes away

  private:
    bool ask(Driver& driver, bool busy, Seconds now);
    void match(Driver& driver, const Fleet& fleet, const std::vector<Lease>& leases, Seconds now);

    struct Sight {
        std::optional<Instance> instance;
        int absences = 0;
        std::optional<std::string> death;
        bool seen = false;
    };
    std::map<Driver*, ListResult> lists_;
    std::map<Driver*, Seconds> asked_at_;
    std::map<std::int64_t, Sight> sights_;       // by lease id
    std::map<std::string, Stranger> strangers_;  // by instance id
    Conditions conditions_;
};

}  // namespace squall::cloud
