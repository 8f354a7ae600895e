// SPDX-License-Identifier: GPL-3.0-or-later
// Keystone v3 and nova: see openstack_driver.h.
#include "cloud/openstack_driver.h"

#include <fmt/format.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "cloud/crypto.h"
#include "cloud/secret_file.h"
#include "cloud/user_data.h"

namespace squall::cloud {
namespace {

constexpr const char* kMicroversion = "OpenStack-API-Version: compute 2.79";
constexpr int kMostPages = 1000;
// How long a launch waits for nova's scheduler to find no host; later failures show in the list.
constexpr int kLooks = 5;
constexpr useconds_t kLookUs = 200000;

std::string cluster_tag(const std::string& cluster) { return "squall-" + sha256_hex(cluster).substr(0, 24); }

std::string address_of(const json_t* server) {
    const char* network = nullptr;
    const json_t *ports = nullptr, *port = nullptr;
    std::size_t i = 0;
    json_object_foreach(json_object_get(const_cast<json_t*>(server), "addresses"), network, ports) {
        json_array_foreach(ports, i, port) {
            if (json_integer(port, "version") == 4 && json_text(port, "OS-EXT-IPS:type", "fixed") == "fixed")
                return json_text(port, "addr");
        }
    }
    return "";
}

Instance read_server(const json_t* server) {
    Instance one;
    one.id = json_text(server, "id");
    const json_t* metadata = json_object_get(server, "metadata");
    one.node = json_text(metadata, "squall:node");
    one.generation = std::atoi(json_text(metadata, "squall:generation").c_str());
    std::string status = json_text(server, "status"), task = json_text(server, "OS-EXT-STS:task_state");
    if (status == "DELETED" || status == "SOFT_DELETED") {
        one.state = InstanceState::gone;
    } else if (task == "deleting" || task == "soft-deleting") {
        one.state = InstanceState::stopping;
    } else if (status == "ERROR") {
        one.state = InstanceState::failed;
        one.reason = json_text_at(server, {"fault", "message"});
        if (one.reason.empty()) one.reason = "nova says ERROR";
    } else if (status == "ACTIVE" || status == "REBOOT" || status == "HARD_REBOOT") {
        one.state = InstanceState::running;
        one.address = address_of(server);
    } else if (status == "SHUTOFF" || status == "STOPPED" || status == "PAUSED" || status == "SUSPENDED" ||
               status == "SHELVED" || status == "SHELVED_OFFLOADED") {
        one.state = InstanceState::failed;
        one.reason = "nova says " + status;
    }
    return one;
}

// Nova's errors are {"badRequest": {"message": …}}: one key, whatever its name.
std::string fault_message(const json_t* body) {
    const char* kind = nullptr;
    json_t* fault = nullptr;
    json_object_foreach(const_cast<json_t*>(body), kind, fault) return fmt::format("{}: {}", kind,
                                                                                   json_text(fault, "message"));
    return "";
}

bool has(const std::string& text, const char* part) { return strcasestr(text.c_str(), part) != nullptr; }

Error explain(const JsonAnswer& answer) {
    if (!answer.error) return {};
    Error error = answer.error;
    std::string message = fault_message(answer.body.get());
    if (answer.status == 403 && has(message, "quota")) error.kind = ErrorClass::quota;
    if (answer.status == 413) error.kind = ErrorClass::throttled;
    if (has(message, "No valid host")) error.kind = ErrorClass::no_capacity;
    if (!message.empty()) error.message += ": " + message;
    return error;
}

bool is_uuid(const std::string& id) { return id.size() == 36 && id.find_first_not_of("0123456789abcdef-") == id.npos; }

std::string next_page(const json_t* body) {
    const json_t* link = nullptr;
    std::size_t i = 0;
    json_array_foreach(json_object_get(body, "servers_links"), i, link) {
        if (json_text(link, "rel") == "next") return json_text(link, "href");
    }
    return "";
}

}  // namespace

OpenstackDriver::OpenstackDriver(std::string cluster, const Options& options)
    : cluster_(std::move(cluster)),
      auth_url_(option_text(options, "AuthUrl", "")),
      region_(option_text(options, "Region", "")),
      file_(option_text(options, "CredentialsFile", "")),
      profile_(option_text(options, "Profile", "default")),
      interface_(option_text(options, "Interface", "public")),
      api_(options, "X-Auth-Token: ", [this](Http& http) { return login(http); }) {
    while (!auth_url_.empty() && auth_url_.back() == '/') auth_url_.pop_back();
    if (auth_url_.size() < 3 || auth_url_.compare(auth_url_.size() - 3, 3, "/v3") != 0) auth_url_ += "/v3";
}

std::string OpenstackDriver::check(const Options& options) const {
    Options ours;
    for (const auto& [name, value] : options)
        if (strncasecmp(name.c_str(), "Var.", 4) != 0) ours[name] = value;
    for (std::string error :
         {unknown_option(ours, {"AuthUrl", "Region", "Interface", "CaFile", "Timeout", "CredentialsFile", "Profile",
                                "Flavor", "Image", "Network", "SecurityGroups", "Zone", "KeyName", "UserDataFile"}),
          missing_option(ours, {"AuthUrl", "CredentialsFile", "Flavor", "Image", "Network"}), refuse_url(auth_url_)})
        if (!error.empty()) return error;
    return make_user_data({"c1", 1, "", "", options}, cluster_).error;
}

BearerToken OpenstackDriver::login(Http& http) {
    std::string text;
    if (std::string error = read_secret_file(file_, &text); !error.empty())
        return {"", 0, {ErrorClass::auth, "Driver.CredentialsFile=" + error}};
    auto section = ini_section(text, profile_);
    std::string id = section["application_credential_id"], secret = section["application_credential_secret"];
    if (id.empty() || secret.empty())
        return {"",
                0,
                {ErrorClass::auth, fmt::format("Driver.CredentialsFile={}: no application_credential_id and "
                                               "application_credential_secret in [{}]",
                                               file_, profile_)}};
    http.keep_secret(secret);
    Json body(json_pack("{s{s{s[s]s{ssss}}}}", "auth", "identity", "methods", "application_credential",
                        "application_credential", "id", id.c_str(), "secret", secret.c_str()));
    HttpReply reply = http.send({"POST",
                                 auth_url_ + "/auth/tokens",
                                 {"Content-Type: application/json"},
                                 json_format(body.get(), JSON_COMPACT),
                                 "",
                                 "",
                                 "",
                                 0});
    JsonAnswer answer = json_answer("POST " + auth_url_ + "/auth/tokens", reply);
    if (answer.error) {
        if (std::string why = fault_message(answer.body.get()); !why.empty()) answer.error.message += ": " + why;
        return {"", 0, answer.error};
    }
    compute_url_.clear();
    const json_t *service = nullptr, *endpoint = nullptr;
    std::size_t i = 0, j = 0;
    json_array_foreach(json_at(answer.body.get(), {"token", "catalog"}), i, service) {
        if (json_text(service, "type") != "compute") continue;
        json_array_foreach(json_object_get(service, "endpoints"), j, endpoint) {
            bool here = region_.empty() || json_text(endpoint, "region_id", json_text(endpoint, "region")) == region_;
            if (here && json_text(endpoint, "interface") == interface_) compute_url_ = json_text(endpoint, "url");
        }
    }
    if (compute_url_.empty())
        return {"",
                0,
                {ErrorClass::permanent, fmt::format("{}: no {} endpoint of type compute in region \"{}\"; see "
                                                    "Driver.Region and Driver.Interface",
                                                    auth_url_, interface_, region_)}};
    return {reply.headers["x-subject-token"], parse_utc(json_text_at(answer.body.get(), {"token", "expires_at"})), {}};
}

JsonAnswer OpenstackDriver::nova(const std::string& method, const std::string& path, const json_t* body) {
    JsonAnswer answer;
    if ((answer.error = api_.ensure_token())) return answer;
    bool whole = path.rfind("http", 0) == 0;  // a next page's link
    if (whole && path.rfind(compute_url_, 0) != 0) {
        answer.error = {ErrorClass::transient, "a next page on another host than nova's is not followed: " + path};
        return answer;
    }
    answer = api_.call(method, whole ? path : compute_url_ + path, body, {kMicroversion});
    answer.error = explain(answer);
    return answer;
}

Json OpenstackDriver::server_body(const LaunchSpec& spec, const std::string& token_tag, Error* error) const {
    UserData data = make_user_data(spec, cluster_);
    if (!data.error.empty()) return *error = {ErrorClass::permanent, data.error}, nullptr;
    const Options& o = spec.options;
    Json server(json_object());
    json_put(server.get(), "name", spec.node);
    json_put(server.get(), "flavorRef", option_text(o, "Flavor", ""));
    json_put(server.get(), "imageRef", option_text(o, "Image", ""));
    json_put(server.get(), "key_name", option_text(o, "KeyName", ""));
    json_put(server.get(), "availability_zone", option_text(o, "Zone", ""));
    json_put(server.get(), "user_data", data.text.empty() ? "" : base64(data.text));
    json_object_set_new(server.get(), "networks", json_pack("[{ss}]", "uuid", option_text(o, "Network", "").c_str()));
    json_object_set_new(server.get(), "metadata",
                        json_pack("{ssssss}", "squall:cluster", cluster_.c_str(), "squall:node", spec.node.c_str(),
                                  "squall:generation", std::to_string(spec.generation).c_str()));
    json_object_set_new(server.get(), "tags", json_pack("[ss]", cluster_tag(cluster_).c_str(), token_tag.c_str()));
    Json groups(json_array());
    for (const std::string& group : option_list(o, "SecurityGroups"))
        json_array_append_new(groups.get(), json_pack("{ss}", "name", group.c_str()));
    if (json_array_size(groups.get()) > 0) json_object_set(server.get(), "security_groups", groups.get());
    return Json(json_pack("{sO}", "server", server.get()));
}

LaunchResult OpenstackDriver::launch(const LaunchSpec& spec) {
    if (std::string error = refuse_host_name(spec.node); !error.empty()) return {{ErrorClass::permanent, error}, {}};
    std::string tag = "squall-t-" + sha256_hex(cluster_ + "\n" + spec.token + "\n" + spec.salt).substr(0, 32);
    ListResult before = list_tagged(cluster_tag(cluster_) + "," + tag);
    if (before.error) {
        // Nothing was made now, but an earlier try may have: only trouble that passes may be said.
        bool passes = before.error.kind == ErrorClass::throttled || before.error.kind == ErrorClass::auth;
        return {{passes ? before.error.kind : ErrorClass::transient, before.error.message}, {}};
    }
    if (!before.instances.empty()) return {{}, before.instances.front()};
    Error error;
    Json body = server_body(spec, tag, &error);
    if (error) return {error, {}};
    JsonAnswer answer = nova("POST", "/servers", body.get());
    if (answer.error) return {answer.error, {}};
    std::string id = json_text_at(answer.body.get(), {"server", "id"});
    if (id.empty()) return {{ErrorClass::transient, "POST /servers: the answer has no server in it"}, {}};
    LaunchResult result = settle(id);
    result.instance.id = id;
    result.instance.node = spec.node;
    result.instance.generation = spec.generation;
    return result;
}

// Nova takes every order and looks for a host afterwards.
LaunchResult OpenstackDriver::settle(const std::string& id) {
    for (int look = 0; look < kLooks; look++) {
        JsonAnswer answer = nova("GET", "/servers/" + id);
        const json_t* server = json_object_get(answer.body.get(), "server");
        if (answer.error || !server) return {};
        Instance one = read_server(server);
        if (one.state == InstanceState::running) return {{}, one};
        if (one.state == InstanceState::failed && has(one.reason, "No valid host") && !terminate(id))
            return {{ErrorClass::no_capacity, one.reason}, {}};
        if (one.state != InstanceState::pending || !json_text(server, "OS-EXT-SRV-ATTR:host").empty()) return {{}, one};
        usleep(kLookUs);
    }
    return {};
}

ListResult OpenstackDriver::list_tagged(const std::string& tags) {
    ListResult result;
    std::string path = "/servers/detail?limit=500&tags=" + url_encode(tags);
    for (int page = 0; page < kMostPages && !path.empty(); page++) {
        JsonAnswer answer = nova("GET", path);
        const json_t *servers = json_object_get(answer.body.get(), "servers"), *server = nullptr;
        result.error = answer.error;
        if (!result.error && !json_is_array(servers))
            result.error = {ErrorClass::transient, "nova: no list of servers"};
        if (result.error) return result;
        std::size_t i = 0;
        json_array_foreach(servers, i, server) {
            if (json_text_at(server, {"metadata", "squall:cluster"}) != cluster_) continue;
            Instance one = read_server(server);
            (one.state == InstanceState::gone ? result.ended : result.instances).push_back(one);
        }
        path = next_page(answer.body.get());
    }
    return result;
}

ListResult OpenstackDriver::list() { return list_tagged(cluster_tag(cluster_)); }

Error OpenstackDriver::terminate(const std::string& id) {
    if (!is_uuid(id)) return {};
    JsonAnswer answer = nova("DELETE", "/servers/" + id);
    return answer.status == 404 ? Error{} : answer.error;
}

std::string OpenstackDriver::console(const std::string& id) {
    if (!is_uuid(id)) return "";
    Json body(json_pack("{s{si}}", "os-getConsoleOutput", "length", 50));
    return json_text(nova("POST", "/servers/" + id + "/action", body.get()).body.get(), "output");
}

}  // namespace squall::cloud
