// SPDX-License-Identifier: GPL-3.0-or-later
// The contract of cloud/driver.h, against every driver there is. Nothing here knows which driver it talks to.
#include "tests/unit/driver_subject.h"
#include "tests/unit/suite.h"

using namespace squall;
using namespace squall::cloud;

START_TEST(launched_instance_carries_its_tags_and_comes_to_run_with_an_address) {
    for (auto& subject : subjects()) {
        auto driver = subject->make();
        ck_assert(driver->list().instances.empty() && !driver->list().error);
        LaunchResult launched = driver->launch(subject->spec("c1", 3));
        ck_assert_msg(!launched.error, "%s", launched.error.message.c_str());
        ck_assert_text(launched.instance.node.c_str(), "c1");
        ck_assert_int_eq(launched.instance.generation, 3);
        ck_assert(reaches(*driver, launched.instance.id, InstanceState::running));
        ListResult list = driver->list();
        const Instance* found = find_instance(list, launched.instance.id);
        ck_assert(found && found->node == "c1" && found->generation == 3 && !found->address.empty());
    }
}
END_TEST

START_TEST(same_token_never_makes_a_second_instance) {
    for (auto& subject : subjects()) {
        auto driver = subject->make();
        std::string id = driver->launch(subject->spec("c1", 1)).instance.id;
        ck_assert_text(driver->launch(subject->spec("c1", 1)).instance.id.c_str(), id.c_str());
        ck_assert_text(subject->make()->launch(subject->spec("c1", 1)).instance.id.c_str(), id.c_str());
        ck_assert_int_eq(driver->list().instances.size(), 1);
        // Another node, generation or attempt is another instance.
        ck_assert(driver->launch(subject->spec("c2", 1)).instance.id != id);
        ck_assert(driver->launch(subject->spec("c1", 2)).instance.id != id);
        ck_assert(driver->launch(subject->spec("c1", 1, 2)).instance.id != id);
        ck_assert_int_eq(driver->list().instances.size(), 4);
    }
}
END_TEST

START_TEST(token_of_an_ended_instance_answers_gone_and_makes_nothing) {
    for (auto& subject : subjects()) {
        auto driver = subject->make();
        std::string id = driver->launch(subject->spec("c1", 1)).instance.id;
        ck_assert(!driver->terminate(id));
        ck_assert(reaches(*driver, id, InstanceState::gone));
        if (!driver->remembers_tokens()) continue;
        LaunchResult again = driver->launch(subject->spec("c1", 1));
        ck_assert(!again.error && again.instance.id == id && again.instance.state == InstanceState::gone);
        ck_assert(driver->list().instances.empty());
        ck_assert_int_eq(subject->left(), 0);
    }
}
END_TEST

START_TEST(terminated_instance_leaves_nothing_at_whatever_moment_it_was_told) {
    for (auto& subject : subjects()) {
        auto driver = subject->make();
        for (int generation = 1; generation <= 8; generation++) {
            std::string id = driver->launch(subject->spec("c1", generation)).instance.id;
            if (generation > 6) ck_assert(reaches(*driver, id, InstanceState::running));
            std::this_thread::sleep_for(std::chrono::milliseconds(3 * (generation % 6)));
            Error error = driver->terminate(id);
            ck_assert_msg(!error, "%s", error.message.c_str());
            ck_assert(reaches(*driver, id, InstanceState::gone));
            ck_assert_int_eq(subject->left(), 0);
        }
    }
}
END_TEST

START_TEST(terminate_is_idempotent_and_unknown_ids_are_gone_already) {
    for (auto& subject : subjects()) {
        auto driver = subject->make();
        std::string id = driver->launch(subject->spec("c1", 1)).instance.id;
        for (int i = 0; i < 3; i++) ck_assert(!driver->terminate(id));
        ck_assert(reaches(*driver, id, InstanceState::gone));
        for (const std::string& other : {id, std::string("never-was"), std::string("../../etc"), std::string()})
            ck_assert(!driver->terminate(other));
    }
}
END_TEST

START_TEST(restarted_daemon_sees_what_the_killed_one_launched) {
    for (auto& subject : subjects()) {
        LaunchSpec spec = subject->spec("c1", 1);
        pid_t child = in_child([&] {
            subject->make()->launch(spec);
            kill(getpid(), SIGKILL);
            return 0;
        });
        ck_assert_int_eq(wait_child(child), 128 + SIGKILL);
        auto driver = subject->make();
        ListResult list = driver->list();
        ck_assert_int_eq(list.instances.size(), 1);
        ck_assert(reaches(*driver, list.instances[0].id, InstanceState::running));
    }
}
END_TEST

