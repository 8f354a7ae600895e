// SPDX-License-Identifier: GPL-3.0-or-later
// The OpenStack, GCP and Azure drivers beyond the contract: logins, tokens that end or are revoked, pages, partial
// lists, what is asked for, and messages without secrets. Google's JWT is verified by Python's cryptography too where
// it is there.
#include <sys/stat.h>

#include "tests/unit/suite.h"
//
#include "cloud/crypto.h"
#include "tests/unit/driver_subject.h"

using namespace squall;
using namespace squall::cloud;

namespace {

std::vector<std::unique_ptr<HttpSubject>> all_subjects() {
    std::vector<std::unique_ptr<HttpSubject>> all;
    all.push_back(std::make_unique<OpenstackSubject>());
    all.push_back(std::make_unique<GcpSubject>());
    all.push_back(std::make_unique<AzureSubject>());
    return all;
}

void lock_out(HttpSubject& subject) {
    if (auto* one = dynamic_cast<OpenstackSubject*>(&subject)) one->fake.tokens.clear();
    if (auto* one = dynamic_cast<GcpSubject*>(&subject)) one->fake.tokens.clear();
    if (auto* one = dynamic_cast<AzureSubject*>(&subject)) one->fake.tokens.clear();
}

int logins(HttpSubject& subject) {
    if (auto* one = dynamic_cast<OpenstackSubject*>(&subject)) return one->fake.logins;
    if (auto* one = dynamic_cast<GcpSubject*>(&subject)) return one->fake.logins;
    return dynamic_cast<AzureSubject&>(subject).fake.logins;
}

}  // namespace

START_TEST(one_login_serves_many_calls_and_a_revoked_token_is_replaced) {
    for (auto& subject : all_subjects()) {
        auto driver = subject->make();
        for (int i = 0; i < 3; i++) ck_assert(!driver->list().error);
        ck_assert_int_eq(logins(*subject), 1);
        lock_out(*subject);
        Error error = driver->list().error;
        ck_assert_msg(!error, "%s", error.message.c_str());
        ck_assert_int_eq(logins(*subject), 2);
    }
}
END_TEST

START_TEST(wrong_credentials_are_auth_and_in_no_message) {
    OpenstackSubject openstack;
    openstack.fake.credential_secret = "changed";
    AzureSubject azure;
    azure.fake.client_secret = "changed";
    GcpSubject gcp;
    gcp.fake.email = "somebody@else";
    for (HttpSubject* subject : std::initializer_list<HttpSubject*>{&openstack, &gcp, &azure}) {
        auto driver = subject->make();
        for (Error error : {driver->list().error, driver->launch(subject->spec("c1", 1, 1)).error}) {
            ck_assert_msg(error.kind == ErrorClass::auth, "%s: %s", driver->name().c_str(), error.message.c_str());
            for (const char* secret : {"openstack-secret-1", "az~secret", "PRIVATE KEY", "eyJ"})
                ck_assert_msg(error.message.find(secret) == std::string::npos, "%s", error.message.c_str());
        }
        ck_assert_int_eq(subject->fleet().made(), 0);
    }
}
END_TEST

START_TEST(credentials_files_others_can_read_are_refused_before_a_login) {
    for (auto& subject : all_subjects()) {
        ck_assert_int_eq(chmod(subject->credentials().c_str(), 0640), 0);
        Error error = subject->make()->list().error;
        ck_assert(error.kind == ErrorClass::auth);
        ASSERT_HAS(error.message, "chmod 600");
        ck_assert_int_eq(logins(*subject), 0);
    }
}
END_TEST

START_TEST(credentials_files_with_other_things_in_them_say_what_is_missing) {
    for (auto& subject : all_subjects()) {
        HttpSubject::write_secret(subject->credentials(), "[other]\nx=y\n");
        Error error = subject->make()->list().error;
        ck_assert(error.kind == ErrorClass::auth);
        ASSERT_HAS(error.message, "Driver.CredentialsFile=" + subject->credentials() + ": no");
    }
}
END_TEST

