// SPDX-License-Identifier: GPL-3.0-or-later
// squall.conf → classes and drivers: see fleet.h.
#include "cloud/fleet.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cloud/azure_driver.h"
#include "cloud/ec2_driver.h"
#include "cloud/gcp_driver.h"
#include "cloud/local_driver.h"
#include "cloud/openstack_driver.h"
#include "src/core/conf_lines.h"

namespace squall::cloud {
namespace {

namespace fs = std::filesystem;

constexpr Seconds kBootFactor = 3;  // BootTime is a high quantile already; past this it is not coming
constexpr Seconds kBootTimeoutMin = 60;

std::string local_root(const Options& options, const DriverContext& context) {
    return fs::absolute(option_text(options, "StateDir", context.state_dir + "/local"));
}

// Classes with the same account see the same instances.
std::string account_of(const std::string& name, const Options& options, const DriverContext& context) {
    if (name == "local") return "local " + local_root(options, context);
    std::string account = name;
    for (const char* key :
         {"Region", "Endpoint", "AuthUrl", "Interface", "Project", "Subscription", "ResourceGroup", "LoginEndpoint",
          "CredentialsFile", "Profile", "MetadataEndpoint", "CaFile", "Timeout", "Cluster"})
        if (std::string value = option_text(options, key, ""); !value.empty()) account += " " + value;
    return account;
}

// Of slurm.conf; "" when it does not say.
std::string cluster_name(const std::string& slurm_conf) {
    for (const ConfLine& line : read_conf_lines(slurm_conf).lines)
        for (const ConfToken& token : line.tokens)
            if (strcasecmp(token.key.c_str(), "ClusterName") == 0) return token.value;
    return "";
}

DriverContext context_of(const Conf& conf) {
    const char* from_environment = std::getenv("SLURM_CONF");
    std::string beside = (fs::path(conf.path).parent_path() / "slurm.conf").string();
    std::string slurm_conf = from_environment && *from_environment ? from_environment : beside;
    return {conf.state_dir, conf.program_dir, slurm_conf, cluster_name(slurm_conf)};
}

std::string read_times(RentedClass& out) {
    Seconds boot = out.spec.boot_s > 0 ? std::max(out.spec.boot_s * kBootFactor, kBootTimeoutMin) : out.boot_timeout_s;
    for (std::string error : {option_seconds(out.options, "BootTimeout", boot, &out.boot_timeout_s),
                              option_seconds(out.options, "BlockTime", out.block_s, &out.block_s),
                              option_seconds(out.options, "OrphanAge", out.orphan_age_s, &out.orphan_age_s),
                              option_seconds(out.options, "DeadTime", out.dead_s, &out.dead_s)})
        if (!error.empty()) return error;
    return "";
}

}  // namespace

std::unique_ptr<Driver> make_driver(const std::string& name, const Options& options, const DriverContext& context,
                                    std::string* error) {
    if (name == "local")
        return std::make_unique<LocalDriver>(local_root(options, context),
                                             context.program_dir + "/squall-local-instance", context.slurm_conf);
    std::string cluster = option_text(options, "Cluster", context.cluster);
    if (cluster.empty()) {
        *error = fmt::format(
            "no ClusterName in {}, by which this cluster's instances are told from others'; write "
            "Driver.Cluster=",
            context.slurm_conf);
        return nullptr;
    }
    if (name == "ec2") return std::make_unique<Ec2Driver>(cluster, options);
    if (name == "openstack") return std::make_unique<OpenstackDriver>(cluster, options);
    if (name == "gcp") return std::make_unique<GcpDriver>(cluster, options);
    if (name == "azure") return std::make_unique<AzureDriver>(cluster, options);
    *error = fmt::format("Driver={}: no such driver; this version has: local, ec2, openstack, gcp, azure", name);
    return nullptr;
}

Fleet::Fleet(const Conf& conf, const MakeDriver& make) : conf_(conf) {
    DriverContext context = context_of(conf_);
    for (const NodeClassConf& line : conf_.classes)
        if (line.spec.rented) add_class(line, context, make);
}

void Fleet::add_class(const NodeClassConf& line, const DriverContext& context, const MakeDriver& make) {
    auto added = std::make_unique<RentedClass>();
    added->spec = line.spec;
    added->driver_name = line.driver;
    added->options = line.driver_options;
    added->error = read_times(*added);
    std::string account = account_of(line.driver, line.driver_options, context), error;
    auto at = drivers_.find(account);
    if (at == drivers_.end())
        if (auto driver = make(line.driver, line.driver_options, context, &error))
            at = drivers_.emplace(account, std::move(driver)).first;
    if (at != drivers_.end()) added->driver = at->second.get();
    if (added->error.empty()) added->error = error;
    if (added->error.empty() && added->driver) added->error = added->driver->check(added->options);
    if (!added->error.empty())
        added->error = fmt::format("{}:{}: NodeClass={}: {}", conf_.path, line.line, line.spec.name, added->error);
    for (const std::string& node : line.nodes) by_node_[node] = added.get();
    classes_.push_back(std::move(added));
}

const RentedClass* Fleet::class_named(const std::string& name) const {
    for (const auto& one : classes_)
        if (one->spec.name == name) return one.get();
    return nullptr;
}

const RentedClass* Fleet::class_of(const std::string& node) const {
    auto at = by_node_.find(node);
    return at == by_node_.end() ? nullptr : at->second;
}

Driver* Fleet::driver_for(const std::string& class_name, const std::string& driver_name) const {
    const RentedClass* rented = class_named(class_name);
    if (rented && rented->driver && rented->driver_name == driver_name) return rented->driver;
    for (const auto& [account, driver] : drivers_)
        if (driver->name() == driver_name) return driver.get();
    return nullptr;
}

std::vector<Driver*> Fleet::drivers() const {
    std::vector<Driver*> all;
    for (const auto& [account, driver] : drivers_) all.push_back(driver.get());
    return all;
}

std::vector<std::string> Fleet::nodes() const {
    std::vector<std::string> all;
    for (const auto& [node, rented] : by_node_) all.push_back(node);
    return all;
}

Seconds Fleet::orphan_age_s() const {
    Seconds age = 0;
    for (const auto& one : classes_) age = std::max(age, one->orphan_age_s);
    return age;
}

std::vector<std::string> Fleet::errors() const {
    std::vector<std::string> all;
    for (const auto& one : classes_)
        if (!one->error.empty()) all.push_back(one->error);
    return all;
}

}  // namespace squall::cloud
