// SPDX-License-Identifier: GPL-3.0-or-later
// The EC2 driver beyond the contract: authentication as EC2 checks it, every kind of refusal, pages, spot, user data.
#include <sys/stat.h>

#include "tests/unit/suite.h"
//
#include "cloud/crypto.h"
#include "tests/unit/driver_subject.h"

using namespace squall;
using namespace squall::cloud;

namespace {

const std::string kSecret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

LaunchSpec with(Ec2Subject& subject, const std::string& node, const Options& more) {
    LaunchSpec spec = subject.spec(node, 1, 1);
    for (const auto& [key, value] : more) spec.options[key] = value;
    return spec;
}

Options options_with(Ec2Subject& subject, const Options& more) {
    Options options = subject.options();
    for (const auto& [key, value] : more) options[key] = value;
    return options;
}

FakeReply ec2_error(int status, const std::string& code) {
    return {.status = status,
            .body = "<Response><Errors><Error><Code>" + code + "</Code><Message>" + kSecret +
                    " was here</Message></Error></Errors></Response>",
            .type = "text/xml"};
}

}  // namespace

START_TEST(wrong_secret_key_token_and_denied_action_are_auth_and_tell_no_secret) {
    Ec2Subject subject;
    auto expect = [&](const char* code) {
        Error error = subject.make()->launch(subject.spec("c1", 1, 1)).error;
        ck_assert_text(to_string(error.kind), "auth");
        ASSERT_HAS(error.message, code);
        ck_assert(error.message.find(kSecret) == std::string::npos);
    };
    subject.fake.keys["AKIDEXAMPLE"].secret = "another";
    expect("SignatureDoesNotMatch");
    subject.fake.keys["AKIDEXAMPLE"] = {kSecret, "session", {}};
    expect("InvalidClientTokenId");
    subject.fake.keys["AKIDEXAMPLE"] = {kSecret, "", {"RunInstances"}};
    expect("UnauthorizedOperation");
    subject.fake.keys.clear();
    expect("AuthFailure");
    ck_assert_int_eq(subject.fake.fleet.made(), 0);
}
END_TEST

START_TEST(session_token_is_sent_and_signed) {
    Ec2Subject subject;
    subject.fake.keys["AKIDEXAMPLE"].session_token = "the/session+token==";
    Ec2Subject::write_secret(subject.scratch().path("credentials"),
                             "[other]\naws_access_key_id=no\n[default]\naws_access_key_id=AKIDEXAMPLE\n"
                             "aws_secret_access_key=" +
                                 kSecret + "\naws_session_token=the/session+token==\n");
    LaunchResult launched = subject.make()->launch(subject.spec("c1", 1, 1));
    ck_assert_msg(!launched.error, "%s", launched.error.message.c_str());
}
END_TEST

START_TEST(role_comes_from_the_metadata_service_and_is_renewed_before_it_ends) {
    Ec2Subject subject;
    Options options = options_with(subject, {{"CredentialsFile", ""}, {"MetadataEndpoint", subject.fake.url()}});
    unsetenv("AWS_ACCESS_KEY_ID");
    Ec2Driver driver("test", options);
    ck_assert(!driver.list().error && !driver.list().error);
    ck_assert_int_eq(subject.fake.role_asked, 1);
    subject.fake.keys.clear();  // revoked: refused once, then asked for anew
    ck_assert(driver.list().error.kind == ErrorClass::auth);
    subject.fake.role_lasts_s = 60;
    ck_assert(!driver.list().error);
    ck_assert(!driver.list().error);
    ck_assert_int_eq(subject.fake.role_asked, 3);
    setenv("AWS_ACCESS_KEY_ID", "AKIDENV", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "env-secret", 1);
    subject.fake.keys["AKIDENV"] = {"env-secret", "", {}};
    ck_assert(!Ec2Driver("test", options).list().error);
    ck_assert_int_eq(subject.fake.role_asked, 3);
}
END_TEST

START_TEST(credentials_others_can_read_are_refused_before_anything_is_sent) {
    Ec2Subject subject;
    ck_assert_int_eq(chmod(subject.scratch().path("credentials").c_str(), 0644), 0);
    Error error = subject.make()->list().error;
    ck_assert_text(to_string(error.kind), "auth");
    ASSERT_HAS(error.message, "chmod 600");
    ck_assert_int_eq(subject.fake.calls["DescribeInstances"], 0);
}
END_TEST

