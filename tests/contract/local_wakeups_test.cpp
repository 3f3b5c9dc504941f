// SPDX-License-Identifier: MIT
// Who releases a lease wakes the waiter, by the kernel.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "contract/local_waiter.hpp"
#include "store/local/wake_files.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;

TEST_CASE("local: a release in one process wakes the waiter in another", "[contract]") {
    const TempDir folder;
    const LocalOptions options = timeless_options_in(folder.path());
    const auto holder = open_store(options);
    Pipe pipe = make_pipe();
    for (int round = 0; round < 3; ++round) {
        const StartId id = take_place(*holder);
        const pid_t child = start_child([&] {
            LeaseWaiter waiter(options, 5);
            if (waiter.ask().wake == 0) return 1;
            if (write(pipe.write_end.get(), "w", 1) != 1) return 2;
            if (!waiter.wait()) return 3;
            return waiter.store().release_leases(waiter.key(), false)->size() == 1 ? 0 : 4;
        });
        expect_byte(pipe);
        CHECK(holder->release(key_named("k"), {id, false})->state == LeaseState::held);
        CHECK(end_of(child) == 0);
    }
    CHECK(files_in(folder.path()) == k_no_wake_files);
}

TEST_CASE("local: what a waiter sleeps on is readable after a release, until it has asked", "[contract]") {
    const TempDir folder;
    const LocalOptions options = timeless_options_in(folder.path());
    const auto holder = open_store(options);
    const StartId id = take_place(*holder);
    LeaseWaiter waiter(options, 5);
    CHECK(waiter.listen().empty());
    CHECK(waiter.ask().wake != 0);
    const auto sleeps_on = waiter.listen();
    REQUIRE(sleeps_on.size() == 1);
    CHECK((fcntl(sleeps_on[0], F_GETFD) & FD_CLOEXEC) != 0);
    CHECK_FALSE(woken(sleeps_on, 0));
    waiter.store().rest();
    CHECK(std::filesystem::exists(wake_file(folder, 5)));
    CHECK(local::WakeFiles(folder.file("state")).wake(5));  // in vain
    CHECK(woken(sleeps_on, 0));
    CHECK(waiter.ask().kind == AnswerKind::wait);
    CHECK_FALSE(woken(waiter.listen(), 0));
    REQUIRE(holder->release(key_named("k"), {id, false}));
    CHECK(woken(waiter.listen(), 0));
    CHECK(waiter.ask().kind == AnswerKind::start);
    CHECK(files_in(folder.path()) == k_no_wake_files);
}

TEST_CASE("local: the file of a waiter goes with its place", "[contract]") {
    const TempDir folder;
    const LocalOptions options = timeless_options_in(folder.path());
    const auto holder = open_store(options);
    take_place(*holder);
    auto waiter = std::make_unique<LeaseWaiter>(options, 5);
    REQUIRE(waiter->ask().wake != 0);
    REQUIRE(std::filesystem::exists(wake_file(folder, 5)));
    SECTION("given back") {
        REQUIRE(waiter->store().cancel(waiter->key(), 5));
        CHECK(waiter->listen().empty());
    }
    SECTION("with its store") {
        waiter.reset();
    }
    SECTION("a copy of the store in a child leaves it") {
        CHECK(run_child([&] {
                  waiter.reset();
                  return 0;
              }) == 0);
        CHECK(std::filesystem::exists(wake_file(folder, 5)));
        waiter.reset();
    }
    SECTION("an answer without a wake-up") {
        Question caller = question_in_line(5);
        caller.caller = true;
        CHECK(waiter->store().ask(waiter->key(), caller)->wake == 0);
    }
    CHECK(files_in(folder.path()) == k_no_wake_files);
}

TEST_CASE("local: a waiter that waits on two keys has one file, as long as one of them wakes it",
          "[contract]") {
    const TempDir folder;
    const LocalOptions options = timeless_options_in(folder.path());
    const auto holder = open_store(options), store = open_store(options);
    const Key a = key_named("k"), b = key_named("other");
    const StartId on_a = take_place(*holder);
    const Question question = question_in_line(5);
    for (const auto& key : {a, b})
        REQUIRE(holder->ask(key, question_at(terms_of({}, 2))));
    const auto full = question_at(terms_of({}, 2));
    REQUIRE(holder->ask(b, full));

    const auto ask = [&] { return *store->ask(std::vector<Asked>{{a, question}, {b, question}}); };
    auto answers = ask();
    const auto wakes = [&] { return (answers[0].wake != 0 ? 1 : 0) + (answers[1].wake != 0 ? 1 : 0); };
    REQUIRE(wakes() > 0);
    CHECK(store->listen({{a, 5, answers[0].wake}, {b, 5, answers[1].wake}})->size() == 1);
    CHECK(files_in(folder.path()).size() == 3);
    REQUIRE(holder->release(a, {on_a, false}));
    REQUIRE(holder->release_leases(a, false));
    REQUIRE(holder->release_leases(b, false));
    answers = ask();
    CHECK(answers[0].kind == AnswerKind::start);
    CHECK(answers[1].kind == AnswerKind::start);
    CHECK(files_in(folder.path()) == k_no_wake_files);
}

