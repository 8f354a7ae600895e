// SPDX-License-Identifier: GPL-3.0-or-later
// A fake of keystone (application credentials, tokens that end, catalogue) and of nova's servers, written from the
// public API reference. It refuses what nova's schemas refuse: unknown fields, metadata that is no text, tags that are
// too long or asked for without the microversion. A server without a host is taken and shows ERROR, as nova does it.
#pragma once
#include <fmt/format.h>

#include <memory>
#include <set>
#include <string>

#include "src/core/json.h"
#include "tests/unit/fake_fleet.h"
#include "tests/unit/fake_http.h"

namespace squall::cloud {

class FakeOpenstack {
  public:
    FakeOpenstack() {
        server_ = std::make_unique<FakeHttpServer>([this](const FakeRequest& request) { return handle(request); });
    }
    ~FakeOpenstack() { server_.reset(); }
    std::string url() const { return server_->url(); }

    FakeFleet fleet;
    std::string credential_id = "cred-1", credential_secret = "openstack-secret-1", region = "RegionOne";
    std::set<std::string> tokens;
    int logins = 0;
    long token_lasts_s = 3600;
    std::string console_text;

  private:
    static FakeReply fault(int status, const std::string& kind, const std::string& message) {
        Json body(json_pack("{s{sssi}}", kind.c_str(), "message", message.c_str(), "code", status));
        return {.status = status, .body = json_format(body.get(), 0)};
    }
    static FakeReply json_reply(int status, json_t* body) {
        Json owned(body);
        return {.status = status, .body = json_format(owned.get(), 0)};
    }

    FakeReply handle(const FakeRequest& request) {
        std::lock_guard<std::mutex> hold(fleet.lock);
        if (request.path == "/v3/auth/tokens") return login(request);
        if (!tokens.count(request.header("x-auth-token"))) return {.status = 401, .body = R"({"error":{"code":401}})"};
        if (request.path.rfind("/compute/v2.1/servers", 0) != 0) return fault(404, "itemNotFound", request.path);
        if (request.header("openstack-api-version") != "compute 2.79")
            return fault(400, "badRequest", "tags need a microversion of 2.52 or later");
        std::string rest = request.path.substr(21);
        if (request.method == "POST" && rest.empty()) return create(request);
        if (request.method == "GET" && rest == "/detail") return detail(form_fields(request.query));
        auto at = fleet.machines.find(rest.substr(0, rest.find('/', 1)).substr(1));
        if (at == fleet.machines.end() || fleet.state(at->second) == FakeState::gone)
            return fault(404, "itemNotFound", "Instance could not be found.");
        if (request.method == "GET") return json_reply(200, json_pack("{so}", "server", shown(at->second)));
        if (request.method == "POST") return json_reply(200, json_pack("{ss}", "output", console_text.c_str()));
        if (request.method != "DELETE") return fault(405, "badMethod", request.method);
        if (fleet.take(at->second.node, FaultKind::terminate_fails))
            return fault(500, "computeFault", "Unexpected API Error.");
        if (at->second.death == "No valid host was found. There are not enough hosts available.")
            fleet.machines.erase(at);
        else
            fleet.tell(at->second);
        return {.status = 204, .body = ""};
    }

    FakeReply login(const FakeRequest& request) {
        logins++;
        Json body(json_loads(request.body.c_str(), 0, nullptr));
        const char *method = "", *id = "", *secret = "";
        if (json_unpack(body.get(), "{s{s{s[s]s{ssss!}!}!}!}", "auth", "identity", "methods", &method,
                        "application_credential", "id", &id, "secret", &secret) != 0)
            return fault(400, "error", "Expecting to find application_credential in identity");
        if (std::string(method) != "application_credential" || credential_id != id || credential_secret != secret)
            return fault(401, "error", "The request you have made requires authentication.");
        std::string token = fmt::format("gAAAA-token-{}", logins);
        tokens.insert(token);
        char until[40];
        std::time_t end = std::time(nullptr) + token_lasts_s;
        std::tm utc{};
        std::strftime(until, sizeof until, "%Y-%m-%dT%H:%M:%S.000000Z", gmtime_r(&end, &utc));
        Json answer(json_pack("{s{sss[{sss[]}{sss[{ssssss}{ssssss}]}]}}", "token", "expires_at", until, "catalog",
                              "type", "image", "endpoints", "type", "compute", "endpoints", "interface", "admin",
                              "region_id", region.c_str(), "url", (url() + "/admin/v2.1").c_str(), "interface",
                              "public", "region_id", region.c_str(), "url", (url() + "/compute/v2.1").c_str()));
        return {.status = 201, .body = json_format(answer.get(), 0), .headers = {"X-Subject-Token: " + token}};
    }

    FakeReply injected(const std::string& node) {
        if (fleet.take(node, FaultKind::quota))
            return fault(403, "forbidden",
                         "Quota exceeded for instances: Requested 1, but already used 10 of 10 instances");
        if (fleet.take(node, FaultKind::throttled)) return fault(429, "overLimit", "This request was rate-limited.");
        if (fleet.take(node, FaultKind::auth))
            return fault(403, "forbidden", "Policy doesn't allow os_compute_api:servers:create to be performed.");
        if (fleet.take(node, FaultKind::transient)) return fault(500, "computeFault", "Unexpected API Error.");
        if (fleet.take(node, FaultKind::permanent)) return fault(400, "badRequest", "Invalid imageRef provided.");
        return {.status = 0};
    }

