// SPDX-License-Identifier: GPL-3.0-or-later
// A fake of EC2's query API and of the metadata service's roles, written from the public API reference. It checks what
// EC2 checks: signature, date, scope, session token, denied actions, required and unknown parameters, ClientToken with
// the same parameters, tags at launch, pages; and does what EC2 does: no capacity, quota, throttling, an eventually
// consistent list, spot interruptions. What it does not know is an error, never ignored.
#pragma once
#include <fmt/format.h>

#include <memory>
#include <set>
#include <string>

#include "tests/unit/fake_fleet.h"
#include "tests/unit/fake_http.h"
#include "tests/unit/sigv4_check.h"

namespace squall::cloud {

class FakeEc2 {
  public:
    struct Key {
        std::string secret, session_token;
        std::set<std::string> denied;
    };
    FakeEc2() {
        keys["AKIDEXAMPLE"] = {"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "", {}};
        server_ = std::make_unique<FakeHttpServer>([this](const FakeRequest& request) { return handle(request); });
    }
    ~FakeEc2() { server_.reset(); }
    std::string url() const { return server_->url(); }
    FakeHttpServer& server() { return *server_; }

    FakeFleet fleet;
    std::map<std::string, Key> keys;
    std::string region = "eu-test-1";
    std::set<std::string> sold_out;         // instance types, "TYPE spot" for spot only
    std::map<std::string, int> vcpu_left;   // by first letters of the type; absent = no limit
    std::map<std::string, FakeReply> once;  // by action: answered instead, one time
    std::map<std::string, FakeReply> always;
    std::map<std::string, int> calls;  // by action
    std::map<std::string, std::string> console_of;
    std::map<std::string, std::string> spot_price_of;
    long skew_s = 0;  // EC2's clock against ours
    int role_asked = 0;
    long role_lasts_s = 3600;

  private:
    using Form = std::map<std::string, std::string>;

    static FakeReply error(int status, const std::string& code, const std::string& message) {
        return {status,
                "<?xml version=\"1.0\"?><Response><Errors><Error><Code>" + code + "</Code><Message>" + message +
                    "</Message></Error></Errors><RequestID>r-1</RequestID></Response>",
                "text/xml",
                {date_header(0)},
                0,
                false,
                false,
                0};
    }
    static std::string date_header(long skew_s) {
        char text[64];
        std::time_t now = std::time(nullptr) + skew_s;
        std::tm utc{};
        gmtime_r(&now, &utc);
        std::strftime(text, sizeof text, "Date: %a, %d %b %Y %H:%M:%S GMT", &utc);
        return text;
    }

    FakeReply handle(const FakeRequest& request) {
        std::lock_guard<std::mutex> hold(fleet.lock);
        FakeReply reply = request.path.rfind("/latest/", 0) == 0 ? metadata(request) : query(request);
        for (std::string& line : reply.headers)
            if (line.rfind("Date:", 0) == 0) line = date_header(skew_s);
        return reply;
    }

    // IMDSv2: a token by PUT, then GETs that carry it.
    FakeReply metadata(const FakeRequest& request) {
        const std::string folder = "/latest/meta-data/iam/security-credentials/";
        if (request.path == "/latest/api/token") {
            bool good = request.method == "PUT" && !request.header("x-aws-ec2-metadata-token-ttl-seconds").empty();
            return good ? FakeReply{200, "imds-token", "text/plain", {}, 0, false, false, 0} : FakeReply{.status = 400};
        }
        if (request.header("x-aws-ec2-metadata-token") != "imds-token") return {.status = 401};
        if (request.path == folder) return {.status = 200, .body = "squall-role\n", .type = "text/plain"};
        if (request.path != folder + "squall-role") return {.status = 404};
        role_asked++;
        std::string id = fmt::format("ASIAROLE{}", role_asked);
        keys[id] = {"role-secret-" + id, "role-session-token-" + id, {}};
        char until[32];
        std::time_t end = std::time(nullptr) + role_lasts_s;
        std::tm utc{};
        std::strftime(until, sizeof until, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&end, &utc));
        return {.status = 200,
                .body = fmt::format(R"({{"Code":"Success","Type":"AWS-HMAC","AccessKeyId":"{}","SecretAccessKey":"{}",)"
                                    R"("Token":"{}","Expiration":"{}"}})",
                                    id, keys[id].secret, keys[id].session_token, until)};
    }

