// SPDX-License-Identifier: GPL-3.0-or-later
// What every Check program here needs: the header without its macro `fail` (which breaks <fstream>), and a main in
// one line: int main() { return squall::run_suite("daemon", {test_a, test_b}, setup, teardown); }
#pragma once
#include <check.h>
#undef fail

#include <initializer_list>
#include <string>

// ck_assert_str_eq keeps only pointers: a temporary std::string's is gone before it compares.
#define ck_assert_text(X, Y)                              \
    do {                                                  \
        std::string text_x = (X), text_y = (Y);           \
        ck_assert_str_eq(text_x.c_str(), text_y.c_str()); \
    } while (0)
#include <string>

// Text comparisons that keep temporaries alive until the message is printed.
#define ASSERT_TEXT(got, want)                         \
    do {                                               \
        std::string got_ = (got), want_ = (want);      \
        ck_assert_str_eq(got_.c_str(), want_.c_str()); \
    } while (0)
#define ASSERT_HAS(text, part)                                                                                      \
    do {                                                                                                            \
        std::string text_ = (text), part_ = (part);                                                                 \
        ck_assert_msg(text_.find(part_) != std::string::npos, "no \"%s\" in \"%s\"", part_.c_str(), text_.c_str()); \
    } while (0)

namespace squall {

// Setup and teardown run around each test, in the test's own process. Returns main's exit status.
inline int run_suite(const char* name, std::initializer_list<const TTest*> tests, void (*setup)() = nullptr,
                     void (*teardown)() = nullptr, double timeout_s = 60) {
    Suite* suite = suite_create(name);
    TCase* tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, timeout_s);
    for (const TTest* test : tests) tcase_add_test(tcase, test);
    suite_add_tcase(suite, tcase);
    SRunner* runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}

}  // namespace squall