    std::string refuse(const json_t* server) {
        static const std::set<std::string> kKnown = {
            "name",      "flavorRef", "imageRef", "key_name", "availability_zone",
            "user_data", "networks",  "metadata", "tags",     "security_groups"};
        const char* key = nullptr;
        json_t *value = nullptr, *tag = nullptr;
        std::size_t i = 0;
        json_object_foreach(const_cast<json_t*>(server), key, value) if (!kKnown.count(key)) return std::string(key) +
            " was unexpected";
        for (const char* needed : {"name", "flavorRef", "imageRef", "networks"})
            if (!json_object_get(server, needed)) return std::string("'") + needed + "' is a required property";
        json_object_foreach(json_object_get(server, "metadata"), key,
                            value) if (!json_is_string(value)) return "metadata";
        json_array_foreach(json_object_get(server, "tags"), i, tag) {
            std::string text = json_is_string(tag) ? json_string_value(tag) : "";
            if (text.empty() || text.size() > 60 || text.find_first_of("/,") != text.npos) return "tag " + text;
        }
        return "";
    }

    FakeReply create(const FakeRequest& request) {
        Json body(json_loads(request.body.c_str(), 0, nullptr));
        const json_t* server = json_object_get(body.get(), "server");
        if (std::string wrong = refuse(server); !wrong.empty())
            return fault(400, "badRequest", "Invalid input: " + wrong);
        const json_t* metadata = json_object_get(server, "metadata");
        std::string node = json_text(metadata, "squall:node");
        if (FakeReply bad = injected(node); bad.status != 0) return bad;
        bool no_host = fleet.take(node, FaultKind::no_capacity).has_value();
        std::string id = fmt::format("{:08x}-0000-4000-8000-000000000000", ++last_);
        FakeMachine& made = fleet.add(id, node);
        if (no_host) made.death = "No valid host was found. There are not enough hosts available.", made.dies_at = 1;
        const char* key = nullptr;
        json_t *value = nullptr, *tag = nullptr;
        std::size_t i = 0;
        json_object_foreach(const_cast<json_t*>(metadata), key, value) made.tags[key] = json_string_value(value);
        json_array_foreach(json_object_get(server, "tags"), i, tag) made.token +=
            std::string(json_string_value(tag)) + ",";
        made.user_data = json_text(server, "user_data");
        if (fleet.take(node, FaultKind::lost_answer)) return {.drop = true};
        return json_reply(202, json_pack("{s{ss}}", "server", "id", id.c_str()));
    }

    json_t* shown(const FakeMachine& one) {
        FakeState state = fleet.state(one);
        const char* status = state == FakeState::pending ? "BUILD" : state == FakeState::dead ? "SHUTOFF" : "ACTIVE";
        bool no_host = one.dies_at == 1;
        if (no_host) status = "ERROR";
        json_t* metadata = json_object();
        for (const auto& [key, value] : one.tags)
            json_object_set_new(metadata, key.c_str(), json_string(value.c_str()));
        json_t* server = json_pack("{ssssso}", "id", one.id.c_str(), "status", status, "metadata", metadata);
        json_object_set_new(server, "OS-EXT-STS:task_state",
                            state == FakeState::stopping ? json_string("deleting") : json_null());
        if (no_host)
            json_object_set_new(server, "fault", json_pack("{sssi}", "message", one.death.c_str(), "code", 500));
        if (state == FakeState::running)
            json_object_set_new(
                server, "addresses",
                json_pack("{s[{sissss}{sissss}]}", "private", "version", 6, "addr", "fd00::1", "OS-EXT-IPS:type",
                          "fixed", "version", 4, "addr", one.address.c_str(), "OS-EXT-IPS:type", "fixed"));
        return server;
    }

    FakeReply detail(std::map<std::string, std::string> query) {
        std::string tags = query["tags"];
        if (tags.find("squall-t-") == tags.npos && fleet.take("*", FaultKind::list_fails))
            return fault(500, "computeFault", "Unexpected API Error.");
        std::size_t limit =
            std::min<std::size_t>(fleet.page, static_cast<std::size_t>(std::atoi(query["limit"].c_str())));
        Json servers(json_array());
        std::string last;
        bool more = false;
        for (const auto& [id, one] : fleet.machines) {
            if (id <= query["marker"] || fleet.state(one) == FakeState::gone || !has_tags(one, tags)) continue;
            if (json_array_size(servers.get()) == limit) {
                more = true;
                break;
            }
            json_array_append_new(servers.get(), shown(one));
            last = id;
        }
        Json body(json_pack("{sO}", "servers", servers.get()));
        std::string next =
            fmt::format("{}/compute/v2.1/servers/detail?limit={}&tags={}&marker={}", url(), limit, tags, last);
        if (more)
            json_object_set_new(body.get(), "servers_links",
                                json_pack("[{ssss}]", "rel", "next", "href", next.c_str()));
        return {.status = 200, .body = json_format(body.get(), 0)};
    }

    static bool has_tags(const FakeMachine& one, const std::string& tags) {
        for (std::size_t from = 0; from < tags.size();) {
            std::size_t end = std::min(tags.find(',', from), tags.size());
            if (("," + one.token).find("," + tags.substr(from, end - from) + ",") == std::string::npos) return false;
            from = end + 1;
        }
        return true;
    }

    std::size_t last_ = 0;
    std::unique_ptr<FakeHttpServer> server_;
};

}  // namespace squall::cloud
