// SPDX-License-Identifier: MIT
#include "run/gate.hpp"

#include "fakes.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;

namespace {

template <typename T>
T as(const Admission& admission) {
    REQUIRE(std::holds_alternative<T>(admission));
    return std::get<T>(admission);
}

bool admitted(const Admission& admission) {
    return std::holds_alternative<Admitted>(admission);
}

void register_terms(World& world, const std::vector<std::string>& rates) {
    std::vector<Rate> parsed;
    for (const auto& rate : rates)
        parsed.push_back(*parse_rate(rate));
    REQUIRE(world.store.set_registration(world.key, Registration{*Terms::make(parsed), 0, "ops"}).ok());
}

}  // namespace

TEST_CASE("gate: starts are spaced by the rate, and each pass is one start", "[unit]") {
    World world;
    Gate gate = world.gate(world.at("5/s"));
    for (int i = 0; i < 11; ++i)
        REQUIRE(admitted(gate.pass()));
    CHECK(world.sleeper.gone() == 2s);
    CHECK(gate.waited() == 2s);
    CHECK(world.events.waits_over == 11);
    CHECK(world.report().started == 11);
    CHECK(world.report().waiting.empty());
}

TEST_CASE("gate: an idle key costs no sleep", "[unit]") {
    World world;
    Gate gate = world.gate(world.at("1/h"));
    CHECK(admitted(gate.pass()));
    CHECK(world.sleeper.sleeps == 0);
}

TEST_CASE("gate: --no-wait takes a start or nothing", "[unit]") {
    World world;
    auto options = world.at("1/min");
    options.no_wait = true;
    CHECK(admitted(world.gate(options).pass()));
    const auto throttled = as<Throttled>(world.gate(options).pass());
    CHECK(throttled.why == Throttled::Why::no_wait);
    CHECK(throttled.wait == 60s);
    CHECK(world.report().waiting.empty());
    CHECK(world.report().started == 1);
    CHECK(world.sleeper.sleeps == 0);
}

TEST_CASE("gate: --no-wait with a ticket keeps the place, and its waits add up to --max-wait", "[unit]") {
    World world;
    auto options = world.at("1/min");
    options.no_wait = true;
    options.ticket = named_ticket("deploy");
    options.max_wait = 90s;
    CHECK(admitted(world.gate(world.at("1/min")).pass()));
    CHECK(as<Throttled>(world.gate(options).pass()).why == Throttled::Why::no_wait);
    REQUIRE(world.report().waiting.size() == 1);
    world.sleeper.pass(60s);
    CHECK(admitted(world.gate(options).pass()));

    options.max_wait = 30s;
    CHECK(as<Throttled>(world.gate(options).pass()).why == Throttled::Why::too_long);
    CHECK(world.report().waiting.empty());
}

TEST_CASE("gate: --peek takes nothing", "[unit]") {
    World world;
    auto options = world.at("1/min");
    options.peek = true;
    CHECK(admitted(world.gate(options).pass()));
    CHECK(world.report().started == 0);
    CHECK(admitted(world.gate(world.at("1/min")).pass()));
    CHECK(as<Throttled>(world.gate(options).pass()).wait == 60s);
    CHECK(world.report().waiting.empty());
    CHECK(world.sleeper.sleeps == 0);
}

TEST_CASE("gate: what cannot be served within --max-wait ends at once, with its place given back", "[unit]") {
    World world;
    CHECK(admitted(world.gate(world.at("1/min")).pass()));
    auto options = world.at("1/min");
    options.max_wait = 59s;
    const auto throttled = as<Throttled>(world.gate(options).pass());
    CHECK(throttled.why == Throttled::Why::too_long);
    CHECK(throttled.wait == 60s);
    CHECK(throttled.waited == 0s);
    CHECK(world.sleeper.sleeps == 0);
    CHECK(world.report().waiting.empty());

    options.max_wait = 60s;
    CHECK(admitted(world.gate(options).pass()));
    CHECK(world.sleeper.gone() == 60s);
}

TEST_CASE("gate: --max-wait bounds all waits of a job together", "[unit]") {
    World world;
    auto options = world.at("1/min");
    options.max_wait = 150s;
    Gate gate = world.gate(options);
    CHECK(admitted(gate.pass()));
    CHECK(admitted(gate.pass()));
    CHECK(admitted(gate.pass()));
    CHECK(gate.waited() == 120s);
    const auto throttled = as<Throttled>(gate.pass());
    CHECK(throttled.why == Throttled::Why::too_long);
    CHECK(throttled.waited == 120s);
}

