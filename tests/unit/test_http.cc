// SPDX-License-Identifier: GPL-3.0-or-later
// The drivers' HTTP room: time limits, connection reuse, TLS, secrets, and what trouble is called.
#include <sys/stat.h>

#include <thread>

#include "tests/unit/suite.h"
//
#include "cloud/crypto.h"
#include "cloud/http.h"
#include "cloud/secret_file.h"
#include "tests/unit/fake_http.h"
#include "tests/unit/scratch.h"

using namespace squall;
using namespace squall::cloud;

namespace {
HttpReply get(Http& http, const std::string& url) { return http.send({"GET", url, {}, "", "", "", "", 0}); }
}  // namespace

START_TEST(connection_is_used_again) {
    FakeHttpServer server([](const FakeRequest& request) { return FakeReply{.body = request.target}; });
    Http http;
    for (int i = 0; i < 5; i++) ck_assert_text(get(http, server.url() + "/a?b=1").body, "/a?b=1");
    ck_assert_int_eq(server.connections_made(), 1);
}
END_TEST

START_TEST(slow_body_and_silent_server_end_at_the_time_limit) {
    FakeHttpServer slow([](const FakeRequest&) { return FakeReply{.body = std::string(1000, 'x'), .dribble_ms = 50}; });
    Http http({2, 1, 1 << 20, ""});
    auto began = std::chrono::steady_clock::now();
    HttpReply reply = get(http, slow.url());
    ck_assert(std::chrono::steady_clock::now() - began < std::chrono::seconds(4));
    ck_assert(reply.status == 0 && reply.body.empty() && reply.may_have_arrived && !reply.error.empty());
    ck_assert(class_of(reply) == ErrorClass::transient);
}
END_TEST

START_TEST(dropped_and_cut_replies_are_no_replies) {
    FakeHttpServer server([](const FakeRequest& request) {
        return request.path == "/drop" ? FakeReply{.drop = true} : FakeReply{.body = "whole answer", .cut = true};
    });
    Http http;
    for (const char* path : {"/drop", "/cut"}) {
        HttpReply reply = http.send({"POST", server.url() + path, {}, "x", "", "", "", 0});
        ck_assert(reply.status == 0 && reply.body.empty() && reply.may_have_arrived);
    }
}
END_TEST

START_TEST(request_that_must_go_once_is_not_repeated_when_its_reply_is_lost) {
    int orders = 0;
    FakeHttpServer server([&](const FakeRequest& request) {
        orders += request.path == "/order";
        return request.path == "/order" ? FakeReply{.drop = true} : FakeReply{.body = "ok"};
    });
    Http http;
    get(http, server.url());  // leaves a connection that could be used again
    HttpReply reply = http.send({"POST", server.url() + "/order", {}, "x", "", "", "", 0, true});
    ck_assert(reply.status == 0 && reply.may_have_arrived);
    ck_assert_int_eq(orders, 1);
}
END_TEST

START_TEST(nobody_there_is_known_not_to_have_arrived) {
    std::string url;
    {
        FakeHttpServer server([](const FakeRequest&) { return FakeReply{}; });
        url = server.url();
    }
    Http http;
    HttpReply reply = get(http, url);
    ck_assert(reply.status == 0 && !reply.may_have_arrived);
    ck_assert(class_of(reply) == ErrorClass::transient);
}
END_TEST

START_TEST(body_beyond_the_limit_is_refused) {
    FakeHttpServer server([](const FakeRequest&) { return FakeReply{.body = std::string(4096, 'x')}; });
    Http http({2, 5, 1000, ""});
    ck_assert_int_eq(get(http, server.url()).status, 0);
}
END_TEST

START_TEST(plain_http_is_spoken_to_this_machine_alone) {
    for (const char* good : {"https://ec2.eu-west-1.amazonaws.com/", "http://127.0.0.1:5000", "http://localhost/x",
                             "http://169.254.169.254/latest"})
        ck_assert_text(refuse_url(good), "");
    for (const char* bad : {"http://ec2.amazonaws.com/", "http://127.evil.org@10.0.0.1/", "ftp://127.0.0.1/", "",
                            "127.0.0.1", "http://localhost.evil.org/", "http://127.0.0.1@evil.org/"})
        ck_assert_msg(!refuse_url(bad).empty(), "%s", bad);
    Http http;
    HttpReply reply = get(http, "http://10.0.0.1/");
    ck_assert(reply.status == 0 && !reply.may_have_arrived && class_of(reply) == ErrorClass::permanent);
}
END_TEST