START_TEST(clock_that_is_off_is_named) {
    Ec2Subject subject;
    subject.fake.skew_s = 900;
    Error error = subject.make()->list().error;
    ck_assert_text(to_string(error.kind), "auth");
    ASSERT_HAS(error.message, "s behind the cloud's");
}
END_TEST

START_TEST(wrong_region_in_the_scope_is_refused) {
    Ec2Subject subject;
    Error error = Ec2Driver("test", options_with(subject, {{"Region", "us-test-9"}})).list().error;
    ck_assert_text(to_string(error.kind), "auth");
    ASSERT_HAS(error.message, "us-test-9");
}
END_TEST

START_TEST(error_codes_have_their_classes) {
    const std::pair<const char*, ErrorClass> kCodes[] = {{"InsufficientInstanceCapacity", ErrorClass::no_capacity},
                                                         {"SpotMaxPriceTooLow", ErrorClass::no_capacity},
                                                         {"InstanceLimitExceeded", ErrorClass::quota},
                                                         {"MaxSpotInstanceCountExceeded", ErrorClass::quota},
                                                         {"RequestLimitExceeded", ErrorClass::throttled},
                                                         {"ExpiredToken", ErrorClass::auth},
                                                         {"InternalError", ErrorClass::transient},
                                                         {"InvalidSubnetID.NotFound", ErrorClass::permanent}};
    Ec2Subject subject;
    auto driver = subject.make();
    for (const auto& [code, kind] : kCodes) {
        subject.fake.once["RunInstances"] = ec2_error(400, code);
        Error error = driver->launch(subject.spec("c1", 1, 1)).error;
        ck_assert_msg(error.kind == kind, "%s is %s", code, to_string(error.kind));
        ck_assert(error.message.find(kSecret) == std::string::npos);
    }
    for (FakeReply odd :
         {FakeReply{.status = 502, .body = "<html>Bad gateway"}, FakeReply{.status = 200, .body = "not xml"},
          FakeReply{.status = 200, .body = "<RunInstancesResponse/>"}, FakeReply{.cut = true}}) {
        subject.fake.once["RunInstances"] = odd;
        ck_assert(driver->launch(subject.spec("c1", 1, 1)).error.kind == ErrorClass::transient);
    }
}
END_TEST

START_TEST(list_reads_every_page_and_a_page_that_fails_makes_it_partial) {
    Ec2Subject subject;
    subject.fake.fleet.page = 3;
    auto driver = subject.make();
    for (int i = 0; i < 10; i++) ck_assert(!driver->launch(subject.spec("c" + std::to_string(i), 1, 1)).error);
    int before = subject.fake.calls["DescribeInstances"];
    ListResult list = driver->list();
    ck_assert(!list.error);
    ck_assert_int_eq(list.instances.size(), 10);
    ck_assert_int_eq(subject.fake.calls["DescribeInstances"] - before, 4);
    subject.inject("* list_fails 1\n");
    ck_assert(driver->list().error.kind == ErrorClass::transient);
}
END_TEST

START_TEST(other_clusters_instances_are_never_seen) {
    Ec2Subject subject;
    ck_assert(!Ec2Driver("other", subject.options()).launch(subject.spec("c1", 1, 1)).error);
    ck_assert(subject.make()->list().instances.empty());
    // The same node, generation and attempt of two clusters are two instances.
    ck_assert(!subject.make()->launch(subject.spec("c1", 1, 1)).error);
    ck_assert_int_eq(subject.fake.fleet.made(), 2);
}
END_TEST

START_TEST(options_changed_between_two_tries_find_the_first_instance) {
    Ec2Subject subject;
    auto driver = subject.make();
    std::string id = driver->launch(subject.spec("c1", 1, 1)).instance.id;
    LaunchResult again = driver->launch(with(subject, "c1", {{"InstanceType", "p3.8xlarge"}}));
    ck_assert_msg(!again.error, "%s", again.error.message.c_str());
    ck_assert_text(again.instance.id, id);
    ck_assert_int_eq(subject.fake.fleet.made(), 1);
}
END_TEST