    std::string unauthorized(const FakeRequest& request, const std::string& action) {
        if (request.header("authorization").empty()) return "MissingAuthenticationToken";
        Sigv4Claim claim = sigv4_claim(request);
        auto key = keys.find(claim.key_id);
        if (key == keys.end()) return "AuthFailure";
        if (request.header("x-amz-security-token") != key->second.session_token) return "InvalidClientTokenId";
        std::string wrong = check_sigv4(request, claim, key->second.secret, region, "ec2", skew_s);
        if (!wrong.empty()) return wrong;
        return key->second.denied.count(action) ? "UnauthorizedOperation" : "";
    }

    FakeReply query(const FakeRequest& request) {
        if (request.method != "POST" || request.path != "/" || !request.query.empty())
            return error(400, "InvalidAction", "the fake takes POST / only");
        Form form = form_fields(request.body);
        std::string action = form["Action"];
        calls[action]++;
        if (std::string code = unauthorized(request, action); !code.empty())
            return error(code == "AuthFailure" || code == "MissingAuthenticationToken" ? 401 : 403, code,
                         "refused by the fake");
        if (form["Version"] != "2016-11-15") return error(400, "InvalidParameterValue", "Version");
        if (auto at = once.find(action); at != once.end()) {
            FakeReply reply = at->second;
            once.erase(at);
            return reply;
        }
        if (auto at = always.find(action); at != always.end()) return at->second;
        if (action == "RunInstances") return run(form);
        if (action == "DescribeInstances") return describe(form);
        if (action == "TerminateInstances") return terminate(form);
        if (action == "GetConsoleOutput") return console(form);
        if (action == "DescribeSpotPriceHistory") return spot_prices(form);
        return error(400, "InvalidAction", action);
    }

    static bool known(const std::string& field) {
        static const std::set<std::string> kPlain = {"Action",
                                                     "Version",
                                                     "MinCount",
                                                     "MaxCount",
                                                     "ClientToken",
                                                     "ImageId",
                                                     "InstanceType",
                                                     "KeyName",
                                                     "UserData",
                                                     "SubnetId",
                                                     "Placement.AvailabilityZone",
                                                     "IamInstanceProfile.Name",
                                                     "InstanceInitiatedShutdownBehavior",
                                                     "MetadataOptions.HttpTokens",
                                                     "InstanceMarketOptions.MarketType",
                                                     "InstanceMarketOptions.SpotOptions.SpotInstanceType",
                                                     "InstanceMarketOptions.SpotOptions.MaxPrice",
                                                     "InstanceMarketOptions.SpotOptions.InstanceInterruptionBehavior"};
        return kPlain.count(field) || field.rfind("TagSpecification.", 0) == 0 ||
               field.rfind("SecurityGroupId.", 0) == 0 || field.rfind("NetworkInterface.1.", 0) == 0;
    }

    static std::map<std::string, std::string> tags_of(Form& form) {
        std::map<std::string, std::string> tags;
        for (int spec = 1; form.count(fmt::format("TagSpecification.{}.ResourceType", spec)); spec++) {
            if (form[fmt::format("TagSpecification.{}.ResourceType", spec)] != "instance") continue;
            for (int i = 1; form.count(fmt::format("TagSpecification.{}.Tag.{}.Key", spec, i)); i++)
                tags[form[fmt::format("TagSpecification.{}.Tag.{}.Key", spec, i)]] =
                    form[fmt::format("TagSpecification.{}.Tag.{}.Value", spec, i)];
        }
        return tags;
    }