START_TEST(pages_are_all_read) {
    for (auto& subject : all_subjects()) {
        subject->fleet().page = 3;
        auto driver = subject->make();
        for (int i = 0; i < 8; i++) {
            LaunchResult launched = driver->launch(subject->spec("c" + std::to_string(i), 1, 1));
            ck_assert_msg(!launched.error, "%s", launched.error.message.c_str());
        }
        ListResult list = driver->list();
        ck_assert_msg(!list.error, "%s", list.error.message.c_str());
        ck_assert_int_eq(list.instances.size(), 8);
    }
}
END_TEST

START_TEST(other_clusters_instances_are_never_seen) {
    OpenstackSubject openstack;
    GcpSubject gcp;
    AzureSubject azure;
    ck_assert(!OpenstackDriver("other", openstack.options()).launch(openstack.spec("c1", 1, 1)).error);
    ck_assert(!GcpDriver("other", gcp.options()).launch(gcp.spec("c1", 1, 1)).error);
    ck_assert(!AzureDriver("other", azure.options()).launch(azure.spec("c1", 1, 1)).error);
    for (HttpSubject* subject : std::initializer_list<HttpSubject*>{&openstack, &gcp, &azure}) {
        auto driver = subject->make();
        ck_assert(driver->list().instances.empty());
        ck_assert(!driver->launch(subject->spec("c1", 1, 1)).error);
        ck_assert_int_eq(driver->list().instances.size(), 1);
        ck_assert_int_eq(subject->fleet().made(), 2);
    }
}
END_TEST

START_TEST(options_are_checked_by_name_and_presence) {
    for (auto& subject : all_subjects()) {
        auto driver = subject->make();
        ck_assert_text(driver->check(subject->options()), "");
        ASSERT_HAS(driver->check(subject->with({{"Imge", "x"}})), "Driver.Imge=x: no such option");
        ASSERT_HAS(driver->check(subject->with({{"Image", ""}})), "Driver.Image= is missing");
        ASSERT_HAS(driver->check(subject->with({{"UserDataFile", "/no/such"}})), "/no/such: cannot be read");
    }
}
END_TEST

START_TEST(node_names_with_capitals_and_dots_come_back_as_they_were) {
    for (auto& subject : all_subjects()) {
        auto driver = subject->make();
        ck_assert(!driver->launch(subject->spec("GPU.Node-1", 7, 1)).error);
        ListResult list = driver->list();
        ck_assert_int_eq(list.instances.size(), 1);
        ck_assert_text(list.instances[0].node, "GPU.Node-1");
        ck_assert_int_eq(list.instances[0].generation, 7);
        ck_assert(driver->launch(subject->spec("evil;name", 1, 1)).error.kind == ErrorClass::permanent);
    }
}
END_TEST

START_TEST(google_operation_that_takes_long_leaves_a_pending_instance) {
    GcpSubject subject;
    subject.fake.slow_operations = 100;
    LaunchResult launched = subject.make()->launch(subject.spec("c1", 1, 1));
    ck_assert(!launched.error && launched.instance.state == InstanceState::pending && !launched.instance.id.empty());
    ck_assert_text(subject.make()->list().instances.at(0).id, launched.instance.id);
}
END_TEST

START_TEST(google_zone_that_cannot_be_reached_makes_the_list_partial) {
    GcpSubject subject;
    auto driver = subject.make();
    ck_assert(!driver->launch(subject.spec("c1", 1, 1)).error);
    subject.fake.zone_warning = "UNREACHABLE";
    ListResult list = driver->list();
    ck_assert(list.error.kind == ErrorClass::transient);
    ASSERT_HAS(list.error.message, "zones/lost-zone: UNREACHABLE");
}
END_TEST

START_TEST(google_metadata_service_gives_a_token_without_a_file) {
    GcpSubject subject;
    GcpDriver driver("test", subject.with({{"CredentialsFile", ""}, {"MetadataEndpoint", subject.fake.url()}}));
    ck_assert(!driver.list().error);
}
END_TEST

