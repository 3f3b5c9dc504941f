// SPDX-License-Identifier: MIT
#include "fakes.hpp"
#include "run/gate.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;

namespace {

template <typename T>
T as(const Admission& admission) {
    REQUIRE(std::holds_alternative<T>(admission));
    return std::get<T>(admission);
}

std::int64_t places(World& world) {
    return world.report().places;
}

Claim claim(const char* key, const char* rate) {
    Claim claim{key_named(key)};
    claim.terms = *Terms::make({*parse_rate(rate)});
    return claim;
}

// A gate whose store is a door that can be listened at.
Gate gate_at(DoorTo& door, World& world, GateOptions options) {
    return {std::move(options), door, [] { return Result<std::unique_ptr<Store>>(internal_error("none")); },
            world.sleeper, world.events};
}

}  // namespace

TEST_CASE("gate: a lease comes with the start and goes with the end of the attempt", "[unit]") {
    World world;
    Gate gate = world.gate(world.at_once(1));
    const auto admission = as<Admitted>(gate.pass());
    REQUIRE(admission.leases.size() == 1);
    CHECK(admission.leases.front().key == world.key);
    CHECK(admission.leases.front().id == admission.start);
    CHECK(places(world) == 1);
    gate.attempt_over(admission, true);
    CHECK(places(world) == 0);
}

TEST_CASE("gate: who waits for a place listens, and asks when it is woken", "[unit]") {
    World world;
    DoorTo door(world.store);
    Gate first = world.gate(world.at_once(1));
    const auto held = as<Admitted>(first.pass());
    bool released = false;
    world.sleeper.on_sleep = [&] {
        if (!std::exchange(released, true)) first.attempt_over(held, true);
    };
    world.sleeper.wake_at = world.sleeper.now() + 3ms;
    Gate second = gate_at(door, world, world.at_once(1));
    (void)as<Admitted>(second.pass());
    CHECK(second.waited() == 3ms);
    REQUIRE(door.listened.size() == 1);
    CHECK(door.listened.front().key == world.key);
    CHECK(door.listened.front().place == second.place());
    CHECK(door.listened.front().wake == 1);
    CHECK(world.store.records(world.key).take_woken() == std::vector<TicketId>{second.place()});
}

TEST_CASE("gate: a place that nobody gives back is waited for as long as --max-wait lets it", "[unit]") {
    World world;
    Gate first = world.gate(world.at_once(1));
    (void)as<Admitted>(first.pass());
    world.sleeper.on_sleep = [&] {  // it is renewed all the while
        for (const auto& [id, lease] : world.store.records(world.key).leases())
            CHECK(world.store.renew(world.key, {id, 60s, {}}).ok());
    };
    auto options = world.at_once(1);
    options.max_wait = 90s;
    const auto throttled = as<Throttled>(world.gate(options).pass());
    CHECK(throttled.why == Throttled::Why::waited_out);
    CHECK(throttled.answer.why == WaitCause::lease);
    CHECK(throttled.waited == 90s);
    CHECK(world.report().waiting.empty());
    options.no_wait = true;
    const auto at_once = as<Throttled>(world.gate(options).pass());
    CHECK(at_once.why == Throttled::Why::no_wait);
    CHECK(at_once.wait >= 1s);  // when it is worth asking again
    CHECK(at_once.wait <= 2s);
}

TEST_CASE("gate: a lease that runs out lets the next one in", "[unit]") {
    World world;
    (void)as<Admitted>(world.gate(world.at_once(1)).pass());
    Gate second = world.gate(world.at_once(1));
    (void)as<Admitted>(second.pass());
    CHECK(second.waited() > 60s);
    CHECK(second.waited() < 60s + 10ms);
}

TEST_CASE("gate: a start that is not used gives its place back", "[unit]") {
    World world;
    auto options = world.at("1/min");
    options.claims.front().terms = *Terms::make({*parse_rate("1/min")}, 1);
    Gate first = world.gate(options);
    first.attempt_over(as<Admitted>(first.pass()), true);

    SECTION("because its runner came late to it") {
        world.sleeper.oversleep = 300ms;
        Gate gate = world.gate(options);
        const auto admission = as<Admitted>(gate.pass());
        CHECK(places(world) == 1);  // its own, and none of the starts before
        gate.attempt_over(admission, true);
    }
    SECTION("because a signal came while it slept towards it") {
        world.sleeper.stop_at = world.sleeper.now() + 60s - 1ms;
        CHECK(as<Interrupted>(world.gate(options).pass()).signal == 15);
    }
    CHECK(places(world) == 0);
}