START_TEST(spot_is_asked_for_and_its_interruption_is_the_reason) {
    Ec2Subject subject;
    auto driver = subject.make();
    subject.inject("c1 dies_after 0 1\n");
    std::string id = driver->launch(with(subject, "c1", {{"Spot", "yes"}, {"SpotMaxPrice", "1.50"}})).instance.id;
    ck_assert(subject.fake.fleet.machines[id].spot);
    ck_assert(wait_for([&] { return !death_of(*driver, id).empty(); }));
    ASSERT_HAS(death_of(*driver, id), "spot interruption");
}
END_TEST

START_TEST(user_data_is_filled_in_and_never_a_command) {
    Ec2Subject subject;
    std::string path = subject.scratch().path("user-data");
    write_file(path, "#cloud-config\nhostname: @NODE@\nrun: mail x@y.org @CONTROLLER@ @CLUSTER@\n");
    auto driver = subject.make();
    Options good = {{"UserDataFile", path}, {"Var.Controller", "head:6817"}};
    std::string id = driver->launch(with(subject, "c1", good)).instance.id;
    ck_assert_text(from_base64(subject.fake.fleet.machines[id].user_data),
                   "#cloud-config\nhostname: c1\nrun: mail x@y.org head:6817 test\n");
    ASSERT_HAS(driver->check(options_with(subject, {{"UserDataFile", path}})), "@CONTROLLER@ has no value");
    for (const char* evil : {"$(reboot)", "a b", "x\ny", "a;b", "`id`", "a'b"}) {
        Options bad = {{"UserDataFile", path}, {"Var.Controller", evil}};
        ASSERT_HAS(driver->check(options_with(subject, bad)), "go into user data");
    }
    for (const char* node : {"c1;reboot", "", "-c1", "c 1", "c1\n"})
        ck_assert(driver->launch(with(subject, node, good)).error.kind == ErrorClass::permanent);
    ck_assert_int_eq(subject.fake.fleet.made(), 1);
}
END_TEST

START_TEST(options_are_checked_by_name_and_value) {
    Ec2Subject subject;
    auto driver = subject.make();
    ck_assert_text(driver->check(subject.options()), "");
    ASSERT_HAS(driver->check(options_with(subject, {{"InstnceType", "x"}})), "Driver.InstnceType=x: no such option");
    ASSERT_HAS(driver->check(options_with(subject, {{"Spot", "perhaps"}})), "Driver.Spot=perhaps: write yes or no");
    ASSERT_HAS(driver->check(options_with(subject, {{"ImageId", ""}})), "Driver.ImageId= is missing");
    Options plain = options_with(subject, {{"Endpoint", "http://ec2.example.org"}});
    ASSERT_HAS(Ec2Driver("test", plain).check(plain), "without TLS");
    ck_assert(driver->family({{"InstanceType", "p3.2xlarge"}}) == driver->family({{"InstanceType", "p4d.24xlarge"}}));
    ck_assert(driver->family({{"InstanceType", "p3.2xlarge"}}) != driver->family({{"InstanceType", "g5.xlarge"}}));
}
END_TEST

START_TEST(console_says_why_it_did_not_boot) {
    Ec2Subject subject;
    auto driver = subject.make();
    std::string id = driver->launch(subject.spec("c1", 1, 1)).instance.id;
    subject.fake.console_of[id] = "Kernel panic - not syncing\n";
    ck_assert_text(driver->console(id), "Kernel panic - not syncing\n");
    ck_assert_text(driver->console("i-0"), "");
}
END_TEST

int main() {
    return run_suite(
        "ec2_driver",
        {wrong_secret_key_token_and_denied_action_are_auth_and_tell_no_secret, session_token_is_sent_and_signed,
         role_comes_from_the_metadata_service_and_is_renewed_before_it_ends,
         credentials_others_can_read_are_refused_before_anything_is_sent, clock_that_is_off_is_named,
         wrong_region_in_the_scope_is_refused, error_codes_have_their_classes,
         list_reads_every_page_and_a_page_that_fails_makes_it_partial, other_clusters_instances_are_never_seen,
         options_changed_between_two_tries_find_the_first_instance,
         spot_is_asked_for_and_its_interruption_is_the_reason, user_data_is_filled_in_and_never_a_command,
         options_are_checked_by_name_and_value, console_says_why_it_did_not_boot});
}
