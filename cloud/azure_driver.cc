// SPDX-License-Identifier: GPL-3.0-or-later
// Azure Resource Manager: see azure_driver.h.
#include "cloud/azure_driver.h"

#include <fmt/format.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <initializer_list>
#include <string_view>

#include "cloud/crypto.h"
#include "cloud/secret_file.h"
#include "cloud/user_data.h"

namespace squall::cloud {
namespace {

constexpr const char* kVersion = "api-version=2023-09-01";
constexpr const char* kResource = "https://management.azure.com/";
constexpr int kMostPages = 1000;
constexpr int kLooks = 10;
constexpr useconds_t kLookUs = 200000;
constexpr Seconds kMetadataTimeoutS = 3;

bool is_one_of(const std::string& code, std::initializer_list<std::string_view> codes) {
    return std::find(codes.begin(), codes.end(), code) != codes.end();
}

std::string name_for(const LaunchSpec& spec, const std::string& hash) {
    std::string node;
    for (unsigned char c : spec.node) node += std::isalnum(c) ? static_cast<char>(std::tolower(c)) : '-';
    return fmt::format("squall-{}-{}", node.substr(0, 36), hash.substr(0, 16));
}

ErrorClass class_of_code(const std::string& code, const std::string& message, ErrorClass fallback) {
    if (is_one_of(code, {"AllocationFailed", "ZonalAllocationFailed", "OverconstrainedAllocationRequest",
                         "OverconstrainedZonalAllocationRequest", "SkuNotAvailable", "SpotSkuNotAvailable"}))
        return ErrorClass::no_capacity;
    if (code == "QuotaExceeded" || (code == "OperationNotAllowed" && strcasestr(message.c_str(), "quota")))
        return ErrorClass::quota;
    if (is_one_of(code, {"TooManyRequests", "SubscriptionRequestsThrottled", "OperationNotAllowedThrottled"}))
        return ErrorClass::throttled;
    if (is_one_of(code, {"AuthorizationFailed", "InvalidAuthenticationToken", "ExpiredAuthenticationToken",
                         "AuthenticationFailed", "LinkedAuthorizationFailed"}))
        return ErrorClass::auth;
    if (is_one_of(code, {"InternalExecutionError", "InternalServerError", "ServerTimeout", "RetryableError"}))
        return ErrorClass::transient;
    return fallback;
}

Error explain(const JsonAnswer& answer) {
    if (!answer.error) return {};
    const json_t* error = json_object_get(answer.body.get(), "error");
    std::string code = json_text(error, "code"), message = json_text(error, "message");
    return {class_of_code(code, message, answer.error.kind),
            answer.error.message + (error ? fmt::format(" {}: {}", code, message) : "")};
}

// Why provisioning failed, by the instance view's statuses.
Error provisioning_error(const json_t* machine) {
    const json_t* one = nullptr;
    std::size_t i = 0;
    json_array_foreach(json_at(machine, {"properties", "instanceView", "statuses"}), i, one) {
        std::string code = json_text(one, "code");
        if (code.rfind("ProvisioningState/failed", 0) != 0) continue;
        std::string reason = code.substr(std::min<std::size_t>(code.size(), 25)), message = json_text(one, "message");
        return {class_of_code(reason, message, ErrorClass::permanent), fmt::format("{}: {}", reason, message)};
    }
    return {ErrorClass::permanent, "provisioning failed"};
}

std::string power_state(const json_t* machine) {
    const json_t* one = nullptr;
    std::size_t i = 0;
    json_array_foreach(json_at(machine, {"properties", "instanceView", "statuses"}), i, one) {
        std::string code = json_text(one, "code");
        if (code.rfind("PowerState/", 0) == 0) return code.substr(11);
    }
    return "";
}

bool is_name(const std::string& id) {
    return id.rfind("squall-", 0) == 0 && id.size() <= 64 &&
           std::all_of(id.begin(), id.end(), [](unsigned char c) { return std::isalnum(c) || c == '-'; });
}

}  // namespace

AzureDriver::AzureDriver(std::string cluster, const Options& options)
    : cluster_(std::move(cluster)),
      file_(option_text(options, "CredentialsFile", "")),
      profile_(option_text(options, "Profile", "default")),
      metadata_(option_text(options, "MetadataEndpoint", "http://169.254.169.254")),
      login_(option_text(options, "LoginEndpoint", "https://login.microsoftonline.com")),
      endpoint_(option_text(options, "Endpoint", "https://management.azure.com")),
      group_(fmt::format("/subscriptions/{}/resourceGroups/{}", url_encode(option_text(options, "Subscription", "")),
                         url_encode(option_text(options, "ResourceGroup", "")))),
      machines_(group_ + "/providers/Microsoft.Compute/virtualMachines"),
      api_(options, "Authorization: Bearer ", [this](Http& http) { return token(http); }) {}

std::string AzureDriver::check(const Options& options) const {
    Options ours;
    for (const auto& [name, value] : options)
        if (strncasecmp(name.c_str(), "Var.", 4) != 0) ours[name] = value;
    bool ignored = false;
    for (std::string error : {unknown_option(ours, {"Subscription",  "ResourceGroup",
                                                    "Location",      "Endpoint",
                                                    "LoginEndpoint", "CaFile",
                                                    "Timeout",       "CredentialsFile",
                                                    "Profile",       "MetadataEndpoint",
                                                    "VmSize",        "Image",
                                                    "Subnet",        "Zone",
                                                    "AdminUser",     "SshKeyFile",
                                                    "Identity",      "Spot",
                                                    "SpotMaxPrice",  "UserDataFile"}),
                              missing_option(ours, {"Subscription", "ResourceGroup", "Location", "VmSize", "Image",
                                                    "Subnet", "SshKeyFile"}),
                              option_flag(ours, "Spot", false, &ignored), refuse_url(endpoint_), refuse_url(login_)})
        if (!error.empty()) return error;
    Error error;
    body_of({"c1", 1, "", "", options}, "squall-c1", &error);
    return error.message;
}

std::string AzureDriver::family(const Options& options) const {
    bool spot = false;
    option_flag(options, "Spot", false, &spot);
    std::string size = option_text(options, "VmSize", "");
    // Standard_NC24ads_A100_v4 → its letters and what is behind: quotas are per such family.
    std::string family;
    for (char c : size)
        if (!std::isdigit(static_cast<unsigned char>(c)) || family.find('_') != family.rfind('_')) family += c;
    return fmt::format("azure {} {} {}", option_text(options, "Location", ""), spot ? "" : family,
                       spot ? "spot" : "regular");
}

BearerToken AzureDriver::token(Http& http) {
    if (!file_.empty()) return token_of_secret(http);
    std::string url =
        metadata_ + "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=" + url_encode(kResource);
    HttpReply reply = http.send({"GET", url, {"Metadata: true"}, "", "", "", "", kMetadataTimeoutS});
    JsonAnswer answer = json_answer("managed identity", reply);
    if (answer.error)
        return {"",
                0,
                {ErrorClass::auth,
                 "no Driver.CredentialsFile, and no token for a managed identity: " + answer.error.message}};
    return {json_text(answer.body.get(), "access_token"),
            std::atoll(json_text(answer.body.get(), "expires_on").c_str()),
            {}};
}

BearerToken AzureDriver::token_of_secret(Http& http) {
    std::string text;
    if (std::string error = read_secret_file(file_, &text); !error.empty())
        return {"", 0, {ErrorClass::auth, "Driver.CredentialsFile=" + error}};
    auto section = ini_section(text, profile_);
    std::string tenant = section["tenant"], id = section["client_id"], secret = section["client_secret"];
    if (tenant.empty() || id.empty() || secret.empty())
        return {"",
                0,
                {ErrorClass::auth, fmt::format("Driver.CredentialsFile={}: no tenant, client_id and client_secret in "
                                               "[{}]",
                                               file_, profile_)}};
    http.keep_secret(secret);
    http.keep_secret(url_encode(secret));
    HttpReply reply = http.send({"POST",
                                 login_ + "/" + url_encode(tenant) + "/oauth2/v2.0/token",
                                 {"Content-Type: application/x-www-form-urlencoded"},
                                 form_body({{"grant_type", "client_credentials"},
                                            {"client_id", id},
                                            {"client_secret", secret},
                                            {"scope", std::string(kResource) + ".default"}}),
                                 "",
                                 "",
                                 "",
                                 0});
    JsonAnswer answer = json_answer("login", reply);
    if (answer.error) {
        if (answer.status == 400) answer.error.kind = ErrorClass::auth;  // invalid_client and its kin
        std::string why = json_text(answer.body.get(), "error_description");
        return {"", 0, {answer.error.kind, answer.error.message + (why.empty() ? "" : ": " + why)}};
    }
    return {json_text(answer.body.get(), "access_token"),
            std::time(nullptr) + json_integer(answer.body.get(), "expires_in", 300),
            {}};
}

JsonAnswer AzureDriver::call(const std::string& method, const std::string& path, const json_t* body) {
    JsonAnswer answer;
    if (path.rfind("http", 0) == 0 && path.rfind(endpoint_ + "/", 0) != 0) {
        answer.error = {ErrorClass::transient, "a next page on another host is not followed: " + path};
        return answer;
    }
    answer = api_.call(method, path.rfind("http", 0) == 0 ? path : endpoint_ + path, body);
    answer.error = explain(answer);
    return answer;
}

Json AzureDriver::body_of(const LaunchSpec& spec, const std::string& name, Error* error) const {
    const Options& o = spec.options;
    UserData data = make_user_data(spec, cluster_);
    std::string key;
    if (!data.error.empty()) return *error = {ErrorClass::permanent, data.error}, nullptr;
    if (std::string wrong = read_public_file("SshKeyFile", option_text(o, "SshKeyFile", ""), &key); !wrong.empty())
        return *error = {ErrorClass::permanent, wrong}, nullptr;
    bool spot = false;
    option_flag(o, "Spot", false, &spot);
    std::string user = option_text(o, "AdminUser", "squall"), keys = "/home/" + user + "/.ssh/authorized_keys";
    std::string image = option_text(o, "Image", "");
    Json reference(json_object());
    if (auto parts = split_text(image, ':'); parts.size() == 4) {
        const char* names[] = {"publisher", "offer", "sku", "version"};
        for (std::size_t i = 0; i < 4; i++) json_put(reference.get(), names[i], parts[i]);
    } else {
        json_put(reference.get(), "id", image);
    }
    Json properties(json_pack(
        "{s{ss}s{sOs{ssss}}s{sss[{sss{sbsss[{sss{s{ss}}}]}}]}s{sssss{sbs{s[{ssss}]}}}}", "hardwareProfile", "vmSize",
        option_text(o, "VmSize", "").c_str(), "storageProfile", "imageReference", reference.get(), "osDisk",
        "createOption", "FromImage", "deleteOption", "Delete", "networkProfile", "networkApiVersion", "2022-07-01",
        "networkInterfaceConfigurations", "name", (name + "-nic").c_str(), "properties", "primary", 1, "deleteOption",
        "Delete", "ipConfigurations", "name", "ip", "properties", "subnet", "id", option_text(o, "Subnet", "").c_str(),
        "osProfile", "computerName", spec.node.c_str(), "adminUsername", user.c_str(), "linuxConfiguration",
        "disablePasswordAuthentication", 1, "ssh", "publicKeys", "path", keys.c_str(), "keyData", key.c_str()));
    if (!data.text.empty()) json_put(json_object_get(properties.get(), "osProfile"), "customData", base64(data.text));
    if (spot) {
        json_put(properties.get(), "priority", "Spot");
        json_put(properties.get(), "evictionPolicy", "Deallocate");  // deleted, it could not say why
        std::string most = option_text(o, "SpotMaxPrice", "-1");
        json_object_set_new(properties.get(), "billingProfile",
                            json_pack("{sf}", "maxPrice", std::strtod(most.c_str(), nullptr)));
    }
    Json body(json_pack("{sss{ssssss}sO}", "location", option_text(o, "Location", "").c_str(), "tags", "squall-cluster",
                        cluster_.c_str(), "squall-node", spec.node.c_str(), "squall-generation",
                        std::to_string(spec.generation).c_str(), "properties", properties.get()));
    if (std::string zone = option_text(o, "Zone", ""); !zone.empty())
        json_object_set_new(body.get(), "zones", json_pack("[s]", zone.c_str()));
    if (std::string identity = option_text(o, "Identity", ""); !identity.empty())
        json_object_set_new(
            body.get(), "identity",
            json_pack("{sss{s{}}}", "type", "UserAssigned", "userAssignedIdentities", identity.c_str()));
    return body;
}

LaunchResult AzureDriver::launch(const LaunchSpec& spec) {
    if (std::string error = refuse_host_name(spec.node); !error.empty()) return {{ErrorClass::permanent, error}, {}};
    std::string name = name_for(spec, sha256_hex(cluster_ + "\n" + spec.token + "\n" + spec.salt));
    Error error;
    Json body = body_of(spec, name, &error);
    if (error) return {error, {}};
    JsonAnswer answer = call("PUT", machines_ + "/" + name + "?" + kVersion, body.get());
    // The machine is there from an earlier try and the options have changed: what may not be changed is a conflict.
    bool there = json_text_at(answer.body.get(), {"error", "code"}) == "PropertyChangeNotAllowed";
    if (answer.error && !there) return {answer.error, {}};
    if ((error = settle(name))) return {error, {}};
    return {{}, {name, spec.node, spec.generation, InstanceState::pending, "", ""}};
}

// Azure takes the order and looks for a place afterwards. No error: the machine is made, or still under way.
Error AzureDriver::settle(const std::string& name) {
    for (int look = 0; look < kLooks; look++) {
        JsonAnswer answer = call("GET", machines_ + "/" + name + "?$expand=instanceView&" + kVersion);
        std::string state = json_text_at(answer.body.get(), {"properties", "provisioningState"});
        if (answer.error || state == "Succeeded") return {};
        if (state == "Failed") {
            // It costs nothing, but its name and its interface would stay. Without the deletion it exists: look again.
            Error why = provisioning_error(answer.body.get());
            return terminate(name) ? Error{ErrorClass::transient, why.message} : why;
        }
        usleep(kLookUs);
    }
    return {};
}

std::string AzureDriver::address_of(const json_t* machine) {
    const json_t* nic = json_array_get(json_at(machine, {"properties", "networkProfile", "networkInterfaces"}), 0);
    std::string id = json_text(nic, "id");
    if (id.empty() || id[0] != '/') return "";
    std::string& address = addresses_[id];
    if (!address.empty()) return address;
    JsonAnswer answer = call("GET", id + "?api-version=2022-07-01");
    const json_t* ip = json_array_get(json_at(answer.body.get(), {"properties", "ipConfigurations"}), 0);
    return address = json_text_at(ip, {"properties", "privateIPAddress"});
}

Instance AzureDriver::read_machine(const json_t* machine) {
    Instance one;
    one.id = json_text(machine, "name");
    one.node = json_text_at(machine, {"tags", "squall-node"});
    one.generation = std::atoi(json_text_at(machine, {"tags", "squall-generation"}).c_str());
    std::string provisioning = json_text_at(machine, {"properties", "provisioningState"}), power = power_state(machine);
    if (provisioning == "Deleting") {
        one.state = InstanceState::stopping;
    } else if (provisioning == "Failed") {
        one.state = InstanceState::failed;
        one.reason = provisioning_error(machine).message;
    } else if (power == "deallocated" || power == "deallocating" || power == "stopped" || power == "stopping") {
        one.state = InstanceState::failed;
        one.reason = "Azure says " + power +
                     (json_text_at(machine, {"properties", "priority"}) == "Spot" ? " (spot eviction?)" : "");
    } else if (power == "running") {
        one.address = address_of(machine);
        one.state = one.address.empty() ? InstanceState::pending : InstanceState::running;
    }
    return one;
}

ListResult AzureDriver::list() {
    ListResult result;
    std::string path = machines_ + "?$expand=instanceView&" + kVersion;
    for (int page = 0; page < kMostPages && !path.empty(); page++) {
        JsonAnswer answer = call("GET", path);
        const json_t *machines = json_object_get(answer.body.get(), "value"), *one = nullptr;
        result.error = answer.error;
        if (!result.error && !json_is_array(machines))
            result.error = {ErrorClass::transient, "virtualMachines: an answer of another kind"};
        if (result.error) return result;
        std::size_t i = 0;
        json_array_foreach(machines, i, one) {
            if (json_text_at(one, {"tags", "squall-cluster"}) == cluster_)
                result.instances.push_back(read_machine(one));
        }
        path = json_text(answer.body.get(), "nextLink");
    }
    return result;
}

Error AzureDriver::terminate(const std::string& id) {
    if (!is_name(id)) return {};
    JsonAnswer answer = call("DELETE", machines_ + "/" + id + "?forceDeletion=true&" + kVersion);
    return answer.status == 404 ? Error{} : answer.error;
}

}  // namespace squall::cloud
