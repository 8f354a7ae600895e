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
    for (const char* key : {"Region", "Endpoint", "AuthUrl", "Project", "Subscription", "ResourceGroup",
                            "CredentialsFile", "Profile", "Cluster"})
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

const Offer* RentedClass::offer(const std::string& name) const {
    for (const Offer& one : offers)
        if (one.name == name) return &one;
    return nullptr;
}

Fleet::Fleet(const Conf& conf, const MakeDriver& make) : conf_(conf) {
    if (!conf_.offers.empty()) books_ = PriceBooks::read(conf_.price_dir, conf_.currency);
    DriverContext context = context_of(conf_);
    for (const NodeClassConf& line : conf_.classes)
        if (line.spec.rented) add_class(line, context, make);
}

void Fleet::add_class(const NodeClassConf& line, const DriverContext& context, const MakeDriver& make) {
    auto added = std::make_unique<RentedClass>();
    added->spec = line.spec;
    added->options = line.driver_options;
    std::string wrong_time = read_times(*added);
    for (const OfferConf& given : conf_.offers)
        if (given.class_name == line.spec.name) {
            added->offers.push_back(make_offer(line, &given));
            find_price(added->offers.back(), given);
        }
    if (added->offers.empty()) added->offers.push_back(make_offer(line, nullptr));
    for (Offer& offer : added->offers) {
        if (offer.error.empty()) offer.error = wrong_time;
        if (offer.error.empty()) find_driver(offer, context, make);
        bool own = offer.key[0] == 'c';
        int at = line.line;
        for (const OfferConf& given : conf_.offers)
            if (!own && given.name == offer.name) at = given.line;
        if (!offer.error.empty())
            offer.error =
                fmt::format("{}:{}: {}={}: {}", conf_.path, at, own ? "NodeClass" : "Offer", offer.name, offer.error);
    }
    bool usable =
        std::any_of(added->offers.begin(), added->offers.end(), [](const Offer& o) { return o.error.empty(); });
    if (!usable) added->error = added->offers.front().error;
    for (const std::string& node : line.nodes) by_node_[node] = added.get();
    classes_.push_back(std::move(added));
}

// The class's own values, and over them the offer's.
Offer Fleet::make_offer(const NodeClassConf& line, const OfferConf* given) const {
    Offer offer;
    offer.name = given ? given->name : line.spec.name;
    offer.key = (given ? "offer:" : "class:") + offer.name;
    offer.driver_name = given && !given->driver.empty() ? given->driver : line.driver;
    offer.options = given ? given->driver_options : line.driver_options;
    for (const auto& [key, value] : line.driver_options)
        if (option_text(offer.options, key, "").empty()) offer.options[key] = value;
    offer.price_micro_h = given ? given->price.value_or(0) : line.spec.price_micro_h;
    offer.billing_step_s = given && given->billing_step_s > 0 ? given->billing_step_s : line.spec.billing_step_s;
    offer.billing_min_s = given && given->billing_min_s >= 0 ? given->billing_min_s : line.spec.billing_min_s;
    offer.interruptions_ppm_h =
        given && given->interruptions_ppm_h >= 0 ? given->interruptions_ppm_h : line.spec.interruptions_ppm_h;
    offer.error = option_flag(offer.options, "Spot", false, &offer.spot);
    return offer;
}

void Fleet::find_price(Offer& offer, const OfferConf& given) const {
    if (given.price || !offer.error.empty()) return;
    std::string region, type;
    for (const char* key : {"Region", "Location", "Zone"})
        if (region.empty()) region = option_text(offer.options, key, "");
    for (const char* key : {"InstanceType", "MachineType", "VmSize", "Flavor"})
        if (type.empty()) type = option_text(offer.options, key, "");
    PriceQuote quote = books_.quote(offer.driver_name, region, type, offer.spot);
    if (quote.price_micro_h)
        offer.price_micro_h = *quote.price_micro_h;
    else
        offer.error = quote.error;
}

void Fleet::find_driver(Offer& offer, const DriverContext& context, const MakeDriver& make) {
    offer.account = account_of(offer.driver_name, offer.options, context);
    auto at = drivers_.find(offer.account);
    if (at == drivers_.end())
        if (auto driver = make(offer.driver_name, offer.options, context, &offer.error))
            at = drivers_.emplace(offer.account, std::move(driver)).first;
    if (at == drivers_.end()) return;
    offer.driver = at->second.get();
    offer.error = offer.driver->check(offer.options);
    std::string family = offer.driver->family(offer.options);
    if (!family.empty()) offer.family = "family:" + family;
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

Driver* Fleet::driver_for(const std::string& account) const {
    if (auto at = drivers_.find(account); at != drivers_.end()) return at->second.get();
    for (const auto& [key, driver] : drivers_)
        if (driver->name() == account) return driver.get();
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
    std::vector<std::string> all = books_.errors();
    for (const auto& one : classes_)
        for (const Offer& offer : one->offers)
            if (!offer.error.empty()) all.push_back(offer.error);
    return all;
}

}  // namespace squall::cloud
