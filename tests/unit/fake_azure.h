// SPDX-License-Identifier: GPL-3.0-or-later
// A fake of Azure's login, managed identity and resource manager, written from the public API references. It wants an
// api-version on every call, takes a machine whole or not at all, fails allocation afterwards as Azure does, leaves a
// failed machine standing, and keeps network interface and disk of a machine that was not told to take them along.
#pragma once
#include <fmt/format.h>

#include <memory>
#include <set>
#include <string>

#include "src/core/json.h"
#include "tests/unit/fake_fleet.h"
#include "tests/unit/fake_http.h"

namespace squall::cloud {

class FakeAzure {
  public:
    FakeAzure() {
        server_ = std::make_unique<FakeHttpServer>([this](const FakeRequest& request) { return handle(request); });
    }
    ~FakeAzure() { server_.reset(); }
    std::string url() const { return server_->url(); }
    // Disks and interfaces that outlived their machine.
    std::size_t left_behind() {
        std::lock_guard<std::mutex> hold(fleet.lock);
        std::size_t count = 0;
        for (const std::string& part : parts_) {
            auto at = fleet.machines.find(part.substr(0, part.find(' ')));
            count += at == fleet.machines.end() || fleet.state(at->second) == FakeState::gone;
        }
        return count;
    }

    FakeFleet fleet;
    std::string tenant = "tenant-1", client_id = "client-1", client_secret = "az~secret/1";
    std::set<std::string> tokens;
    int logins = 0, nic_looks = 0;

  private:
    static constexpr const char* kGroup = "/subscriptions/sub-1/resourceGroups/group-1/providers/";

    static FakeReply fail(int status, const std::string& code, const std::string& message) {
        Json body(json_pack("{s{ssss}}", "error", "code", code.c_str(), "message", message.c_str()));
        return {.status = status, .body = json_format(body.get(), 0)};
    }
    static FakeReply json_reply(int status, json_t* body) {
        Json owned(body);
        return {.status = status, .body = json_format(owned.get(), 0)};
    }

    FakeReply handle(const FakeRequest& request) {
        std::lock_guard<std::mutex> hold(fleet.lock);
        auto query = form_fields(request.query);
        if (request.path == "/metadata/identity/oauth2/token") return identity(request, query);
        if (request.path == "/" + tenant + "/oauth2/v2.0/token") return login(form_fields(request.body));
        std::string bearer = request.header("authorization");
        if (bearer.rfind("Bearer ", 0) != 0 || !tokens.count(bearer.substr(7)))
            return fail(401, "InvalidAuthenticationToken", "The access token is invalid.");
        if (query["api-version"].empty()) return fail(400, "MissingApiVersionParameter", "api-version is required");
        const std::string machines = std::string(kGroup) + "Microsoft.Compute/virtualMachines",
                          nics = std::string(kGroup) + "Microsoft.Network/networkInterfaces/";
        if (request.path == machines && request.method == "GET") return list(query);
        if (request.path.rfind(nics, 0) == 0) return nic(request.path.substr(nics.size()));
        if (request.path.rfind(machines + "/", 0) != 0) return fail(404, "ResourceNotFound", request.path);
        std::string name = request.path.substr(machines.size() + 1);
        if (request.method == "PUT") return put(name, request.body);
        auto at = fleet.machines.find(name);
        if (at == fleet.machines.end() || fleet.state(at->second) == FakeState::gone)
            return request.method == "DELETE" ? FakeReply{.status = 204} : fail(404, "ResourceNotFound", name);
        if (request.method == "GET") return json_reply(200, shown(at->second));
        if (request.method != "DELETE") return fail(405, "MethodNotAllowed", request.method);
        if (fleet.take(at->second.node, FaultKind::terminate_fails)) return fail(500, "InternalServerError", "not now");
        bool failed = !at->second.fingerprint.empty();
        fleet.tell(at->second);
        if (failed) fleet.machines.erase(at);
        return {.status = 202};
    }

