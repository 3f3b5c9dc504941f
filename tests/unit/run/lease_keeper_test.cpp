// SPDX-License-Identifier: MIT
#include "run/lease_keeper.hpp"

#include <poll.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "lease_support.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

constexpr pid_t k_command = 4711;

HeldLease lease_on(const char* key, LeaseId id, Duration lock_for) {
    return {*Key::make(key), id, lock_for, BootTime{1h}};
}

// A keeper, the run's store, and a clock that goes only when it is told to.
struct Desk {
    Ledger run_side, own_side;
    LeaseStore store{run_side, "run"};
    LeaseEvents events;
    std::atomic<std::int64_t> now_us{Duration{1h}.count()};
    bool own_can_be_opened = true;
    std::unique_ptr<LeaseKeeper> keeper;

    explicit Desk(std::vector<HeldLease> leases, OnLeaseLost on_lost = OnLeaseLost::warn) {
        keeper = std::make_unique<LeaseKeeper>(
            std::move(leases), store,
            [this]() -> Result<std::unique_ptr<Store>> {
                own_side.set([](Ledger& l) { ++l.opened; });
                if (!own_can_be_opened) return unavailable_error("no such host");
                return std::unique_ptr<Store>(std::make_unique<LeaseStore>(own_side, "own"));
            },
            on_lost, events, [this] { return now(); });
    }
    BootTime now() const { return BootTime{Duration{now_us.load()}}; }
    // Goes on to this time after the start, without a stop on the way.
    void jump_to(Duration since_start) { now_us = Duration{1h + since_start}.count(); }
    // Acts now and until all that was asked is answered. The signals that it wants sent.
    std::vector<int> act() {
        std::vector<int> signals;
        for (int i = 0; i < 20000; ++i) {
            if (const auto signal = keeper->act()) signals.push_back(*signal);
            if (keeper->due() > now() + 100ms) return signals;
            poll(nullptr, 0, 1);
        }
        FAIL("there was no answer");
        return signals;
    }
    std::vector<int> act_at(Duration since_start) {
        jump_to(since_start);
        return act();
    }
};

}  // namespace

TEST_CASE("lease keeper: the store hears of the command's process", "[unit]") {
    Desk desk({lease_on("a", 1, 60s), lease_on("b", 2, 90s)});
    desk.keeper->started(k_command);
    CHECK(desk.run_side.calls == Calls{"a 1 60 run us 4711", "b 2 90 run us 4711"});
    CHECK(desk.run_side.rests == 1);
    CHECK(desk.events.take().empty());

    SECTION("one that is away is asked once and rests, too") {
        Desk other({lease_on("a", 1, 60s), lease_on("b", 2, 90s)});
        other.run_side.away = {"a", "b"};
        other.keeper->started(k_command);
        CHECK(other.run_side.calls.size() == 1);
        CHECK(other.run_side.rests == 1);
    }
    SECTION("one that sees no processes is not called") {
        Ledger ledger;
        LeaseStore blind{ledger, ""};
        LeaseKeeper keeper({lease_on("a", 1, 60s)}, blind, {}, OnLeaseLost::warn, desk.events);
        keeper.started(k_command);
        CHECK(ledger.calls.empty());
        CHECK(ledger.rests == 0);
    }
}

TEST_CASE("lease keeper: renews in a thread, through a store of its own, each lease in its time", "[unit]") {
    Desk desk({lease_on("a", 1, 60s), lease_on("b", 2, 90s)});
    desk.keeper->started(k_command);
    CHECK(desk.keeper->due() == BootTime{1h + 20s});
    CHECK(desk.act_at(19s).empty());
    CHECK(desk.own_side.opened == 0);
    CHECK(desk.own_side.take_calls().empty());

    (void)desk.act_at(20s);
    CHECK(desk.own_side.take_calls() == Calls{"a 1 60 own us 4711"});
    (void)desk.act_at(30s);
    CHECK(desk.own_side.take_calls() == Calls{"b 2 90 own us 4711"});
    CHECK(desk.keeper->due() == BootTime{1h + 40s});
    (void)desk.act_at(60s);
    CHECK(desk.own_side.take_calls() == Calls{"a 1 60 own us 4711", "b 2 90 own us 4711"});
    CHECK(desk.keeper->due() == BootTime{1h + 80s});

    const std::lock_guard lock(desk.own_side.mutex);
    CHECK(desk.own_side.opened == 1);
    CHECK(desk.own_side.signals_blocked);
    CHECK(desk.own_side.threads.size() == 1);
    CHECK(desk.own_side.threads.count(std::this_thread::get_id()) == 0);
    CHECK(desk.events.take().empty());
    CHECK_FALSE(desk.keeper->killed());
}

