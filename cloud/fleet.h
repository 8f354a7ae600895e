// SPDX-License-Identifier: GPL-3.0-or-later
// The rented part of squall.conf as the lease daemon uses it: classes with their timeouts, nodes → class, and the
// drivers. Classes of one cloud account share one driver. Made anew when the configuration is read again; one thread.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cloud/driver.h"
#include "cloud/options.h"
#include "src/core/conf.h"

namespace squall::cloud {

struct RentedClass {
    NodeClass spec;
    std::string driver_name;
    Options options;
    Seconds boot_timeout_s = 600;  // Driver.BootTimeout: from launch to registered
    Seconds block_s = 60;          // Driver.BlockTime: after a first failure; doubles with each
    Seconds orphan_age_s = 60;     // Driver.OrphanAge: an unknown instance is left alone this long
    Seconds dead_s = 120;          // Driver.DeadTime: a node that Slurm calls DOWN so long is given up
    Driver* driver = nullptr;
    std::string error;  // why nothing can be launched; driver may be null then
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
    // That of the lease's class, or another of the same kind when the class has left squall.conf. Null: none.
    Driver* driver_for(const std::string& class_name, const std::string& driver_name) const;
    std::vector<Driver*> drivers() const;
    std::vector<std::string> nodes() const;
    Seconds orphan_age_s() const;  // the longest of any class: an orphan's class is not known
    std::vector<std::string> errors() const;

  private:
    void add_class(const NodeClassConf& line, const DriverContext& context, const MakeDriver& make);
    Conf conf_;
    std::map<std::string, std::unique_ptr<Driver>> drivers_;  // by account
    std::vector<std::unique_ptr<RentedClass>> classes_;
    std::map<std::string, RentedClass*> by_node_;
};

}  // namespace squall::cloud