    FakeReply grant(bool by_secret) {
        std::string token = fmt::format("eyJ0.token-{}", ++logins);
        tokens.insert(token);
        if (by_secret) return json_reply(200, json_pack("{sssi}", "access_token", token.c_str(), "expires_in", 3599));
        std::string until = std::to_string(std::time(nullptr) + 3599);
        return json_reply(200, json_pack("{ssss}", "access_token", token.c_str(), "expires_on", until.c_str()));
    }
    FakeReply identity(const FakeRequest& request, std::map<std::string, std::string>& query) {
        bool good = request.header("metadata") == "true" && query["resource"] == "https://management.azure.com/" &&
                    query["api-version"] == "2018-02-01";
        return good ? grant(false) : FakeReply{.status = 400};
    }
    FakeReply login(std::map<std::string, std::string> form) {
        bool good = form["grant_type"] == "client_credentials" && form["client_id"] == client_id &&
                    form["client_secret"] == client_secret && form["scope"] == "https://management.azure.com/.default";
        if (good) return grant(true);
        return {
            .status = 401,
            .body =
                R"({"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret provided."})"};
    }

    FakeReply injected(const std::string& node, std::string* late) {
        if (fleet.take(node, FaultKind::no_capacity)) *late = "AllocationFailed";
        if (fleet.take(node, FaultKind::quota))
            return fail(
                409, "OperationNotAllowed",
                "Operation could not be completed as it results in exceeding approved Total Regional Cores quota.");
        if (fleet.take(node, FaultKind::throttled)) return fail(429, "TooManyRequests", "slow down");
        if (fleet.take(node, FaultKind::auth)) return fail(403, "AuthorizationFailed", "does not have authorization");
        if (fleet.take(node, FaultKind::transient)) return fail(500, "InternalServerError", "internal");
        if (fleet.take(node, FaultKind::permanent)) return fail(400, "InvalidParameter", "imageReference");
        return {.status = 0};
    }

    static std::string text_at(const json_t* value, std::initializer_list<const char*> path) {
        for (const char* key : path) value = json_object_get(value, key);
        return json_is_string(value) ? json_string_value(value) : "";
    }

    static std::string refuse(const json_t* body) {
        const json_t* p = json_object_get(body, "properties");
        const json_t* nic =
            json_array_get(json_object_get(json_object_get(p, "networkProfile"), "networkInterfaceConfigurations"), 0);
        const json_t* ip = json_array_get(json_object_get(json_object_get(nic, "properties"), "ipConfigurations"), 0);
        if (text_at(body, {"location"}).empty()) return "LocationRequired";
        if (text_at(p, {"hardwareProfile", "vmSize"}).empty()) return "vmSize";
        if (text_at(p, {"storageProfile", "osDisk", "createOption"}) != "FromImage") return "osDisk";
        if (text_at(p, {"networkProfile", "networkApiVersion"}).empty()) return "networkApiVersion";
        if (text_at(ip, {"properties", "subnet", "id"}).empty()) return "subnet";
        if (text_at(p, {"osProfile", "computerName"}).empty() || text_at(p, {"osProfile", "adminUsername"}).empty())
            return "osProfile";
        const json_t* key = json_array_get(
            json_object_get(
                json_object_get(json_object_get(json_object_get(p, "osProfile"), "linuxConfiguration"), "ssh"),
                "publicKeys"),
            0);
        return text_at(key, {"keyData"}).rfind("ssh-", 0) == 0 ? "" : "keyData";
    }

