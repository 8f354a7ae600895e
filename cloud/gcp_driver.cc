// SPDX-License-Identifier: GPL-3.0-or-later
// bulkInsert, aggregated lists, deletion: see gcp_driver.h. Tokens are in gcp_token.cc.
#include "cloud/gcp_driver.h"

#include <fmt/format.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "cloud/crypto.h"
#include "cloud/user_data.h"

namespace squall::cloud {
namespace {

constexpr int kMostPages = 1000;
// How long a call waits for its operation; what comes later shows in the list.
constexpr int kLooks = 10;
constexpr useconds_t kLookUs = 200000;

std::string label_of(const std::string& cluster) { return sha256_hex(cluster).substr(0, 32); }

// A name as RFC 1035 has it: readable, and unique by the hash.
std::string name_for(const LaunchSpec& spec, const std::string& hash) {
    std::string node;
    for (unsigned char c : spec.node) node += std::isalnum(c) ? static_cast<char>(std::tolower(c)) : '-';
    return fmt::format("squall-{}-{}", node.substr(0, 36), hash.substr(0, 16));
}

std::string last_part(const std::string& url) { return url.substr(url.rfind('/') + 1); }

std::string metadata_item(const json_t* instance, const char* key) {
    const json_t* item = nullptr;
    std::size_t i = 0;
    json_array_foreach(json_at(instance, {"metadata", "items"}), i, item) {
        if (json_text(item, "key") == key) return json_text(item, "value");
    }
    return "";
}

Instance read_instance(const json_t* given) {
    Instance one;
    one.id = last_part(json_text(given, "zone")) + "/" + json_text(given, "name");
    one.node = metadata_item(given, "squall-node");
    one.generation = std::atoi(metadata_item(given, "squall-generation").c_str());
    std::string status = json_text(given, "status");
    if (status == "RUNNING") {
        one.state = InstanceState::running;
        one.address = json_text(json_array_get(json_object_get(given, "networkInterfaces"), 0), "networkIP");
    } else if (status == "STOPPING" || status == "SUSPENDING" || status == "PENDING_STOP") {
        one.state = InstanceState::stopping;
        one.reason = json_text(given, "statusMessage");
    } else if (status == "TERMINATED" || status == "STOPPED" || status == "SUSPENDED" || status == "REPAIRING") {
        one.state = InstanceState::failed;
        one.reason = json_text(given, "statusMessage", "Compute Engine says " + status);
    }
    return one;
}

bool begins(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

// By the codes of operations and the reasons of HTTP errors.
ErrorClass class_of_code(const std::string& code, ErrorClass fallback) {
    if (begins(code, "ZONE_RESOURCE_POOL_EXHAUSTED") || code == "RESOURCE_POOL_EXHAUSTED" || code == "STOCKOUT" ||
        code == "VM_MIN_COUNT_NOT_REACHED")
        return ErrorClass::no_capacity;
    if (begins(code, "QUOTA_EXCEEDED") || code == "quotaExceeded" || code == "LIMIT_EXCEEDED") return ErrorClass::quota;
    if (code == "rateLimitExceeded" || code == "userRateLimitExceeded" || code == "RATE_LIMIT_EXCEEDED")
        return ErrorClass::throttled;
    if (code == "INTERNAL_ERROR" || code == "backendError" || code == "internalError") return ErrorClass::transient;
    if (code == "forbidden" || code == "authError" || code == "PERMISSIONS_ERROR") return ErrorClass::auth;
    return fallback;
}

Error explain(const JsonAnswer& answer) {
    if (!answer.error) return {};
    const json_t* error = json_object_get(answer.body.get(), "error");
    std::string reason = json_text(json_array_get(json_object_get(error, "errors"), 0), "reason");
    Error found{class_of_code(reason, answer.error.kind), answer.error.message};
    if (error) found.message += fmt::format(" {}: {}", reason, json_text(error, "message"));
    return found;
}

// Of a finished operation; none when it went well.
Error operation_error(const json_t* operation) {
    const json_t* errors = json_at(operation, {"error", "errors"});
    if (json_array_size(errors) == 0) return {};
    Error found{ErrorClass::permanent, "operation:"};
    const json_t* one = nullptr;
    std::size_t i = 0;
    json_array_foreach(errors, i, one) {
        std::string code = json_text(one, "code");
        found.kind = class_of_code(code, found.kind);
        found.message += fmt::format(" {}: {}", code, json_text(one, "message"));
    }
    return found;
}

}  // namespace

GcpDriver::GcpDriver(std::string cluster, const Options& options)
    : cluster_(std::move(cluster)),
      project_(option_text(options, "Project", "")),
      file_(option_text(options, "CredentialsFile", "")),
      metadata_(option_text(options, "MetadataEndpoint", "http://metadata.google.internal")),
      base_(option_text(options, "Endpoint", "https://compute.googleapis.com") + "/compute/v1/projects/" +
            url_encode(project_)),
      api_(options, "Authorization: Bearer ", [this](Http& http) { return token(http); }) {}

std::string GcpDriver::check(const Options& options) const {
    Options ours;
    for (const auto& [name, value] : options)
        if (strncasecmp(name.c_str(), "Var.", 4) != 0) ours[name] = value;
    bool ignored = false;
    for (std::string error :
         {unknown_option(ours, {"Project", "Zone", "Endpoint", "CaFile", "Timeout", "CredentialsFile",
                                "MetadataEndpoint", "MachineType", "Image", "DiskGb", "Network", "Subnetwork",
                                "ServiceAccount", "Accelerator", "AcceleratorCount", "Spot", "UserDataFile"}),
          missing_option(ours, {"Project", "Zone", "MachineType", "Image"}), option_flag(ours, "Spot", false, &ignored),
          refuse_url(base_)})
        if (!error.empty()) return error;
    return make_user_data({"c1", 1, "", "", options}, cluster_).error;
}

std::string GcpDriver::family(const Options& options) const {
    bool spot = false;
    option_flag(options, "Spot", false, &spot);
    std::string zone = option_text(options, "Zone", ""), type = option_text(options, "MachineType", "");
    return fmt::format("gcp {} {} {} {} {}", project_, zone.substr(0, zone.rfind('-')), type.substr(0, type.find('-')),
                       option_text(options, "Accelerator", ""), spot ? "spot" : "on-demand");
}

JsonAnswer GcpDriver::call(const std::string& method, const std::string& path, const json_t* body) {
    JsonAnswer answer = api_.call(method, base_ + path, body);
    answer.error = explain(answer);
    return answer;
}

// Waits a moment for the operation in `answer`. No error: done, or still under way.
Error GcpDriver::follow(const std::string& zone, JsonAnswer answer, bool* done) {
    for (int look = 0;; look++) {
        if (answer.error) return answer.error;
        *done = json_text(answer.body.get(), "status") == "DONE";
        if (*done) return operation_error(answer.body.get());
        std::string name = json_text(answer.body.get(), "name");
        if (look == kLooks || name.empty()) return {};
        usleep(kLookUs);
        answer = call("GET", "/zones/" + zone + "/operations/" + url_encode(name));
        if (answer.error) return {ErrorClass::transient, answer.error.message};
    }
}

Json GcpDriver::body_of(const LaunchSpec& spec, const std::string& name, Error* error) const {
    UserData data = make_user_data(spec, cluster_);
    if (!data.error.empty()) return *error = {ErrorClass::permanent, data.error}, nullptr;
    const Options& o = spec.options;
    bool spot = false;
    option_flag(o, "Spot", false, &spot);
    Json disk(json_pack("{sss{ss}}", "type", "PERSISTENT", "initializeParams", "sourceImage",
                        option_text(o, "Image", "").c_str()));
    json_object_set_new(disk.get(), "boot", json_true());
    json_object_set_new(disk.get(), "autoDelete", json_true());
    json_put(json_object_get(disk.get(), "initializeParams"), "diskSizeGb", option_text(o, "DiskGb", ""));
    Json network(json_object()), items(json_array());
    json_put(network.get(), "network", option_text(o, "Network", ""));
    json_put(network.get(), "subnetwork", option_text(o, "Subnetwork", ""));
    for (const auto& [key, value] :
         std::map<std::string, std::string>{{"squall-node", spec.node},
                                            {"squall-generation", std::to_string(spec.generation)},
                                            {"user-data", data.text}})
        if (!value.empty())
            json_array_append_new(items.get(), json_pack("{ssss}", "key", key.c_str(), "value", value.c_str()));
    Json properties(json_pack("{sss[O]s[O]s{ss}s{sO}s{sssb}}", "machineType", option_text(o, "MachineType", "").c_str(),
                              "disks", disk.get(), "networkInterfaces", network.get(), "labels", "squall-cluster",
                              label_of(cluster_).c_str(), "metadata", "items", items.get(), "scheduling",
                              "onHostMaintenance", "TERMINATE", "automaticRestart", 0));
    json_t* scheduling = json_object_get(properties.get(), "scheduling");
    if (spot) {
        json_put(scheduling, "provisioningModel", "SPOT");
        json_put(scheduling, "instanceTerminationAction", "STOP");  // deleted, it could not say why
    }
    if (std::string kind = option_text(o, "Accelerator", ""); !kind.empty())
        json_object_set_new(properties.get(), "guestAccelerators",
                            json_pack("[{sssi}]", "acceleratorType", kind.c_str(), "acceleratorCount",
                                      std::atoi(option_text(o, "AcceleratorCount", "1").c_str())));
    if (std::string account = option_text(o, "ServiceAccount", ""); !account.empty())
        json_object_set_new(properties.get(), "serviceAccounts",
                            json_pack("[{sss[s]}]", "email", account.c_str(), "scopes",
                                      "https://www.googleapis.com/auth/cloud-platform"));
    return Json(json_pack("{sssssOs{s{}}}", "count", "1", "minCount", "1", "instanceProperties", properties.get(),
                          "perInstanceProperties", name.c_str()));
}

LaunchResult GcpDriver::launch(const LaunchSpec& spec) {
    if (std::string error = refuse_host_name(spec.node); !error.empty()) return {{ErrorClass::permanent, error}, {}};
    std::string hash = sha256_hex(cluster_ + "\n" + spec.token + "\n" + spec.salt), name = name_for(spec, hash);
    std::string zone = url_encode(option_text(spec.options, "Zone", ""));
    Error error;
    Json body = body_of(spec, name, &error);
    if (error) return {error, {}};
    JsonAnswer answer = call("POST", "/zones/" + zone + "/instances/bulkInsert?requestId=" + uuid_of(hash), body.get());
    // 409: the name is there already, from an earlier try whose id the service has forgotten.
    bool done = answer.status == 409;
    if (!done)
        if ((error = follow(zone, std::move(answer), &done))) return {error, {}};
    if (done) return look(zone, name, spec);
    return {{}, {zone + "/" + name, spec.node, spec.generation, InstanceState::pending, "", ""}};
}

LaunchResult GcpDriver::look(const std::string& zone, const std::string& name, const LaunchSpec& spec) {
    LaunchResult result;
    JsonAnswer answer = call("GET", "/zones/" + zone + "/instances/" + name);
    if (!answer.error) result.instance = read_instance(answer.body.get());
    if (answer.status == 404) {
        result.instance.state = InstanceState::gone;
        result.instance.reason = "it has ended";
    } else if (answer.error) {
        result.error = {ErrorClass::transient, answer.error.message};
    }
    result.instance.id = zone + "/" + name;
    result.instance.node = spec.node;
    result.instance.generation = spec.generation;
    return result;
}

ListResult GcpDriver::list() {
    ListResult result;
    std::string next;
    for (int page = 0; page < kMostPages; page++) {
        JsonAnswer answer = call("GET", "/aggregated/instances?maxResults=500&filter=" +
                                            url_encode("labels.squall-cluster=" + label_of(cluster_)) +
                                            (next.empty() ? "" : "&pageToken=" + url_encode(next)));
        const json_t* items = json_object_get(answer.body.get(), "items");
        result.error = answer.error;
        if (!result.error && !items && !json_object_get(answer.body.get(), "kind"))
            result.error = {ErrorClass::transient, "instances: an answer of another kind"};
        if (result.error) return result;
        const char* scope = nullptr;
        json_t *part = nullptr, *one = nullptr;
        std::size_t i = 0;
        json_object_foreach(const_cast<json_t*>(items), scope, part) {
            std::string warning = json_text_at(part, {"warning", "code"});
            if (!warning.empty() && warning != "NO_RESULTS_ON_PAGE")
                result.error = {ErrorClass::transient, fmt::format("instances of {}: {}", scope, warning)};
            json_array_foreach(json_object_get(part, "instances"), i, one)
                result.instances.push_back(read_instance(one));
        }
        next = json_text(answer.body.get(), "nextPageToken");
        if (next.empty()) return result;
    }
    result.error = {ErrorClass::transient, "instances: the pages do not end"};
    return result;
}

Error GcpDriver::terminate(const std::string& id) {
    auto slash = id.find('/');
    if (slash == id.npos || id.find('/', slash + 1) != id.npos || id.find("..") != id.npos) return {};
    std::string zone = url_encode(id.substr(0, slash)), name = url_encode(id.substr(slash + 1));
    JsonAnswer answer = call("DELETE", "/zones/" + zone + "/instances/" + name);
    return answer.status == 404 ? Error{} : answer.error;
}

std::string GcpDriver::console(const std::string& id) {
    auto slash = id.find('/');
    if (slash == id.npos) return "";
    std::string path = fmt::format("/zones/{}/instances/{}/serialPort", url_encode(id.substr(0, slash)),
                                   url_encode(id.substr(slash + 1)));
    return json_text(call("GET", path).body.get(), "contents");
}

}  // namespace squall::cloud