    FakeReply injected(const std::string& node) {
        if (fleet.take(node, FaultKind::no_capacity))
            return error(500, "InsufficientInstanceCapacity", "We currently do not have sufficient capacity");
        if (fleet.take(node, FaultKind::quota))
            return error(400, "VcpuLimitExceeded", "more vCPU capacity than your limit");
        if (fleet.take(node, FaultKind::throttled))
            return error(503, "RequestLimitExceeded", "Request limit exceeded.");
        if (fleet.take(node, FaultKind::auth)) return error(403, "UnauthorizedOperation", "You are not authorized");
        if (fleet.take(node, FaultKind::transient))
            return error(500, "InternalError", "An internal error has occurred");
        if (fleet.take(node, FaultKind::permanent))
            return error(400, "InvalidAMIID.NotFound", "The image id does not exist");
        return {.status = 0};
    }

    FakeReply run(Form& form) {
        for (const auto& [field, value] : form)
            if (!known(field)) return error(400, "UnknownParameter", field);
        for (const char* needed : {"MinCount", "MaxCount", "ImageId", "InstanceType"})
            if (form[needed].empty()) return error(400, "MissingParameter", needed);
        if (form["ClientToken"].size() > 64) return error(400, "InvalidParameterValue", "ClientToken");
        auto tags = tags_of(form);
        std::string node = tags["squall:node"], print;
        for (const auto& [field, value] : form) print += field + "=" + value + "\n";
        if (FakeMachine* before = fleet.by_token(form["ClientToken"])) {
            if (fleet.state(*before) == FakeState::gone || fleet.state(*before) == FakeState::dead)
                return error(400, "IdempotentInstanceTerminated", "the instance has been terminated");
            if (before->fingerprint != print) return error(400, "IdempotentParameterMismatch", "other parameters");
            return started(*before);
        }
        if (FakeReply fault = injected(node); fault.status != 0) return fault;
        std::string type = form["InstanceType"];
        bool spot = form["InstanceMarketOptions.MarketType"] == "spot";
        if (form["ImageId"].rfind("ami-", 0) != 0) return error(400, "InvalidAMIID.Malformed", form["ImageId"]);
        if (sold_out.count(type) || (spot && sold_out.count(type + " spot")))
            return error(500, "InsufficientInstanceCapacity", "no " + type + " left");
        std::string letters = type.substr(0, type.find_first_of("0123456789"));
        if (vcpu_left.count(letters) && vcpu_left[letters]-- <= 0)
            return error(400, "VcpuLimitExceeded", "limit of 0 for " + letters);
        FakeMachine& made = fleet.add(fmt::format("i-{:017x}", fleet.machines.size() + 1), node);
        made.token = form["ClientToken"];
        made.fingerprint = print;
        made.tags = tags;
        made.spot = spot;
        made.type = type;
        made.user_data = form["UserData"];
        if (fleet.take(node, FaultKind::lost_answer)) return {.drop = true};
        return started(made);
    }

    FakeReply started(const FakeMachine& one) {
        return {200,
                "<RunInstancesResponse><reservationId>r-1</reservationId><instancesSet>" + item(one) +
                    "</instancesSet></RunInstancesResponse>",
                "text/xml",
                {date_header(0)},
                0,
                false,
                false,
                0};
    }