    FakeReply put(const std::string& name, const std::string& text) {
        Json body(json_loads(text.c_str(), 0, nullptr));
        if (std::string wrong = refuse(body.get()); !wrong.empty()) return fail(400, "InvalidParameter", wrong);
        auto there = fleet.machines.find(name);
        if (there != fleet.machines.end() && fleet.state(there->second) != FakeState::gone) {
            if (there->second.type != text_at(body.get(), {"properties", "hardwareProfile", "vmSize"}))
                return fail(409, "PropertyChangeNotAllowed", "vmSize");
            return json_reply(200, shown(there->second));
        }
        std::string node = text_at(body.get(), {"tags", "squall-node"}), late;
        if (FakeReply bad = injected(node, &late); bad.status != 0) return bad;
        fleet.machines.erase(name);
        FakeMachine& made = fleet.add(name, node);
        const char* key = nullptr;
        json_t* value = nullptr;
        json_object_foreach(json_object_get(body.get(), "tags"), key, value) made.tags[key] = json_string_value(value);
        made.type = text_at(body.get(), {"properties", "hardwareProfile", "vmSize"});
        made.spot = text_at(body.get(), {"properties", "priority"}) == "Spot";
        made.fingerprint = late;
        const json_t* properties = json_object_get(body.get(), "properties");
        const json_t* card = json_array_get(
            json_object_get(json_object_get(properties, "networkProfile"), "networkInterfaceConfigurations"), 0);
        if (text_at(properties, {"storageProfile", "osDisk", "deleteOption"}) != "Delete")
            parts_.insert(name + " disk");
        if (text_at(card, {"properties", "deleteOption"}) != "Delete") parts_.insert(name + " nic");
        if (fleet.take(node, FaultKind::lost_answer)) return {.drop = true};
        return json_reply(201, shown(made));
    }

    json_t* shown(const FakeMachine& one) {
        FakeState state = fleet.state(one);
        bool failed = !one.fingerprint.empty();
        const char* provisioning = failed                                             ? "Failed"
                                   : state == FakeState::stopping                     ? "Deleting"
                                   : state == FakeState::pending && one.boots_at != 0 ? "Creating"
                                                                                      : "Succeeded";
        std::string power = state == FakeState::dead      ? "PowerState/deallocated"
                            : state == FakeState::running ? "PowerState/running"
                                                          : "PowerState/starting";
        json_t* tags = json_object();
        for (const auto& [key, value] : one.tags) json_object_set_new(tags, key.c_str(), json_string(value.c_str()));
        json_t* statuses = failed
                               ? json_pack("[{ssss}]", "code", ("ProvisioningState/failed/" + one.fingerprint).c_str(),
                                           "message", "We do not have sufficient capacity")
                               : json_pack("[{ss}{ss}]", "code", "ProvisioningState/succeeded", "code", power.c_str());
        std::string nic_id = std::string(kGroup) + "Microsoft.Network/networkInterfaces/" + one.id + "-nic";
        return json_pack("{sssos{sssss{so}s{s[{ss}]}}}", "name", one.id.c_str(), "tags", tags, "properties",
                         "provisioningState", provisioning, "priority", one.spot ? "Spot" : "Regular", "instanceView",
                         "statuses", statuses, "networkProfile", "networkInterfaces", "id", nic_id.c_str());
    }

    FakeReply nic(const std::string& name) {
        nic_looks++;
        auto at = fleet.machines.find(name.substr(0, name.size() - std::min<std::size_t>(name.size(), 4)));
        if (at == fleet.machines.end()) return fail(404, "ResourceNotFound", name);
        return json_reply(200, json_pack("{s{s[{s{ss}}]}}", "properties", "ipConfigurations", "properties",
                                         "privateIPAddress", at->second.address.c_str()));
    }

    FakeReply list(std::map<std::string, std::string>& query) {
        if (fleet.take("*", FaultKind::list_fails)) return fail(500, "InternalServerError", "no list today");
        if (query["$expand"] != "instanceView") return fail(400, "InvalidParameter", "$expand");
        Json machines(json_array());
        std::string last;
        bool more = false;
        for (const auto& [id, one] : fleet.machines) {
            if (id <= query["$skiptoken"] || fleet.state(one) == FakeState::gone) continue;
            if (json_array_size(machines.get()) == fleet.page) {
                more = true;
                break;
            }
            json_array_append_new(machines.get(), shown(one));
            last = id;
        }
        Json body(json_pack("{sO}", "value", machines.get()));
        std::string next = fmt::format(
            "{}{}Microsoft.Compute/virtualMachines?$expand=instanceView&api-version=2023-09-01&$skiptoken={}", url(),
            kGroup, last);
        if (more) json_object_set_new(body.get(), "nextLink", json_string(next.c_str()));
        return {.status = 200, .body = json_format(body.get(), 0)};
    }

    std::set<std::string> parts_;
    std::unique_ptr<FakeHttpServer> server_;
};

}  // namespace squall::cloud