START_TEST(certificate_nobody_vouches_for_is_refused) {
    Scratch scratch("tls");
    std::string make = "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -days 2 -keyout " +
                       scratch.path("key") + " -out " + scratch.path("cert") +
                       " -addext subjectAltName=DNS:localhost 2>/dev/null";
    ck_assert_int_eq(std::system(make.c_str()), 0);
    int port = 20000 + getpid() % 20000;
    pid_t server = in_child([&] {
        execlp("openssl", "openssl", "s_server", "-quiet", "-www", "-accept", std::to_string(port).c_str(), "-key",
               scratch.path("key").c_str(), "-cert", scratch.path("cert").c_str(), nullptr);
        return 1;
    });
    std::string url = "https://localhost:" + std::to_string(port) + "/";
    Http distrusting, trusting({5, 10, 1 << 20, scratch.path("cert")});
    HttpReply good;
    ck_assert(wait_for([&] { return (good = get(trusting, url)).status != 0; }));
    ck_assert_int_eq(good.status, 200);
    HttpReply bad = get(distrusting, url);
    kill(server, SIGKILL);
    wait_child(server);
    ck_assert_int_eq(bad.status, 0);
    ck_assert_msg(class_of(bad) == ErrorClass::permanent && !bad.may_have_arrived, "%s", bad.error.c_str());
    ASSERT_HAS(bad.error, "certificate");
}
END_TEST

START_TEST(kept_secrets_are_in_no_message) {
    Http http;
    http.keep_secret("s3cr3t-value");
    http.keep_secret("");
    http.keep_secret("s3");  // too short to be one, and would eat half the text
    ck_assert_text(http.redact("a s3cr3t-value b s3cr3t-value"), "a [secret] b [secret]");
    ck_assert_text(http.redact("s3 a"), "s3 a");
    HttpReply reply = get(http, "https://127.0.0.1:1/?token=s3cr3t-value");
    ck_assert(reply.error.find("s3cr3t-value") == std::string::npos);
}
END_TEST

START_TEST(statuses_have_their_classes) {
    for (auto [status, kind] : {std::pair(401L, ErrorClass::auth),
                                {403L, ErrorClass::auth},
                                {429L, ErrorClass::throttled},
                                {408L, ErrorClass::transient},
                                {500L, ErrorClass::transient},
                                {503L, ErrorClass::transient},
                                {400L, ErrorClass::permanent},
                                {404L, ErrorClass::permanent}})
        ck_assert_text(to_string(class_of_status(status)), to_string(kind));
}
END_TEST

START_TEST(secret_file_must_be_ours_and_closed) {
    Scratch scratch("secret");
    std::string path = scratch.path("credentials"), text;
    write_file(path, "secret");
    for (mode_t mode : {0644, 0640, 0604, 0660}) {
        ck_assert_int_eq(chmod(path.c_str(), mode), 0);
        ASSERT_HAS(read_secret_file(path, &text), "chmod 600");
    }
    ck_assert_int_eq(chmod(path.c_str(), 0600), 0);
    ck_assert_text(read_secret_file(path, &text), "");
    ck_assert_text(text, "secret");
    std::filesystem::create_symlink(path, scratch.path("link"));
    ASSERT_HAS(read_secret_file(scratch.path("link"), &text), "symbolic link");
    ASSERT_HAS(read_secret_file(scratch.dir(), &text), "not a file");
    ASSERT_HAS(read_secret_file(scratch.path("none"), &text), "none: No such file");
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(path.c_str(), 1234, 1234), 0);
        ASSERT_HAS(read_secret_file(path, &text), "owned by user 1234");
    }
}
END_TEST

START_TEST(hashes_and_encodings_are_the_known_ones) {
    ck_assert_text(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    for (const char* text : {"", "f", "fo", "foo", "foob", "fooba", "foobar"})
        ck_assert_text(from_base64(base64(text)), text);
    ck_assert_text(base64("foob"), "Zm9vYg==");
    ck_assert_text(base64_url("\xfb\xff\xfe"), "-__-");
    ck_assert_text(url_encode("a b/c~d+é"), "a%20b%2Fc~d%2B%C3%A9");
    ck_assert_int_eq(parse_utc("2026-12-01T12:00:00Z"), 1796126400);
    ck_assert_int_eq(parse_utc("yesterday"), 0);
    ck_assert_int_eq(uuid_of("x").size(), 36);
}
END_TEST

int main() {
    return run_suite(
        "http",
        {connection_is_used_again, slow_body_and_silent_server_end_at_the_time_limit,
         dropped_and_cut_replies_are_no_replies, request_that_must_go_once_is_not_repeated_when_its_reply_is_lost,
         request_that_must_go_once_is_not_repeated_when_its_reply_is_lost, nobody_there_is_known_not_to_have_arrived,
         body_beyond_the_limit_is_refused, plain_http_is_spoken_to_this_machine_alone,
         certificate_nobody_vouches_for_is_refused, kept_secrets_are_in_no_message, statuses_have_their_classes,
         secret_file_must_be_ours_and_closed, hashes_and_encodings_are_the_known_ones});
}