TEST_CASE("lease keeper: the store rests between renewals", "[unit]") {
    Desk desk({lease_on("a", 1, 60s), lease_on("b", 2, 60s)});
    (void)desk.act_at(20s);
    std::unique_lock lock(desk.own_side.mutex);
    CHECK(desk.own_side.changed.wait_for(lock, 20s, [&] { return desk.own_side.rests == 1; }));
    CHECK(desk.own_side.calls.size() == 2);
}

TEST_CASE("lease keeper: a lease is lost when the store is away too long", "[unit]") {
    Desk desk({lease_on("a", 1, 60s)});
    SECTION("it does not answer") {
        desk.own_side.away = {"a"};
    }
    SECTION("it cannot be opened") {
        desk.own_can_be_opened = false;
    }
    for (Duration t = 20s; t < 60s; t += 2s)
        CHECK(desk.act_at(t).empty());
    CHECK(desk.events.take().empty());
    (void)desk.act_at(60s);
    CHECK(desk.events.take() == Calls{"a lost 0"});
    (void)desk.act_at(70s);
    CHECK(desk.events.take().empty());
    desk.own_side.away.clear();
    desk.own_side.states["a"] = LeaseState::retaken;
    desk.own_can_be_opened = true;
    CHECK(desk.act_at(80s).empty());
    CHECK(desk.events.take() == Calls{"a retaken 3"});
    CHECK_FALSE(desk.keeper->killed());
}

TEST_CASE("lease keeper: a store that is away is asked for one lease of several", "[unit]") {
    Desk desk({lease_on("a", 1, 60s), lease_on("b", 2, 60s)});
    desk.own_side.away = {"a"};
    (void)desk.act_at(20s);
    CHECK(desk.own_side.take_calls().size() == 1);
    desk.own_side.away.clear();
    (void)desk.act_at(22s);
    CHECK(desk.own_side.take_calls().size() == 2);
}

TEST_CASE("lease keeper: one lease that is lost is told, the others are kept", "[unit]") {
    Desk desk({lease_on("a", 1, 60s), lease_on("b", 2, 60s)});
    desk.own_side.states["b"] = LeaseState::lost;
    CHECK(desk.act_at(20s).empty());
    CHECK(desk.act_at(40s).empty());
    CHECK(desk.events.take() == Calls{"b lost 3"});
    CHECK(desk.own_side.take_calls().size() == 4);
}

TEST_CASE("lease keeper: kill sends TERM once for all leases, then KILL", "[unit]") {
    auto later = lease_on("c", 3, 60s);
    later.taken += 2s;
    Desk desk({lease_on("a", 1, 60s), lease_on("b", 2, 60s), later}, OnLeaseLost::kill);
    desk.own_side.away = {"a", "b", "c"};
    for (Duration t = 20s; t < 55s; t += 2s)
        CHECK(desk.act_at(t).empty());
    CHECK_FALSE(desk.keeper->killed());
    CHECK(desk.act_at(55s) == std::vector<int>{SIGTERM});
    CHECK(desk.events.take() == Calls{"a killed 0", "b killed 0"});
    CHECK(desk.keeper->killed());
    CHECK(desk.act_at(57s).empty());
    CHECK(desk.events.take() == Calls{"c killed 0"});
    CHECK(desk.act_at(59s) == std::vector<int>{SIGKILL});
    CHECK(desk.act_at(61s).empty());
}

TEST_CASE("lease keeper: a lease that takes no place is renewed, and nothing more", "[unit]") {
    auto lease = lease_on("a", 1, 60s);
    lease.place = false;
    Desk desk({lease}, OnLeaseLost::kill);
    desk.own_side.states["a"] = LeaseState::lost;
    for (Duration t = 20s; t < 200s; t += 20s)
        CHECK(desk.act_at(t).empty());
    CHECK(desk.events.take().empty());
    CHECK(desk.own_side.take_calls().size() == 9);
}

TEST_CASE("lease keeper: the run goes on while a call hangs, and the end waits for that call alone",
          "[unit]") {
    Desk desk({lease_on("a", 1, 60s), lease_on("b", 2, 60s)});
    desk.own_side.set([](Ledger& l) { l.hangs = true; });
    desk.jump_to(20s);
    CHECK_FALSE(desk.keeper->act());
    {
        std::unique_lock lock(desk.own_side.mutex);
        REQUIRE(desk.own_side.changed.wait_for(lock, 20s, [&] { return desk.own_side.under_way == 1; }));
    }
    CHECK(desk.keeper->due() == BootTime{1h + 20s + 100ms});
    desk.jump_to(60s);
    CHECK_FALSE(desk.keeper->act());
    CHECK(desk.events.take() == Calls{"a lost 0", "b lost 0"});
    std::atomic<bool> gone = false;
    bool early = false;
    std::thread releases([&] {
        poll(nullptr, 0, 50);
        early = gone;
        desk.own_side.set([](Ledger& l) { l.hangs = false; });
    });
    desk.keeper.reset();
    gone = true;
    releases.join();
    CHECK_FALSE(early);
    CHECK(desk.own_side.take_calls() == Calls{"a 1 60 own us -1"});
}