START_TEST(google_jwt_is_verified_by_another_library) {
    if (std::system("python3 -c 'import cryptography' 2>/dev/null") != 0) {
        std::puts("absent: python3 cryptography; the JWT was verified by the fake alone");
        return;
    }
    GcpSubject subject;
    ck_assert(!subject.make()->list().error);
    write_file(subject.scratch().path("jwt"), subject.fake.last_jwt);
    write_file(subject.scratch().path("verify.py"), R"py(
import base64, json, sys
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
key = serialization.load_pem_private_key(json.load(open(sys.argv[1]))["private_key"].encode(), None).public_key()
head, claims, signature = open(sys.argv[2]).read().split(".")
decode = lambda t: base64.urlsafe_b64decode(t + "=" * (-len(t) % 4))
key.verify(decode(signature), (head + "." + claims).encode(), padding.PKCS1v15(), hashes.SHA256())
assert json.loads(decode(head))["alg"] == "RS256"
assert json.loads(decode(claims))["exp"] - json.loads(decode(claims))["iat"] <= 3600
)py");
    std::string verify = "python3 " + subject.scratch().path("verify.py") + " " + subject.credentials() + " " +
                         subject.scratch().path("jwt");
    ck_assert_int_eq(std::system(verify.c_str()), 0);
    write_file(subject.scratch().path("jwt"),
               subject.fake.last_jwt.substr(0, subject.fake.last_jwt.size() - 8) + "AAAAAAAA");
    ck_assert_int_ne(std::system((verify + " 2>/dev/null").c_str()), 0);
}
END_TEST

START_TEST(azure_managed_identity_gives_a_token_without_a_file) {
    AzureSubject subject;
    AzureDriver driver("test", subject.with({{"CredentialsFile", ""}, {"MetadataEndpoint", subject.fake.url()}}));
    ck_assert(!driver.list().error);
}
END_TEST

START_TEST(azure_machine_takes_its_disk_and_interface_along_and_is_addressed_once) {
    AzureSubject subject;
    auto driver = subject.make();
    std::string id = driver->launch(subject.spec("c1", 1, 1)).instance.id;
    ck_assert(reaches(*driver, id, InstanceState::running));
    for (int i = 0; i < 3; i++) driver->list();
    ck_assert_int_eq(subject.fake.nic_looks, 1);
    ck_assert(!driver->terminate(id));
    ck_assert(reaches(*driver, id, InstanceState::gone));
    ck_assert_int_eq(subject.left(), 0);
}
END_TEST

START_TEST(openstack_region_without_nova_is_named) {
    OpenstackSubject subject;
    OpenstackDriver driver("test", subject.with({{"Region", "Elsewhere"}}));
    Error error = driver.list().error;
    ck_assert(error.kind == ErrorClass::permanent);
    ASSERT_HAS(error.message, "no public endpoint of type compute in region \"Elsewhere\"");
}
END_TEST

START_TEST(consoles_are_read) {
    OpenstackSubject openstack;
    openstack.fake.console_text = "no bootable device";
    auto nova = openstack.make();
    ck_assert_text(nova->console(nova->launch(openstack.spec("c1", 1, 1)).instance.id), "no bootable device");
    GcpSubject gcp;
    gcp.fake.console_text = "GRUB>";
    auto google = gcp.make();
    ck_assert_text(google->console(google->launch(gcp.spec("c1", 1, 1)).instance.id), "GRUB>");
}
END_TEST

int main() {
    return run_suite(
        "other_clouds",
        {one_login_serves_many_calls_and_a_revoked_token_is_replaced, wrong_credentials_are_auth_and_in_no_message,
         credentials_files_others_can_read_are_refused_before_a_login,
         credentials_files_with_other_things_in_them_say_what_is_missing, pages_are_all_read,
         other_clusters_instances_are_never_seen, options_are_checked_by_name_and_presence,
         node_names_with_capitals_and_dots_come_back_as_they_were,
         google_operation_that_takes_long_leaves_a_pending_instance,
         google_zone_that_cannot_be_reached_makes_the_list_partial,
         google_metadata_service_gives_a_token_without_a_file, google_jwt_is_verified_by_another_library,
         azure_managed_identity_gives_a_token_without_a_file,
         azure_machine_takes_its_disk_and_interface_along_and_is_addressed_once, openstack_region_without_nova_is_named,
         consoles_are_read});
}
