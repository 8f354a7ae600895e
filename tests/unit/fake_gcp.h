// SPDX-License-Identifier: GPL-3.0-or-later
// A fake of Google's token service, metadata service and Compute Engine, written from the public API references. A
// JWT's header, claims and RS256 signature are checked with the public key; requestId is honoured, names are unique in
// a zone, operations take a moment and fail as Google's do, aggregated lists come in pages and by zone.
#pragma once
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <memory>
#include <regex>
#include <set>
#include <string>

#include "src/core/json.h"
#include "tests/unit/fake_fleet.h"
#include "tests/unit/fake_http.h"
#include "tests/unit/sigv4_check.h"

namespace squall::cloud {

// Written apart from the driver's: a mistake shared by both would pass.
inline std::string decode_base64_url(std::string text) {
    for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
    while (text.size() % 4 != 0) text += '=';
    std::string out(text.size(), '\0');
    int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                               reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
    if (size < 0) return "";
    std::size_t pad = text.size() - std::min(text.find('='), text.size());
    out.resize(static_cast<std::size_t>(size) - pad);
    return out;
}

class FakeGcp {
  public:
    FakeGcp() : key_(EVP_RSA_gen(2048), EVP_PKEY_free) {
        server_ = std::make_unique<FakeHttpServer>([this](const FakeRequest& request) { return handle(request); });
    }
    ~FakeGcp() { server_.reset(); }
    std::string url() const { return server_->url(); }
    // As the console hands it out.
    std::string key_file() const {
        std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), BIO_free);
        PEM_write_bio_PrivateKey(out.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
        char* data = nullptr;
        long size = BIO_get_mem_data(out.get(), &data);
        std::string pem(data, static_cast<std::size_t>(size));
        Json file(json_pack("{ssssssssss}", "type", "service_account", "client_email", email.c_str(), "private_key_id",
                            "kid-1", "private_key", pem.c_str(), "token_uri", (url() + "/token").c_str()));
        return json_format(file.get(), JSON_INDENT(2));
    }

    FakeFleet fleet;
    std::string email = "squall@project-1.iam.gserviceaccount.com", project = "project-1";
    std::set<std::string> tokens;
    int logins = 0;
    int slow_operations = 0;   // this many looks see it running
    std::string zone_warning;  // code, in the next list
    std::string last_jwt, console_text;

  private:
    static FakeReply fail(int status, const std::string& reason, const std::string& message) {
        Json body(json_pack("{s{sisss[{ssss}]}}", "error", "code", status, "message", message.c_str(), "errors",
                            "reason", reason.c_str(), "message", message.c_str()));
        return {.status = status, .body = json_format(body.get(), 0)};
    }
    static FakeReply json_reply(json_t* body) {
        Json owned(body);
        return {.status = 200, .body = json_format(owned.get(), 0)};
    }

    FakeReply handle(const FakeRequest& request) {
        std::lock_guard<std::mutex> hold(fleet.lock);
        if (request.path == "/token") return login(request);
        if (request.path == "/computeMetadata/v1/instance/service-accounts/default/token") {
            if (request.header("metadata-flavor") != "Google") return {.status = 403};
            return grant();
        }
        std::string bearer = request.header("authorization");
        if (bearer.rfind("Bearer ", 0) != 0 || !tokens.count(bearer.substr(7)))
            return fail(401, "authError", "Invalid Credentials");
        std::string base = "/compute/v1/projects/" + project;
        if (request.path.rfind(base, 0) != 0) return fail(404, "notFound", request.path);
        std::string rest = request.path.substr(base.size());
        auto query = form_fields(request.query);
        if (request.method == "GET" && rest == "/aggregated/instances") return list(query);
        static const std::regex kPath("/zones/([a-z0-9-]+)/(instances|operations)/([a-zA-Z0-9-]+)(/serialPort)?");
        std::smatch part;
        if (!std::regex_match(rest, part, kPath)) return fail(404, "notFound", rest);
        std::string zone = part[1], kind = part[2], name = part[3];
        if (kind == "operations") return operation(name);
        if (request.method == "POST" && name == "bulkInsert") return insert(zone, query, request.body);
        auto at = fleet.machines.find(zone + "/" + name);
        if (at == fleet.machines.end() || fleet.state(at->second) == FakeState::gone)
            return fail(404, "notFound", "The resource was not found");
        if (part[4].length() > 0) return json_reply(json_pack("{ss}", "contents", console_text.c_str()));
        if (request.method == "GET") return json_reply(shown(at->second));
        if (request.method != "DELETE") return fail(405, "httpMethodNotAllowed", request.method);
        if (fleet.take(at->second.node, FaultKind::terminate_fails)) return fail(503, "backendError", "Backend Error");
        fleet.tell(at->second);
        return json_reply(json_pack("{ssss}", "name", "op-delete", "status", "RUNNING"));
    }

