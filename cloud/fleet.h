// SPDX-License-Identifier: GPL-3.0-or-later
// The rented part of squall.conf as the lease daemon uses it: classes with their timeouts and offers, nodes → class,
// and the drivers. Offers of one cloud account share one driver. Made anew when the configuration is read again; one
// thread.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cloud/driver.h"
#include "cloud/options.h"
#include "cloud/prices.h"
#include "src/core/conf.h"

namespace squall::cloud {

// One way to rent a node of a class: a line Offer=, or the class itself where it has none.
struct Offer {
    std::string name;
    std::string driver_name;
    std::string account;  // what sees the same instances; a lease keeps it, so that its instance is found again
    std::string key;      // of its block in the ledger: "class:NAME" or "offer:NAME"
    std::string family;   // of the block when a quota is used up; "" = key
    Options options;
    Micro price_micro_h = 0;
    Seconds billing_step_s = 1, billing_min_s = 0;
    int interruptions_ppm_h = 0;
    bool spot = false;
    Driver* driver = nullptr;
    std::string error;  // why nothing can be launched; driver may be null then
};

struct RentedClass {
    NodeClass spec;
    Options options;
    Seconds boot_timeout_s = 600;  // Driver.BootTimeout: from launch to registered
    Seconds block_s = 60;          // Driver.BlockTime: after a first failure; doubles with each
    Seconds orphan_age_s = 60;     // Driver.OrphanAge: an unknown instance is left alone this long
    Seconds dead_s = 120;          // Driver.DeadTime: a node that Slurm calls DOWN so long is given up
    std::vector<Offer> offers;     // never empty
    std::string error;             // no offer can be used
    const Offer* offer(const std::string& name) const;
    bool is_own_offer() const { return offers.size() == 1 && offers[0].key == "class:" + spec.name; }
};

// Where drivers find their files.
struct DriverContext {
    std::string state_dir, program_dir, slurm_conf;
    std::string cluster;  // ClusterName of slurm.conf: what tells our instances from another cluster's in one account
};
using MakeDriver = std::function<std::unique_ptr<Driver>(const std::string& name, const Options& options,
                                                         const DriverContext& context, std::string* error)>;

// Every driver there is, by name. Null and *error when the name is not known or an option is wrong.
std::unique_ptr<Driver> make_driver(const std::string& name, const Options& options, const DriverContext& context,
                                    std::string* error);

class Fleet {
  public:
    Fleet(const Conf& conf, const MakeDriver& make);

    const Conf& conf() const { return conf_; }
    const RentedClass* class_named(const std::string& name) const;
    const RentedClass* class_of(const std::string& node) const;
    const std::vector<std::unique_ptr<RentedClass>>& classes() const { return classes_; }
    // The lease's account, whatever class it is for by now. `account` of leases of older versions: a driver's name.
    Driver* driver_for(const std::string& account) const;
    std::vector<Driver*> drivers() const;
    std::vector<std::string> nodes() const;
    Seconds orphan_age_s() const;  // the longest of any class: an orphan's class is not known
    std::vector<std::string> errors() const;

  private:
    void add_class(const NodeClassConf& line, const DriverContext& context, const MakeDriver& make);
    Offer make_offer(const NodeClassConf& line, const OfferConf* given) const;
    void find_driver(Offer& offer, const DriverContext& context, const MakeDriver& make);
    void find_price(Offer& offer, const OfferConf& given) const;
    Conf conf_;
    PriceBooks books_;
    std::map<std::string, std::unique_ptr<Driver>> drivers_;  // by account
    std::vector<std::unique_ptr<RentedClass>> classes_;
    std::map<std::string, RentedClass*> by_node_;
};

}  // namespace squall::cloud
