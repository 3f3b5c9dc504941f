// SPDX-License-Identifier: MIT
// The death of a holder wakes the waiter; a waiter that is dead holds nobody up.
#include <signal.h>
#include <unistd.h>

#include <filesystem>

#include "contract/local_waiter.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;

TEST_CASE("local: a waiter that was killed is passed over at once, and leaves no file", "[contract]") {
    const TempDir folder;
    const LocalOptions options = timeless_options_in(folder.path());
    const auto holder = open_store(options);
    const StartId id = take_place(*holder);
    Pipe pipe = make_pipe();
    const pid_t first = start_child([&] {
        LeaseWaiter waiter(options, 5);
        if (waiter.ask().wake == 0 || write(pipe.write_end.get(), "w", 1) != 1) return 1;
        for (;;)
            ::pause();
        return 0;
    });
    expect_byte(pipe);
    LeaseWaiter second(options, 6);
    REQUIRE(second.ask().wake != 0);
    end_by_force(first);
    CHECK(std::filesystem::exists(wake_file(folder, 5)));
    REQUIRE(holder->release(key_named("k"), {id, false}));
    CHECK_FALSE(std::filesystem::exists(wake_file(folder, 5)));
    CHECK(woken(second.listen(), 0));
    CHECK(second.ask().kind == AnswerKind::start);
    CHECK(files_in(folder.path()) == k_no_wake_files);
}

TEST_CASE("local: files of the dead that nobody wakes are swept now and then", "[contract]") {
    const TempDir folder;
    const LocalOptions options = timeless_options_in(folder.path());
    const auto holder = open_store(options);
    take_place(*holder);
    CHECK(run_child([&] {
              LeaseWaiter waiter(options, 5);
              waiter.ask();
              kill(getpid(), SIGKILL);
              return 1;
          }) == 128 + SIGKILL);
    REQUIRE(holder->forget(key_named("k"), true)->forgotten);
    take_place(*holder);
    CHECK(std::filesystem::exists(wake_file(folder, 5)));
    LeaseWaiter waiter(options, 16);  // every sixteenth place sweeps
    REQUIRE(waiter.ask().wake != 0);
    CHECK_FALSE(std::filesystem::exists(wake_file(folder, 5)));
    CHECK(files_in(folder.path()).size() == 3);
}

TEST_CASE("local: the death of a holder wakes the waiter", "[contract]") {
    const TempDir folder;
    const LocalOptions options = timeless_options_in(folder.path());
    const auto store = open_store(options);
    const pid_t wrapper = start_sleeper(), command = start_sleeper();
    LeaseWaiter waiter(options, 5);
    SECTION("of its one process") {
        take_place(*store, store->processes(wrapper, 0));
        REQUIRE(waiter.ask().kind == AnswerKind::wait);
        const auto sleeps_on = waiter.listen();
        CHECK(sleeps_on.size() == 2);
        CHECK_FALSE(woken(sleeps_on, 0));
        end_by_force(wrapper);
        CHECK(woken(sleeps_on, k_patience_ms));
        end_by_force(command);
    }
    SECTION("of the last of its two") {
        take_place(*store, store->processes(wrapper, command));
        REQUIRE(waiter.ask().kind == AnswerKind::wait);
        const auto both = waiter.listen();
        CHECK(both.size() == 3);
        end_by_force(wrapper);
        CHECK(woken(both, k_patience_ms));
        REQUIRE(waiter.ask().kind == AnswerKind::wait);
        const auto one = waiter.listen();
        CHECK(one.size() == 2);
        CHECK_FALSE(woken(one, 0));  // once is enough
        end_by_force(command);
        CHECK(woken(one, k_patience_ms));
    }
    SECTION("between its question and its sleep") {
        take_place(*store, store->processes(wrapper, command));
        REQUIRE(waiter.ask().kind == AnswerKind::wait);
        end_by_force(wrapper);
        end_by_force(command);
        CHECK(woken(waiter.listen(), 0));
    }
    CHECK(waiter.ask().kind == AnswerKind::start);
    CHECK(files_in(folder.path()) == k_no_wake_files);
}

TEST_CASE("local: who finds the holder and those ahead dead while it lines up is woken itself",
          "[contract]") {
    const TempDir folder;
    const LocalOptions options = timeless_options_in(folder.path());
    const pid_t holder = start_sleeper();
    {
        const auto store = open_store(options);
        take_place(*store, store->processes(holder, 0));
    }
    CHECK(run_child([&] {
              LeaseWaiter waiter(options, 5);
              waiter.ask();
              kill(getpid(), SIGKILL);
              return 1;
          }) == 128 + SIGKILL);
    REQUIRE(std::filesystem::exists(wake_file(folder, 5)));
    end_by_force(holder);
    LeaseWaiter waiter(options, 6);
    const auto answer = waiter.ask();
    CHECK(answer.kind == AnswerKind::wait);
    REQUIRE(answer.wake != 0);
    CHECK_FALSE(std::filesystem::exists(wake_file(folder, 5)));
    CHECK(woken(waiter.listen(), 0));
    CHECK(waiter.ask().kind == AnswerKind::start);
}
