// SPDX-License-Identifier: GPL-3.0-or-later
// Price books: what is read, what is refused and how it is named, and the books that come with Squall.
#include <filesystem>

#include "tests/unit/suite.h"
//
#include "cloud/prices.h"
#include "tests/unit/scratch.h"

using namespace squall;
using namespace squall::cloud;

namespace {

std::string book(const std::string& prices, const std::string& currency = "USD", const std::string& provider = "ec2") {
    return "{\"provider\": \"" + provider + "\", \"currency\": \"" + currency +
           "\", \"date\": \"2026-12-01\", \"source\": \"a list\", \"prices\": " + prices + "}";
}

}  // namespace

START_TEST(price_is_found_by_region_type_and_market) {
    Scratch scratch("prices");
    write_file(scratch.path("ec2.json"),
               book(R"({"eu-west-1": {"p3.2xlarge": {"on_demand": 3.305, "spot": 1}, "g5": {"on_demand": 1}}})"));
    PriceBooks books = PriceBooks::read(scratch.dir(), "USD");
    ck_assert(books.errors().empty());
    ck_assert_int_eq(*books.quote("ec2", "eu-west-1", "p3.2xlarge", false).price_micro_h, 3305000);
    ck_assert_int_eq(*books.quote("ec2", "eu-west-1", "p3.2xlarge", true).price_micro_h, 1000000);
    PriceQuote none = books.quote("ec2", "eu-west-1", "g5", true);
    ck_assert(!none.price_micro_h);
    ASSERT_HAS(none.error, scratch.path("ec2.json") + " has no spot price of g5 in eu-west-1");
    ASSERT_HAS(books.quote("azure", "x", "y", false).error, "no price book for azure in " + scratch.dir());
}
END_TEST

START_TEST(wrong_entries_are_named_and_the_rest_is_used) {
    Scratch scratch("prices");
    write_file(scratch.path("ec2.json"), book(R"({"r": {"bad": {"on_demand": -1}, "text": {"on_demand": "3"},
        "huge": {"spot": 1e9}, "odd": {"reserved": 1}, "good": {"on_demand": 2}}})"));
    PriceBooks books = PriceBooks::read(scratch.dir(), "USD");
    ck_assert_int_eq(books.errors().size(), 4);
    ASSERT_HAS(books.errors()[0], "ec2.json: prices/r/bad/on_demand: not a price");
    ASSERT_HAS(books.errors()[3], "prices/r/odd/reserved: neither");
    ck_assert_int_eq(*books.quote("ec2", "r", "good", false).price_micro_h, 2000000);
    ck_assert(!books.quote("ec2", "r", "bad", false).price_micro_h);
}
END_TEST

START_TEST(books_that_cannot_be_used_are_named_and_the_others_read) {
    Scratch scratch("prices");
    write_file(scratch.path("a.json"), "{ not json");
    write_file(scratch.path("b.json"), R"({"provider": "gcp", "currency": "USD", "date": "2026-01-01", "prices": {}})");
    write_file(scratch.path("c.json"), book("{}", "EUR", "azure"));
    write_file(scratch.path("d.json"), book(R"({"r": {"t": {"on_demand": 2}}})"));
    write_file(scratch.path("e.json"), book(R"({"r": {"t": {"on_demand": 9}}})"));
    write_file(scratch.path("notes.txt"), "no book");
    PriceBooks books = PriceBooks::read(scratch.dir(), "USD");
    ck_assert_int_eq(books.errors().size(), 4);
    ASSERT_HAS(books.errors()[0], "a.json:1: ");
    ASSERT_HAS(books.errors()[1], "b.json: \"source\" is missing");
    ASSERT_HAS(books.errors()[2], "\"currency\" is EUR, Currency=USD");
    ASSERT_HAS(books.errors()[3], "e.json: a second book for ec2");
    ck_assert_int_eq(*books.quote("ec2", "r", "t", false).price_micro_h, 2000000);
    ck_assert(PriceBooks::read(scratch.path("nowhere"), "USD").errors().empty());
}
END_TEST

START_TEST(books_that_come_with_squall_are_good) {
    PriceBooks books = PriceBooks::read(SOURCE_DIR "/conf/prices", "USD");
    for (const std::string& error : books.errors()) ck_abort_msg("%s", error.c_str());
    ck_assert(books.quote("ec2", "us-east-1", "p5.4xlarge", false).price_micro_h.value_or(0) > 0);
}
END_TEST

int main() {
    return run_suite("prices",
                     {price_is_found_by_region_type_and_market, wrong_entries_are_named_and_the_rest_is_used,
                      books_that_cannot_be_used_are_named_and_the_others_read, books_that_come_with_squall_are_good});
}