START_TEST(launch_killed_anywhere_and_asked_again_makes_exactly_one) {
    for (auto& subject : subjects()) {
        for (int round = 0; round < 20; round++) {
            std::string node = "c" + std::to_string(round);
            LaunchSpec spec = subject->spec(node, 1);
            int begun[2];
            ck_assert_int_eq(pipe(begun), 0);
            pid_t child = in_child([&] {
                auto driver = subject->make();
                if (write(begun[1], "x", 1) != 1) return 1;
                driver->launch(spec);
                pause();
                return 0;
            });
            char byte;
            ck_assert_int_eq(read(begun[0], &byte, 1), 1);
            std::this_thread::sleep_for(std::chrono::microseconds(round * 250));
            kill(child, SIGKILL);
            wait_child(child);
            close(begun[0]);
            close(begun[1]);
            auto driver = subject->make();
            LaunchResult again = driver->launch(spec);
            ck_assert_msg(!again.error, "%s", again.error.message.c_str());
            ck_assert(reaches(*driver, again.instance.id, InstanceState::running));
            ck_assert_int_eq(driver->list().instances.size(), 1);
            ck_assert(!driver->terminate(again.instance.id));
            ck_assert(reaches(*driver, again.instance.id, InstanceState::gone));
            ck_assert_int_eq(subject->left(), 0);
        }
    }
}
END_TEST

START_TEST(refused_launch_says_its_class_and_makes_nothing) {
    const ErrorClass kinds[] = {ErrorClass::no_capacity, ErrorClass::quota,     ErrorClass::throttled,
                                ErrorClass::auth,        ErrorClass::transient, ErrorClass::permanent};
    for (auto& subject : subjects()) {
        auto driver = subject->make();
        for (ErrorClass kind : kinds) {
            subject->inject(std::string("c1 ") + to_string(kind) + " 1\n");
            LaunchResult refused = driver->launch(subject->spec("c1", 1));
            ck_assert_text(to_string(refused.error.kind), to_string(kind));
            ck_assert(!refused.error.message.empty());
            ck_assert(driver->list().instances.empty());
        }
        ck_assert(!driver->launch(subject->spec("c1", 1)).error);
    }
}
END_TEST

START_TEST(lost_answer_is_found_by_asking_again) {
    for (auto& subject : subjects()) {
        auto driver = subject->make();
        subject->inject("c1 lost_answer 1\n");
        // The driver may ask again by itself where that makes nothing new.
        ErrorClass kind = driver->launch(subject->spec("c1", 1)).error.kind;
        ck_assert_msg(kind == ErrorClass::transient || kind == ErrorClass::none, "%s", to_string(kind));
        LaunchResult again = driver->launch(subject->spec("c1", 1));
        ck_assert(!again.error);
        ck_assert_int_eq(driver->list().instances.size(), 1);
        ck_assert(reaches(*driver, again.instance.id, InstanceState::running));
    }
}
END_TEST

START_TEST(instance_that_dies_is_failed_with_a_reason_until_terminated) {
    for (auto& subject : subjects()) {
        auto driver = subject->make();
        subject->inject("c1 dies_after 1 1\n");
        std::string id = driver->launch(subject->spec("c1", 1)).instance.id;
        ck_assert_msg(wait_for([&] { return !death_of(*driver, id).empty(); }), "%s", driver->name().c_str());
        ck_assert(wait_for([&] { return subject->left() == 0; }));
        ck_assert(!driver->terminate(id));
        ck_assert(reaches(*driver, id, InstanceState::gone));
    }
}
END_TEST

START_TEST(instance_that_never_boots_is_pending_and_can_be_terminated) {
    for (auto& subject : subjects()) {
        auto driver = subject->make();
        subject->inject("* never_boots\n");
        std::string id = driver->launch(subject->spec("c1", 1)).instance.id;
        for (int i = 0; i < 20; i++) {
            ListResult list = driver->list();
            ck_assert(find_instance(list, id) && find_instance(list, id)->state == InstanceState::pending);
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        ck_assert(!driver->terminate(id));
        ck_assert(reaches(*driver, id, InstanceState::gone));
        ck_assert_int_eq(subject->left(), 0);
    }
}
END_TEST

START_TEST(partial_list_says_so_and_failing_terminate_can_be_repeated) {
    for (auto& subject : subjects()) {
        auto driver = subject->make();
        std::string id = driver->launch(subject->spec("c1", 1)).instance.id;
        subject->inject("* list_fails 1\nc1 terminate_fails 1\n");
        ck_assert(driver->list().error.kind != ErrorClass::none);
        ck_assert(!driver->list().error);
        ck_assert(driver->terminate(id).kind != ErrorClass::none);
        ListResult list = driver->list();
        ck_assert(find_instance(list, id) != nullptr);
        ck_assert(!driver->terminate(id));
        ck_assert(reaches(*driver, id, InstanceState::gone));
    }
}
END_TEST

int main() {
    return run_suite(
        "driver_contract",
        {launched_instance_carries_its_tags_and_comes_to_run_with_an_address, same_token_never_makes_a_second_instance,
         token_of_an_ended_instance_answers_gone_and_makes_nothing,
         terminated_instance_leaves_nothing_at_whatever_moment_it_was_told,
         terminate_is_idempotent_and_unknown_ids_are_gone_already, restarted_daemon_sees_what_the_killed_one_launched,
         launch_killed_anywhere_and_asked_again_makes_exactly_one, refused_launch_says_its_class_and_makes_nothing,
         lost_answer_is_found_by_asking_again, instance_that_dies_is_failed_with_a_reason_until_terminated,
         instance_that_never_boots_is_pending_and_can_be_terminated,
         partial_list_says_so_and_failing_terminate_can_be_repeated},
        nullptr, nullptr, 120);
}