    FakeReply grant() {
        std::string token = fmt::format("ya29.token-{}", ++logins);
        tokens.insert(token);
        return json_reply(
            json_pack("{sssiss}", "access_token", token.c_str(), "expires_in", 3599, "token_type", "Bearer"));
    }

    FakeReply login(const FakeRequest& request) {
        auto form = form_fields(request.body);
        last_jwt = form["assertion"];
        std::string wrong =
            form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer" ? check_jwt(last_jwt) : "grant_type";
        if (wrong.empty()) return grant();
        Json body(json_pack("{ssss}", "error", "invalid_grant", "error_description", wrong.c_str()));
        return {.status = 400, .body = json_format(body.get(), 0)};
    }

    std::string check_jwt(const std::string& jwt) {
        std::vector<std::string> parts = split(jwt, '.');
        if (parts.size() != 3 || jwt.find('=') != jwt.npos) return "Invalid JWT: not three parts";
        Json header(json_loads(decode_base64_url(parts[0]).c_str(), 0, nullptr));
        Json claims(json_loads(decode_base64_url(parts[1]).c_str(), 0, nullptr));
        std::string text = parts[0] + "." + parts[1], signature = decode_base64_url(parts[2]);
        std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
        if (json_text(header.get(), "alg") != "RS256" || json_text(header.get(), "kid") != "kid-1")
            return "Invalid JWT header";
        if (EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) != 1 ||
            EVP_DigestVerify(context.get(), reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                             reinterpret_cast<const unsigned char*>(text.data()), text.size()) != 1)
            return "Invalid JWT Signature.";
        std::int64_t now = std::time(nullptr), issued = json_integer(claims.get(), "iat"),
                     ends = json_integer(claims.get(), "exp");
        if (json_text(claims.get(), "iss") != email || json_text(claims.get(), "aud") != url() + "/token")
            return "Invalid JWT iss or aud";
        if (json_text(claims.get(), "scope") != "https://www.googleapis.com/auth/compute") return "Invalid scope";
        if (std::abs(now - issued) > 300 || ends - issued > 3600 || ends <= now)
            return "Token must be a short-lived token";
        return "";
    }

    FakeReply operation(const std::string& name) {
        auto at = operations_.find(name);
        if (at == operations_.end()) return fail(404, "notFound", name);
        bool running = at->second.looks-- > 0;
        Json body(json_pack("{ssss}", "name", name.c_str(), "status", running ? "RUNNING" : "DONE"));
        if (!running && !at->second.error.empty())
            json_object_set_new(
                body.get(), "error",
                json_pack("{s[{ssss}]}", "errors", "code", at->second.error.c_str(), "message", "by the fake"));
        return {.status = 200, .body = json_format(body.get(), 0)};
    }

    static std::string refuse(const json_t* body) {
        const json_t* p = json_object_get(body, "instanceProperties");
        const json_t* disk = json_array_get(json_object_get(p, "disks"), 0);
        if (json_text(body, "count") != "1" || json_text(body, "minCount") != "1") return "count";
        if (json_text(p, "machineType").empty() || json_text(p, "machineType").find('/') != std::string::npos)
            return "machineType";
        if (!json_is_true(json_object_get(disk, "boot")) || !json_is_true(json_object_get(disk, "autoDelete")))
            return "disks";
        if (json_text(json_object_get(disk, "initializeParams"), "sourceImage").empty()) return "sourceImage";
        if (json_object_size(json_object_get(body, "perInstanceProperties")) != 1) return "perInstanceProperties";
        static const std::regex kLabel("[a-z0-9_-]{1,63}"), kName("[a-z]([-a-z0-9]{0,61}[a-z0-9])?");
        const char* key = nullptr;
        json_t* value = nullptr;
        json_object_foreach(json_object_get(p, "labels"), key,
                            value) if (!std::regex_match(json_string_value(value), kLabel)) return "labels";
        json_object_foreach(json_object_get(body, "perInstanceProperties"), key,
                            value) if (!std::regex_match(key, kName)) return "name";
        return "";
    }

    FakeReply injected(const std::string& node, std::string* late) {
        if (fleet.take(node, FaultKind::no_capacity)) *late = "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS";
        if (fleet.take(node, FaultKind::quota)) *late = "QUOTA_EXCEEDED";
        if (fleet.take(node, FaultKind::throttled)) return fail(403, "rateLimitExceeded", "Rate Limit Exceeded");
        if (fleet.take(node, FaultKind::auth))
            return fail(403, "forbidden", "Required 'compute.instances.create' permission");
        if (fleet.take(node, FaultKind::transient)) return fail(503, "backendError", "Backend Error");
        if (fleet.take(node, FaultKind::permanent)) return fail(400, "invalid", "Invalid value for sourceImage");
        return {.status = 0};
    }

    FakeReply insert(const std::string& zone, std::map<std::string, std::string> query, const std::string& text) {
        static const std::regex kUuid("[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
        if (!std::regex_match(query["requestId"], kUuid)) return fail(400, "invalid", "requestId");
        Json body(json_loads(text.c_str(), 0, nullptr));
        if (std::string wrong = refuse(body.get()); !wrong.empty())
            return fail(400, "invalid", "Invalid value for field " + wrong);
        if (requests_.count(query["requestId"])) return operation(requests_[query["requestId"]]);
        const char* name = json_object_iter_key(json_object_iter(json_object_get(body.get(), "perInstanceProperties")));
        std::string id = zone + "/" + name, node, late;
        const json_t *item = nullptr, *properties = json_object_get(body.get(), "instanceProperties");
        std::size_t i = 0;
        std::map<std::string, std::string> metadata;
        json_array_foreach(json_object_get(json_object_get(properties, "metadata"), "items"), i, item)
            metadata[json_text(item, "key")] = json_text(item, "value");
        node = metadata["squall-node"];
        auto there = fleet.machines.find(id);
        if (there != fleet.machines.end() && fleet.state(there->second) != FakeState::gone)
            return fail(409, "alreadyExists", "The resource already exists");
        if (FakeReply bad = injected(node, &late); bad.status != 0) return bad;
        std::string op = fmt::format("operation-{}", operations_.size() + 1);
        operations_[op] = {slow_operations, late};
        if (late.empty()) {
            requests_[query["requestId"]] = op;
            FakeMachine& made = fleet.add(id, node);
            made.tags = metadata;
            made.token = json_text(json_object_get(properties, "labels"), "squall-cluster");
            made.spot = json_text(json_object_get(properties, "scheduling"), "provisioningModel") == "SPOT";
        }
        if (fleet.take(node, FaultKind::lost_answer)) return {.drop = true};
        return json_reply(json_pack("{ssss}", "name", op.c_str(), "status", "PENDING"));
    }

    json_t* shown(const FakeMachine& one) {
        static const std::map<FakeState, const char*> kNames = {{FakeState::pending, "STAGING"},
                                                                {FakeState::running, "RUNNING"},
                                                                {FakeState::stopping, "STOPPING"},
                                                                {FakeState::gone, "TERMINATED"},
                                                                {FakeState::dead, "TERMINATED"}};
        std::size_t slash = one.id.find('/');
        json_t* items = json_array();
        for (const auto& [key, value] : one.tags)
            json_array_append_new(items, json_pack("{ssss}", "key", key.c_str(), "value", value.c_str()));
        return json_pack("{sssssss{so}s[{ss}]}", "name", one.id.substr(slash + 1).c_str(), "zone",
                         ("https://www.googleapis.com/compute/v1/projects/p/zones/" + one.id.substr(0, slash)).c_str(),
                         "status", kNames.at(fleet.state(one)), "metadata", "items", items, "networkInterfaces",
                         "networkIP", one.address.c_str());
    }

    FakeReply list(std::map<std::string, std::string> query) {
        if (fleet.take("*", FaultKind::list_fails)) return fail(503, "backendError", "Backend Error");
        std::string wanted = query["filter"].substr(std::min<std::size_t>(query["filter"].size(), 22)), last;
        if (query["filter"].rfind("labels.squall-cluster=", 0) != 0) return fail(400, "invalid", "filter");
        Json zones(json_pack("{s{s{ss}}}", "zones/empty-zone", "warning", "code", "NO_RESULTS_ON_PAGE"));
        std::size_t count = 0;
        bool more = false;
        for (const auto& [id, one] : fleet.machines) {
            if (id <= query["pageToken"] || one.token != wanted || fleet.state(one) == FakeState::gone) continue;
            if (++count > fleet.page) {
                more = true;
                break;
            }
            std::string zone = "zones/" + id.substr(0, id.find('/'));
            if (!json_object_get(zones.get(), zone.c_str()))
                json_object_set_new(zones.get(), zone.c_str(), json_pack("{s[]}", "instances"));
            json_array_append_new(json_object_get(json_object_get(zones.get(), zone.c_str()), "instances"), shown(one));
            last = id;
        }
        if (!zone_warning.empty())
            json_object_set_new(zones.get(), "zones/lost-zone",
                                json_pack("{s{ss}}", "warning", "code", zone_warning.c_str()));
        Json body(json_pack("{sssO}", "kind", "compute#instanceAggregatedList", "items", zones.get()));
        if (more) json_object_set_new(body.get(), "nextPageToken", json_string(last.c_str()));
        return {.status = 200, .body = json_format(body.get(), 0)};
    }

    struct Operation {
        int looks = 0;
        std::string error;
    };
    std::map<std::string, Operation> operations_;
    std::map<std::string, std::string> requests_;
    std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_;
    std::unique_ptr<FakeHttpServer> server_;
};

}  // namespace squall::cloud