TEST_CASE("local: at most sixteen processes are watched", "[contract]") {
    const TempDir folder;
    const LocalOptions options = timeless_options_in(folder.path());
    const auto store = open_store(options);
    const std::string own = store->processes(getpid(), 0);
    for (int i = 0; i < 40; ++i) {
        Question question = question_at(terms_of({}, 40));
        question.processes = own;
        REQUIRE(store->ask(key_named("k"), question)->leased);
    }
    const auto answer = store->ask(key_named("k"), question_in_line(5, 40));
    REQUIRE(answer->wake != 0);
    CHECK(store->listen({{key_named("k"), 5, answer->wake}})->size() == 17);
    store->rest();
    CHECK(store->listen({{key_named("k"), 5, answer->wake}})->size() == 17);
}

TEST_CASE("local: a waiter whose folder was made anew has a file there again", "[contract]") {
    const TempDir parent;
    const std::string path = parent.file("store");
    const LocalOptions options = timeless_options_in(path);
    take_place(*open_store(options));
    LeaseWaiter waiter(options, 5);
    REQUIRE(waiter.ask().wake != 0);
    std::filesystem::remove_all(path);
    const auto holder = open_store(options);
    const StartId id = take_place(*holder);
    REQUIRE(waiter.ask().wake != 0);
    REQUIRE(holder->release(key_named("k"), {id, false}));
    CHECK(woken(waiter.listen(), 0));
}

TEST_CASE("local: a wake-up that cannot be had is refused, and no place is taken", "[contract]") {
    const TempDir folder;
    const LocalOptions options = timeless_options_in(folder.path());
    const auto holder = open_store(options);
    take_place(*holder);
    std::filesystem::create_directories(wake_file(folder, 5) + "/not/empty");
    const auto refused = open_store(options)->ask(key_named("k"), question_in_line(5));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::refused);
    CHECK(holder->inspect(key_named("k"))->waiting.empty());
    std::filesystem::remove_all(wake_file(folder, 5));
    CHECK(open_store(options)->ask(key_named("k"), question_in_line(5))->wake != 0);
}

TEST_CASE("local: users of one group wake each other, whatever their umask", "[contract]") {
    if (geteuid() != 0) {
        WARN("not root: cannot become two users, so nothing is checked here");
        return;
    }
    const TempDir parent;
    const std::string folder = make_shared_folder(parent);
    const LocalOptions options = timeless_options_in(folder);
    for (const unsigned user : {k_some_user, 0U}) {
        INFO("waiter " << user);
        Pipe taken = make_pipe(), waits = make_pipe();
        const pid_t holder = start_child([&] {
            umask(077);
            become(k_other_user, k_some_group);
            const auto store = open_store(options);
            const StartId id = take_place(*store);
            char byte = 0;
            if (write(taken.write_end.get(), "t", 1) != 1 || read(waits.read_end.get(), &byte, 1) != 1)
                return 1;
            return store->release(key_named("k"), {id, false})->state == LeaseState::held ? 0 : 2;
        });
        expect_byte(taken);
        const pid_t waiter = start_child([&] {
            umask(077);
            if (user != 0) become(user, k_some_group);
            LeaseWaiter self(options, 5);
            if (self.ask().wake == 0 || self.listen().size() != 1) return 1;
            struct stat file {};
            if (stat((folder + "/state.0000000000000005.wake").c_str(), &file) != 0) return 2;
            if ((file.st_mode & 07777) != 0660 || file.st_gid != k_some_group) return 3;
            if (write(waits.write_end.get(), "w", 1) != 1) return 4;
            if (!self.wait()) return 5;
            return self.store().release_leases(self.key(), false)->size() == 1 ? 0 : 6;
        });
        CHECK(end_of(holder) == 0);
        CHECK(end_of(waiter) == 0);
        CHECK(files_in(folder) == k_no_wake_files);
    }
}
