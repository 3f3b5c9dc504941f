// SPDX-License-Identifier: MIT
// Holders and waiters that are killed or stopped while others wait for their places: never more than two
// commands live at once, and the next begins soon.
#include <csignal>

#include "places.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

constexpr Duration k_soon = 1s;
constexpr Duration k_lock_for = 2s;
constexpr int k_places = 2;

// Two places: one is taken by a job that nothing happens to, the other by the victim.
struct Scene : Places {
    explicit Scene(Where at, bool victim_ignores_term = false)
        : Places(at, k_places, {"--lock-for", "2s"}),
          where(at),
          bystander(start_to_run({"bystander", 1min})),
          victim(start_to_run({"victim", 1min, 0, victim_ignores_term})) {}

    // How long the place of a wrapper that was killed is empty at the most: the local store sees that nobody
    // lives, on Redis the lease runs out.
    Duration seen_dead_in() const { return where == Where::local ? k_soon : k_lock_for + k_soon; }

    void check_next(const Job& waiter, BootTime freed, Duration in) {
        const Duration took = wait_begun(waiter) - freed;
        INFO(waiter.name << " began after " << took / 1ms << " ms");
        CHECK(took <= in + site().standstill().together());
    }

    // All that live go, and the key is free.
    void check_end() {
        CHECK(log().count_over() == 0);
        for (const std::size_t index : crowd().running())
            crowd().at(index).kill(SIGTERM);
        crowd().finish();
        crowd().watch_until([&] { return site().inspect("k", "places") == 0; }, k_lock_for + 5s);
        CHECK(site().inspect("k", "waiting") == 0);
    }

    Where where;
    Job bystander;
    Job victim;
};

void check_wrapper_killed(Where where) {
    Scene scene(where);
    const auto waiter = scene.start_to_wait({"waiter", 100ms});
    const pid_t command = scene.command(scene.victim);
    scene.wrapper(scene.victim).kill(SIGKILL);
    const BootTime killed = BootClock::now();
    scene.wait_ended(command);
    CHECK(BootClock::now() - killed <= k_soon + scene.site().standstill().together());
    scene.check_next(waiter, killed, scene.seen_dead_in());
    scene.check_end();
}

void check_command_killed(Where where) {
    Scene scene(where);
    const auto waiter = scene.start_to_wait({"waiter", 100ms});
    const BootTime killed = BootClock::now();
    REQUIRE(kill(scene.command(scene.victim), SIGKILL) == 0);
    scene.check_next(waiter, killed, k_soon);
    CHECK(scene.wrapper(scene.victim).wait().status() == 128 + SIGKILL);
    scene.check_end();
}

void check_both_killed(Where where) {
    Scene scene(where);
    const auto waiter = scene.start_to_wait({"waiter", 100ms});
    const pid_t command = scene.command(scene.victim);
    scene.wrapper(scene.victim).kill(SIGKILL);
    REQUIRE(kill(command, SIGKILL) == 0);
    scene.check_next(waiter, BootClock::now(), scene.seen_dead_in());
    scene.check_end();
}

// The first in line is killed or stopped at the very moment that a place becomes free.
void check_first_in_line(Where where, int signal) {
    Scene scene(where);
    const auto first = scene.start_to_wait({"first", 100ms});
    const auto second = scene.start_to_wait({"second", 100ms});
    const auto third = scene.start_to_wait({"third", 100ms});
    scene.wrapper(first).kill(signal);
    const BootTime freed = BootClock::now();
    REQUIRE(kill(scene.command(scene.victim), SIGKILL) == 0);
    scene.check_next(second, freed, k_soon);
    scene.check_next(third, scene.began(second), k_soon);
    CHECK_FALSE(scene.has_begun(first));
    if (signal == SIGSTOP) {
        // It has lost no more than its turn.
        scene.wrapper(first).thaw();
        scene.check_next(first, BootClock::now(), 3s);
    }
    scene.check_end();
}

}  // namespace

TEST_CASE("killed holders: the wrapper alone (local store)", "[e2e]") {
    check_wrapper_killed(Where::local);
}
TEST_CASE("killed holders: the wrapper alone (Redis)", "[e2e]") {
    check_wrapper_killed(Where::redis);
}

TEST_CASE("killed holders: a command that outlives its wrapper keeps the place (local store)", "[e2e]") {
    Scene scene(Where::local, true);
    const auto waiter = scene.start_to_wait({"waiter", 100ms});
    const pid_t command = scene.command(scene.victim);
    scene.wrapper(scene.victim).kill(SIGKILL);
    scene.crowd().watch_for(k_lock_for + 2s);
    CHECK_FALSE(scene.has_begun(waiter));
    CHECK_FALSE(has_ended(command));
    const BootTime freed = BootClock::now();
    REQUIRE(kill(command, SIGKILL) == 0);
    scene.check_next(waiter, freed, k_soon);
    scene.check_end();
}

TEST_CASE("killed holders: the command alone (local store)", "[e2e]") {
    check_command_killed(Where::local);
}
TEST_CASE("killed holders: the command alone (Redis)", "[e2e]") {
    check_command_killed(Where::redis);
}

TEST_CASE("killed holders: both (local store)", "[e2e]") {
    check_both_killed(Where::local);
}
TEST_CASE("killed holders: both (Redis)", "[e2e]") {
    check_both_killed(Where::redis);
}

TEST_CASE("killed holders: the first in line is killed as a place is freed (local store)", "[e2e]") {
    check_first_in_line(Where::local, SIGKILL);
}
TEST_CASE("killed holders: the first in line is killed as a place is freed (Redis)", "[e2e]") {
    check_first_in_line(Where::redis, SIGKILL);
}

TEST_CASE("killed holders: the first in line is stopped as a place is freed (local store)", "[e2e]") {
    check_first_in_line(Where::local, SIGSTOP);
}
TEST_CASE("killed holders: the first in line is stopped as a place is freed (Redis)", "[e2e]") {
    check_first_in_line(Where::redis, SIGSTOP);
}

TEST_CASE("killed holders: a wrapper that is stopped keeps its place (local store)", "[e2e]") {
    Scene scene(Where::local);
    const auto waiter = scene.start_to_wait({"waiter", 100ms});
    scene.wrapper(scene.victim).freeze();
    scene.crowd().watch_for(k_lock_for + 1s);
    CHECK_FALSE(scene.has_begun(waiter));
    // Its command ends, and it cannot say so.
    REQUIRE(kill(scene.command(scene.victim), SIGKILL) == 0);
    scene.crowd().watch_for(1s);
    CHECK_FALSE(scene.has_begun(waiter));
    const BootTime freed = BootClock::now();
    scene.wrapper(scene.victim).thaw();
    scene.check_next(waiter, freed, k_soon);
    scene.check_end();
}