TEST_CASE("gate: a pause by hand is waited for until --max-wait, a provider's is not", "[unit]") {
    World world;
    auto options = world.at("5/s");
    options.max_wait = 60s;
    PauseRequest pause;
    pause.length = 10min;
    CHECK(world.store.pause(world.key, pause).ok());
    CHECK(as<Throttled>(world.gate(options).pass()).why == Throttled::Why::too_long);
    CHECK(world.sleeper.gone() == 0s);

    pause.length = 11min;
    pause.by_hand = true;
    CHECK(world.store.pause(world.key, pause).ok());
    const auto throttled = as<Throttled>(world.gate(options).pass());
    CHECK(throttled.why == Throttled::Why::waited_out);
    CHECK(throttled.waited == 60s);
    CHECK(world.sleeper.gone() == 60s);
    CHECK(world.report().waiting.empty());

    world.sleeper.on_sleep = [&world] {
        if (world.sleeper.gone() >= 70s) CHECK(world.store.resume(world.key).ok());
    };
    CHECK(admitted(world.gate(options).pass()));
    CHECK(world.sleeper.gone() < 75s);
}

TEST_CASE("gate: a stop signal ends the wait and gives the place back", "[unit]") {
    World world;
    CHECK(admitted(world.gate(world.at("1/min")).pass()));
    world.sleeper.stop_at = world.sleeper.now() + 7s;
    world.sleeper.on_sleep = [&world] { CHECK(world.report().waiting.size() == 1); };
    CHECK(as<Interrupted>(world.gate(world.at("1/min")).pass()).signal == 15);
    CHECK(world.sleeper.gone() == 7s);
    CHECK(world.report().waiting.empty());
}

TEST_CASE("gate: a start that is reached more than 250 ms late is not used, at most three times", "[unit]") {
    World world;
    CHECK(admitted(world.gate(world.at("1/min")).pass()));
    world.sleeper.oversleep = 1ms;
    Gate prompt = world.gate(world.at("1/min"));
    CHECK(admitted(prompt.pass()));
    CHECK(world.report().started == 2);

    // Every sleep ends 300 ms late, also that of a grant; each start that is not used stays counted.
    world.sleeper.oversleep = 300ms;
    Gate late = world.gate(world.at("1/min"));
    CHECK(admitted(late.pass()));
    CHECK(world.report().started >= 3);
    CHECK(world.report().started <= 2 + 4);
}

TEST_CASE("gate: what could never start is told, not waited for", "[unit]") {
    World world;
    GateOptions none = world.without_limit();
    CHECK(as<Unjudged>(world.gate(none).pass()).answer.kind == AnswerKind::no_limit);
    none.claims.front().pause_only = true;
    CHECK(admitted(world.gate(none).pass()));
    register_terms(world, {"80/min", "1000/h", "5000/d", "1/s"});
    CHECK(as<Unjudged>(world.gate(world.at("5/2s")).pass()).answer.kind == AnswerKind::conflict);
    auto costly = world.at("80/min");
    costly.claims.front().cost = 2;
    CHECK(as<Unjudged>(world.gate(costly).pass()).answer.kind == AnswerKind::too_costly);
    CHECK(world.events.told.empty());
}

TEST_CASE("gate: differing numbers are said once", "[unit]") {
    World world;
    CHECK(admitted(world.gate(world.at("5/s")).pass()));
    Gate gate = world.gate(world.at("6/s"));
    for (int i = 0; i < 3; ++i)
        CHECK(admitted(gate.pass()));
    CHECK(world.events.told == std::vector<std::string>{"other numbers"});

    world.events.told.clear();
    register_terms(world, {"4/s"});
    Gate held = world.gate(world.at("6/s"));
    CHECK(admitted(held.pass()));
    CHECK(admitted(held.pass()));
    CHECK(world.events.told == std::vector<std::string>{"other numbers"});
}

TEST_CASE("gate: state that is lost is told once, and the job lines up again", "[unit]") {
    World world;
    CHECK(admitted(world.gate(world.at("1/min")).pass()));
    bool lost = false;
    world.sleeper.on_sleep = [&] {
        if (lost) return;
        lost = true;
        CHECK(world.store.forget(world.key, true).ok());
        world.sleeper.pass(10ms);
        (void)world.ask("1/min", 7, 7);
    };
    Gate gate = world.gate(world.at("1/min"));
    CHECK(admitted(gate.pass()));
    CHECK(world.events.told == std::vector<std::string>{"state lost"});
    CHECK(gate.waited() >= 60s);
}
