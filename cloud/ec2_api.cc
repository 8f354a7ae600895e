// SPDX-License-Identifier: GPL-3.0-or-later
// Calling EC2 and sorting its errors: see ec2_api.h.
#include "cloud/ec2_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <initializer_list>
#include <string_view>

namespace squall::cloud {
namespace {

constexpr const char* kVersion = "2016-11-15";
constexpr Seconds kTellSkewS = 60;

HttpLimits limits_of(const Options& options) {
    HttpLimits limits;
    limits.ca_file = option_text(options, "CaFile", "");
    option_seconds(options, "Timeout", limits.total_s, &limits.total_s);
    return limits;
}

bool is_one_of(const std::string& code, std::initializer_list<std::string_view> codes) {
    return std::find(codes.begin(), codes.end(), code) != codes.end();
}

}  // namespace

ErrorClass class_of_ec2_code(const std::string& code, long status) {
    if (is_one_of(code, {"InsufficientInstanceCapacity", "InsufficientHostCapacity", "InsufficientCapacity",
                         "InsufficientReservedInstanceCapacity", "InsufficientAddressCapacity",
                         "InsufficientFreeAddressesInSubnet", "SpotMaxPriceTooLow", "CapacityNotAvailable"}))
        return ErrorClass::no_capacity;
    if (is_one_of(code, {"InstanceLimitExceeded", "VcpuLimitExceeded", "MaxSpotInstanceCountExceeded",
                         "ResourceLimitExceeded", "VolumeLimitExceeded", "MaxIOPSLimitExceeded"}))
        return ErrorClass::quota;
    if (is_one_of(code, {"RequestLimitExceeded", "Throttling", "ThrottlingException", "EC2ThrottledException",
                         "InstanceCreditSpecification.Throttled"}))
        return ErrorClass::throttled;
    if (is_one_of(code, {"AuthFailure", "UnauthorizedOperation", "InvalidClientTokenId", "SignatureDoesNotMatch",
                         "ExpiredToken", "RequestExpired", "OptInRequired", "Blocked", "PendingVerification",
                         "MissingAuthenticationToken", "IncompleteSignature", "InvalidAccessKeyId",
                         "UnrecognizedClientException", "AccessDenied"}))
        return ErrorClass::auth;
    if (is_one_of(code, {"InternalError", "InternalFailure", "ServiceUnavailable", "Unavailable", "RequestTimeout"}))
        return ErrorClass::transient;
    return class_of_status(status);
}

Ec2Api::Ec2Api(const Options& options)
    : region_(option_text(options, "Region", "")),
      endpoint_(option_text(options, "Endpoint", fmt::format("https://ec2.{}.amazonaws.com", region_))),
      http_(limits_of(options)),
      credentials_(http_, options) {
    while (!endpoint_.empty() && endpoint_.back() == '/') endpoint_.pop_back();
}

void Ec2Api::call(const std::string& action, Fields fields, Ec2Answer* answer) {
    AwsCredentials credentials;
    if ((answer->error = credentials_.get(&credentials, std::time(nullptr)))) return;
    fields.insert(fields.begin(), {{"Action", action}, {"Version", kVersion}});
    HttpRequest request{"POST",
                        endpoint_ + "/",
                        {"Content-Type: application/x-www-form-urlencoded; charset=utf-8"},
                        form_body(fields),
                        fmt::format("aws:amz:{}:ec2", region_),
                        credentials.key_id,
                        credentials.secret,
                        0};
    if (!credentials.session_token.empty())
        request.headers.push_back("X-Amz-Security-Token: " + credentials.session_token);
    HttpReply reply = http_.send(request);
    answer->error = explain(action, reply, answer);
    answer->error.message = http_.redact(answer->error.message);
    if (answer->error.kind == ErrorClass::auth) credentials_.forget();
}

Error Ec2Api::explain(const std::string& action, const HttpReply& reply, Ec2Answer* answer) {
    if (reply.status == 0) return {class_of(reply), fmt::format("{}: {}", action, reply.error)};
    auto parsed = answer->xml.load_string(reply.body.c_str());
    if (reply.ok() && parsed) return {};
    if (reply.ok())
        return {ErrorClass::transient,
                fmt::format("{}: {} answers what is not XML ({})", action, endpoint_, parsed.description())};
    pugi::xml_node error = answer->xml.child("Response").child("Errors").child("Error");
    answer->code = error.child_value("Code");
    Error found{class_of_ec2_code(answer->code, reply.status),
                fmt::format("{} {} in {}: {}", action,
                            answer->code.empty() ? fmt::format("HTTP {}", reply.status) : answer->code, region_,
                            error.child_value("Message"))};
    Seconds skew = clock_skew_s(reply);
    if (found.kind == ErrorClass::auth && std::llabs(skew) > kTellSkewS)
        found.message += fmt::format(" (this machine's clock is {} s {} the cloud's; set it right)", std::llabs(skew),
                                     skew > 0 ? "behind" : "ahead of");
    return found;
}

}  // namespace squall::cloud
