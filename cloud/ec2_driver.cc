// SPDX-License-Identifier: GPL-3.0-or-later
// RunInstances, DescribeInstances, TerminateInstances: see ec2_driver.h.
#include "cloud/ec2_driver.h"

#include <fmt/format.h>
#include <strings.h>

#include <cstdlib>

#include "cloud/crypto.h"
#include "cloud/options.h"
#include "cloud/user_data.h"

namespace squall::cloud {
namespace {

constexpr int kPage = 1000;
constexpr int kMostPages = 1000;

struct Shown {
    Instance instance;
    bool ended = false;
};

std::string tag(pugi::xml_node item, const char* key) {
    for (pugi::xml_node one : item.child("tagSet").children("item"))
        if (std::string(one.child_value("key")) == key) return one.child_value("value");
    return "";
}

std::string state_reason(pugi::xml_node item) {
    pugi::xml_node reason = item.child("stateReason");
    std::string text = reason.child_value("message"), code = reason.child_value("code");
    if (code == "Server.SpotInstanceTermination") return "spot interruption: " + text;
    return text.empty() ? item.child_value("reason") : text;
}

Shown read_instance(pugi::xml_node item) {
    Shown shown;
    Instance& one = shown.instance;
    one.id = item.child_value("instanceId");
    one.node = tag(item, "squall:node");
    one.generation = std::atoi(tag(item, "squall:generation").c_str());
    std::string state = item.child("instanceState").child_value("name");
    if (state == "running") {
        one.state = InstanceState::running;
        one.address = item.child_value("privateIpAddress");
    } else if (state == "shutting-down") {
        one.state = InstanceState::stopping;
        one.reason = state_reason(item);
    } else if (state == "stopping" || state == "stopped") {
        one.state = InstanceState::failed;
        one.reason = fmt::format("{}: {}", state, state_reason(item));
    } else if (state == "terminated") {
        one.state = InstanceState::gone;
        one.reason = state_reason(item);
        shown.ended = true;
    }
    return shown;
}

void add_tags(Fields& fields, const LaunchSpec& spec, const std::string& cluster) {
    int number = 0;
    for (const char* kind : {"instance", "volume"}) {
        std::string prefix = fmt::format("TagSpecification.{}.", ++number);
        fields.emplace_back(prefix + "ResourceType", kind);
        int tag_number = 0;
        for (const auto& [key, value] : Fields{{"Name", spec.node},
                                               {"squall:cluster", cluster},
                                               {"squall:node", spec.node},
                                               {"squall:generation", std::to_string(spec.generation)},
                                               {"squall:class", spec.class_name}}) {
            fields.emplace_back(fmt::format("{}Tag.{}.Key", prefix, ++tag_number), key);
            fields.emplace_back(fmt::format("{}Tag.{}.Value", prefix, tag_number), value);
        }
    }
}

void add_network(Fields& fields, const Options& options) {
    bool public_address = false;
    option_flag(options, "PublicAddress", false, &public_address);
    std::string prefix = public_address ? "NetworkInterface.1." : "";
    if (public_address) {
        fields.emplace_back(prefix + "DeviceIndex", "0");
        fields.emplace_back(prefix + "AssociatePublicIpAddress", "true");
        fields.emplace_back(prefix + "DeleteOnTermination", "true");
    }
    if (std::string subnet = option_text(options, "SubnetId", ""); !subnet.empty())
        fields.emplace_back(prefix + "SubnetId", subnet);
    int number = 0;
    for (const std::string& group : option_list(options, "SecurityGroupIds"))
        fields.emplace_back(fmt::format("{}SecurityGroupId.{}", prefix, ++number), group);
}

void add_market(Fields& fields, const Options& options) {
    bool spot = false;
    option_flag(options, "Spot", false, &spot);
    if (!spot) {
        fields.emplace_back("InstanceInitiatedShutdownBehavior", "terminate");
        return;
    }
    fields.emplace_back("InstanceMarketOptions.MarketType", "spot");
    fields.emplace_back("InstanceMarketOptions.SpotOptions.SpotInstanceType", "one-time");
    fields.emplace_back("InstanceMarketOptions.SpotOptions.InstanceInterruptionBehavior", "terminate");
    if (std::string most = option_text(options, "SpotMaxPrice", ""); !most.empty())
        fields.emplace_back("InstanceMarketOptions.SpotOptions.MaxPrice", most);
}

Fields launch_fields(const LaunchSpec& spec, const std::string& cluster, const std::string& token) {
    const Options& o = spec.options;
    Fields fields = {{"MinCount", "1"},
                     {"MaxCount", "1"},
                     {"ClientToken", token},
                     {"ImageId", option_text(o, "ImageId", "")},
                     {"InstanceType", option_text(o, "InstanceType", "")},
                     {"MetadataOptions.HttpTokens", "required"}};
    for (auto [key, field] : {std::pair("KeyName", "KeyName"), std::pair("Zone", "Placement.AvailabilityZone"),
                              std::pair("InstanceProfile", "IamInstanceProfile.Name")})
        if (std::string value = option_text(o, key, ""); !value.empty()) fields.emplace_back(field, value);
    add_network(fields, o);
    add_market(fields, o);
    add_tags(fields, spec, cluster);
    return fields;
}

}  // namespace

Ec2Driver::Ec2Driver(std::string cluster, const Options& options) : cluster_(std::move(cluster)), api_(options) {}

std::string Ec2Driver::check(const Options& options) const {
    Options ours;
    for (const auto& [name, value] : options)
        if (strncasecmp(name.c_str(), "Var.", 4) != 0) ours[name] = value;
    bool ignored = false;
    Seconds time = 0;
    for (std::string error :
         {unknown_option(ours, {"Region", "Endpoint", "CaFile", "Timeout", "CredentialsFile", "Profile",
                                "MetadataEndpoint", "InstanceType", "ImageId", "SubnetId", "SecurityGroupIds", "Zone",
                                "KeyName", "InstanceProfile", "PublicAddress", "Spot", "SpotMaxPrice", "UserDataFile"}),
          missing_option(ours, {"Region", "InstanceType", "ImageId"}), option_flag(ours, "Spot", false, &ignored),
          option_flag(ours, "PublicAddress", false, &ignored), option_seconds(ours, "Timeout", 30, &time),
          refuse_url(api_.endpoint())})
        if (!error.empty()) return error;
    return make_user_data({"c1", 1, "", "", options}, cluster_).error;
}

std::string Ec2Driver::family(const Options& options) const {
    bool spot = false;
    option_flag(options, "Spot", false, &spot);
    std::string type = option_text(options, "InstanceType", "");
    // EC2's quotas are in vCPUs by the type's letters: g and vt together, p, trn …
    std::string letters = type.substr(0, type.find_first_of("0123456789.-"));
    return fmt::format("ec2 {} {} {}", api_.region(), letters, spot ? "spot" : "on-demand");
}

LaunchResult Ec2Driver::launch(const LaunchSpec& spec) {
    if (std::string error = refuse_host_name(spec.node); !error.empty()) return {{ErrorClass::permanent, error}, {}};
    UserData data = make_user_data(spec, cluster_);
    if (!data.error.empty()) return {{ErrorClass::permanent, data.error}, {}};
    std::string token = "squall-" + sha256_hex(cluster_ + "\n" + spec.token + "\n" + spec.salt).substr(0, 48);
    Fields fields = launch_fields(spec, cluster_, token);
    if (!data.text.empty()) fields.emplace_back("UserData", base64(data.text));
    Ec2Answer answer;
    api_.call("RunInstances", fields, &answer);
    // The options have changed since the token was first used, or its instance has ended: an instance was made.
    if (answer.code == "IdempotentParameterMismatch" || answer.code == "IdempotentInstanceTerminated") {
        LaunchResult found = find_by_token(token);
        if (!found.error && found.instance.node.empty())
            found.instance = {"", spec.node, spec.generation, InstanceState::gone, "", "it has ended"};
        return found;
    }
    if (answer.error) return {answer.error, {}};
    pugi::xml_node item = answer.xml.child("RunInstancesResponse").child("instancesSet").child("item");
    LaunchResult result{{}, read_instance(item).instance};
    if (result.instance.id.empty())
        return {{ErrorClass::transient, "RunInstances: the answer has no instance in it"}, {}};
    result.instance.node = spec.node;  // asked for in the same call; the answer may come before its tags
    result.instance.generation = spec.generation;
    return result;
}

LaunchResult Ec2Driver::find_by_token(const std::string& token) {
    Ec2Answer answer;
    api_.call("DescribeInstances", {{"Filter.1.Name", "client-token"}, {"Filter.1.Value.1", token}}, &answer);
    if (answer.error) return {{ErrorClass::transient, answer.error.message}, {}};
    pugi::xml_node item = answer.xml.child("DescribeInstancesResponse")
                              .child("reservationSet")
                              .child("item")
                              .child("instancesSet")
                              .child("item");
    return {{}, read_instance(item).instance};
}

ListResult Ec2Driver::list() {
    ListResult result;
    std::string next;
    for (int page = 0; page < kMostPages; page++) {
        Fields fields = {{"Filter.1.Name", "tag:squall:cluster"},
                         {"Filter.1.Value.1", cluster_},
                         {"MaxResults", std::to_string(kPage)}};
        if (!next.empty()) fields.emplace_back("NextToken", next);
        Ec2Answer answer;
        api_.call("DescribeInstances", fields, &answer);
        if ((result.error = answer.error)) return result;
        pugi::xml_node root = answer.xml.child("DescribeInstancesResponse");
        if (!root)
            return result.error = {ErrorClass::transient, "DescribeInstances: an answer of another kind"}, result;
        for (pugi::xml_node reservation : root.child("reservationSet").children("item"))
            for (pugi::xml_node item : reservation.child("instancesSet").children("item")) {
                Shown shown = read_instance(item);
                (shown.ended ? result.ended : result.instances).push_back(shown.instance);
            }
        next = root.child_value("nextToken");
        if (next.empty()) return result;
    }
    result.error = {ErrorClass::transient, "DescribeInstances: the pages do not end"};
    return result;
}

Error Ec2Driver::terminate(const std::string& id) {
    bool ours = id.rfind("i-", 0) == 0 && id.find_first_not_of("0123456789abcdef", 2) == id.npos && id.size() > 2;
    if (!ours) return {};  // EC2 never gave out such an id
    Ec2Answer answer;
    api_.call("TerminateInstances", {{"InstanceId.1", id}}, &answer);
    if (answer.code == "InvalidInstanceID.NotFound" || answer.code == "InvalidInstanceID.Malformed") return {};
    return answer.error;
}

std::string Ec2Driver::console(const std::string& id) {
    Ec2Answer answer;
    api_.call("GetConsoleOutput", {{"InstanceId", id}}, &answer);
    if (answer.error) return "";
    return from_base64(answer.xml.child("GetConsoleOutputResponse").child_value("output"));
}

}  // namespace squall::cloud