    std::string item(const FakeMachine& one) {
        static const std::map<FakeState, const char*> kNames = {{FakeState::pending, "pending"},
                                                                {FakeState::running, "running"},
                                                                {FakeState::stopping, "shutting-down"},
                                                                {FakeState::gone, "terminated"},
                                                                {FakeState::dead, "terminated"}};
        FakeState state = fleet.state(one);
        std::string tags, reason;
        for (const auto& [key, value] : one.tags)
            tags += "<item><key>" + key + "</key><value>" + value + "</value></item>";
        if (state == FakeState::dead)
            reason = "<stateReason><code>" + one.death + "</code><message>" + one.death +
                     ": Instance interrupted</message></stateReason>";
        if (one.told_at != 0)
            reason =
                "<stateReason><code>Client.UserInitiatedShutdown</code><message>Client.UserInitiatedShutdown: User "
                "initiated shutdown</message></stateReason>";
        std::string address =
            state == FakeState::running ? "<privateIpAddress>" + one.address + "</privateIpAddress>" : "";
        return fmt::format(
            "<item><instanceId>{}</instanceId><instanceState><code>0</code><name>{}</name></instanceState>"
            "<clientToken>{}</clientToken>{}{}<tagSet>{}</tagSet></item>",
            one.id, kNames.at(state), one.token, address, reason, tags);
    }

    bool matches(const FakeMachine& one, Form& form) {
        for (int i = 1; form.count(fmt::format("Filter.{}.Name", i)); i++) {
            std::string name = form[fmt::format("Filter.{}.Name", i)],
                        value = form[fmt::format("Filter.{}.Value.1", i)];
            if (name == "client-token" && one.token != value) return false;
            if (name.rfind("tag:", 0) != 0) continue;
            auto tag = one.tags.find(name.substr(4));
            if (tag == one.tags.end() || tag->second != value) return false;
        }
        return clock_ms() >= one.shown_at;
    }

    FakeReply describe(Form& form) {
        std::string next = form["NextToken"];
        if (form["Filter.1.Name"] != "client-token" && fleet.take("*", FaultKind::list_fails))
            return error(500, "InternalError", "no list today");
        if (!next.empty() && next.rfind("page-after-", 0) != 0) return error(400, "InvalidNextToken", next);
        std::string after = next.empty() ? "" : next.substr(11), items, last;
        std::size_t count = 0;
        bool more = false;
        for (const auto& [id, one] : fleet.machines) {
            if (id <= after || !matches(one, form)) continue;
            if (++count > fleet.page) {
                more = true;
                break;
            }
            items += "<item><reservationId>r-1</reservationId><instancesSet>" + item(one) + "</instancesSet></item>";
            last = id;
        }
        return {200,
                "<DescribeInstancesResponse><reservationSet>" + items + "</reservationSet>" +
                    (more ? "<nextToken>page-after-" + last + "</nextToken>" : "") + "</DescribeInstancesResponse>",
                "text/xml",
                {date_header(0)},
                0,
                false,
                false,
                0};
    }

    FakeReply terminate(Form& form) {
        auto at = fleet.machines.find(form["InstanceId.1"]);
        if (at == fleet.machines.end()) return error(400, "InvalidInstanceID.NotFound", form["InstanceId.1"]);
        if (fleet.take(at->second.node, FaultKind::terminate_fails)) return error(500, "InternalError", "not now");
        if (fleet.state(at->second) != FakeState::dead) fleet.tell(at->second);
        return {200, "<TerminateInstancesResponse/>", "text/xml", {date_header(0)}, 0, false, false, 0};
    }

    FakeReply console(Form& form) {
        std::string text = console_of[form["InstanceId"]], coded(text.size() * 2 + 8, '\0');
        int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(coded.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
        coded.resize(static_cast<std::size_t>(size));
        return {.status = 200,
                .body = "<GetConsoleOutputResponse><output>" + coded + "</output></GetConsoleOutputResponse>",
                .type = "text/xml"};
    }

    FakeReply spot_prices(Form& form) {
        std::string price = spot_price_of[form["InstanceType.1"]];
        std::string one = price.empty() ? "" : "<item><spotPrice>" + price + "</spotPrice></item>";
        return {.status = 200,
                .body = "<DescribeSpotPriceHistoryResponse><spotPriceHistorySet>" + one +
                        "</spotPriceHistorySet></DescribeSpotPriceHistoryResponse>",
                .type = "text/xml"};
    }

    std::unique_ptr<FakeHttpServer> server_;
};

}  // namespace squall::cloud