TEST_CASE("gate: --max-waiting ends it at once where so many wait", "[unit]") {
    World world;
    (void)as<Admitted>(world.gate(world.at("1/h")).pass());
    (void)world.ask("1/h", 7, 7);
    auto options = world.at("1/h");
    options.max_waiting = 1;
    const auto throttled = as<Throttled>(world.gate(options).pass());
    CHECK(throttled.why == Throttled::Why::crowded);
    CHECK(throttled.answer.waiting == 1);
    CHECK(world.report().waiting.size() == 1);
}

TEST_CASE("gate: several keys, and the one that holds the job up is named", "[unit]") {
    World world;
    GateOptions options;
    options.claims = {claim("a", "1/min"), claim("b", "1/10s")};
    Gate gate = world.gate(options);
    (void)as<Admitted>(gate.pass());
    (void)as<Admitted>(gate.pass());
    CHECK(gate.waited() == 60s);
    REQUIRE(world.events.last_status);
    CHECK(world.events.last_status->key == key_named("a"));
    options.max_wait = 30s;
    const auto throttled = as<Throttled>(world.gate(options).pass());
    CHECK(throttled.key == key_named("a"));
    CHECK(throttled.why == Throttled::Why::too_long);
    CHECK(world.store.inspect(key_named("b"))->waiting.empty());

    options.claims.emplace_back(key_named("c"));
    CHECK(as<Unjudged>(world.gate(options).pass()).key == key_named("c"));
}

TEST_CASE("gate: a refusal pauses the first key, or the one that is named", "[unit]") {
    World world;
    GateOptions options;
    options.claims = {claim("a", "1/min"), claim("b", "1/10s")};
    CHECK(world.gate(options).pause({10s, false, false, "note"}).ok());
    CHECK(world.store.inspect(key_named("a"))->paused_for == 10s);
    options.pause_key = 1;
    CHECK(world.gate(options).pause({20s, false, false, "note"}).ok());
    CHECK(world.store.inspect(key_named("b"))->paused_for == 20s);
}

TEST_CASE("gate: where successes count a failed attempt is given back", "[unit]") {
    World world;
    auto options = world.at("1/h");
    options.claims.front().count_successes = true;
    Gate gate = world.gate(options);
    gate.attempt_over(as<Admitted>(gate.pass()), false);
    gate.attempt_over(as<Admitted>(gate.pass()), true);
    CHECK(gate.waited() == 0s);
    options.no_wait = true;
    CHECK(as<Throttled>(world.gate(options).pass()).wait == 1h);
}

TEST_CASE("gate: with the store away a mutex does not open", "[unit]") {
    World world;
    world.go_away();
    CHECK(std::holds_alternative<Error>(world.gate(world.at_once(1)).pass()));
    CHECK(world.fallbacks == 0);
    CHECK(std::holds_alternative<Admitted>(world.gate(world.at("5/s")).pass()));
    CHECK(world.fallbacks == 1);
}

TEST_CASE("gate: a run inside a run that holds its key is told so", "[unit]") {
    World world;
    Gate outer = world.gate(world.at_once(2));
    const auto held = as<Admitted>(outer.pass());
    auto options = world.at_once(2);
    options.ancestors = {held.start};
    CHECK(as<Unjudged>(world.gate(options).pass()).answer.kind == AnswerKind::nested);
    options.ancestors = {held.start + 1};
    CHECK(std::holds_alternative<Admitted>(world.gate(options).pass()));
}

TEST_CASE("gate: a place taken by a question that nobody hears of ends soon", "[unit]") {
    World world;
    DoorTo door(world.store);
    door.late = true;
    Gate gate = gate_at(door, world, world.at_once(1));
    const auto admission = as<Admitted>(gate.pass());
    REQUIRE(admission.leases.size() == 1);
    // Answered, it lasts as long as it should.
    CHECK(world.report().holding.front().left == 60s);
    CHECK(admission.leases.front().lock_for == 60s);
    gate.attempt_over(admission, true);

    class Deaf final : public DoorTo {
    public:
        using DoorTo::DoorTo;
        Result<std::vector<Answer>> ask(const std::vector<Asked>& asked) override {
            (void)DoorTo::ask(asked);
            return unavailable_error("no answer");
        }
    };
    Deaf deaf(world.store);
    deaf.late = true;
    CHECK(std::holds_alternative<Error>(gate_at(deaf, world, world.at_once(1)).pass()));
    CHECK(places(world) == 1);
    CHECK(world.report().holding.front().left == 5s);
}
