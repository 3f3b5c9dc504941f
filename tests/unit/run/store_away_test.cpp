// SPDX-License-Identifier: MIT
// What a job does whose store is away.
#include "fakes.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using Told = std::vector<std::string>;

namespace {

GateOptions with_policy(const World& world, OnStoreError policy, const char* rate = "5/s") {
    auto options = world.at(rate);
    options.on_store_error = policy;
    return options;
}

const Error& error_of(const Admission& admission) {
    REQUIRE(std::holds_alternative<Error>(admission));
    return std::get<Error>(admission);
}

}  // namespace

TEST_CASE("store away: auto and local throttle on this machine until it is back", "[unit]") {
    for (const OnStoreError policy : {OnStoreError::automatic, OnStoreError::local}) {
        World world;
        world.go_away();
        Gate gate = world.gate(with_policy(world, policy));
        for (int i = 0; i < 3; ++i)
            REQUIRE(std::holds_alternative<Admitted>(gate.pass()));
        CHECK(world.sleeper.gone() == 400ms);
        CHECK(world.own.inspect(world.key)->started == 3);
        CHECK(world.events.told == Told{"away: local"});
        CHECK(world.fallbacks == 1);

        world.come_back();
        world.sleeper.pass(10s);
        REQUIRE(std::holds_alternative<Admitted>(gate.pass()));
        CHECK(world.events.told == Told{"away: local", "back"});
        CHECK(world.report().started == 1);
    }
}

TEST_CASE("store away: closed is an error, and nothing is admitted", "[unit]") {
    World world;
    world.go_away();
    const Admission admission = world.gate(with_policy(world, OnStoreError::closed)).pass();
    CHECK(error_of(admission).kind == ErrorKind::unavailable);
    CHECK(world.fallbacks == 0);
    CHECK(world.sleeper.gone() == 0s);
}

TEST_CASE("store away: open starts unthrottled and says so", "[unit]") {
    World world;
    world.go_away();
    const Admission admission = world.gate(with_policy(world, OnStoreError::open)).pass();
    REQUIRE(std::holds_alternative<Admitted>(admission));
    CHECK(std::get<Admitted>(admission).unthrottled);
    CHECK(world.events.told == Told{"away: open"});
}

TEST_CASE("store away: where this machine's own store cannot be used either it is an error", "[unit]") {
    World world;
    world.go_away();
    world.own_is_usable = false;
    const Admission admission = world.gate(with_policy(world, OnStoreError::local)).pass();
    CHECK(error_of(admission).kind == ErrorKind::unavailable);
    CHECK_THAT(error_of(admission).message, Catch::Matchers::ContainsSubstring("disk full"));
}

TEST_CASE("store away: a store that says no is never a reason to go on without it", "[unit]") {
    for (const OnStoreError policy : {OnStoreError::automatic, OnStoreError::local, OnStoreError::open}) {
        World world;
        world.store.fail_with(refused_error("no rights"));
        const Admission admission = world.gate(with_policy(world, policy)).pass();
        CHECK(error_of(admission).kind == ErrorKind::refused);
        CHECK(world.fallbacks == 0);
        CHECK(world.events.told.empty());
    }
}

TEST_CASE("store away: a store that comes back to say no ends the stay elsewhere", "[unit]") {
    World world;
    world.go_away();
    Gate gate = world.gate(with_policy(world, OnStoreError::local));
    REQUIRE(std::holds_alternative<Admitted>(gate.pass()));
    world.store.fail_with(refused_error("no rights"));
    world.sleeper.pass(10s);
    CHECK(error_of(gate.pass()).kind == ErrorKind::refused);
}

TEST_CASE("store away: a wait under way survives a restart of the store", "[unit]") {
    for (const OnStoreError policy : {OnStoreError::automatic, OnStoreError::open, OnStoreError::closed}) {
        World world;
        REQUIRE(std::holds_alternative<Admitted>(world.gate(with_policy(world, policy, "1/min")).pass()));
        world.sleeper.on_sleep = [&world] {
            const Duration gone = world.sleeper.gone();
            if (gone >= 5s && gone < 40s) {
                world.go_away();
            } else {
                world.come_back();
            }
        };
        Gate gate = world.gate(with_policy(world, policy, "1/min"));
        REQUIRE(std::holds_alternative<Admitted>(gate.pass()));
        CHECK(world.sleeper.gone() == 60s);
        CHECK(world.report().started == 2);
        CHECK(world.fallbacks == 0);
        CHECK(world.events.told == Told{"away: patient", "back"});
    }
}

TEST_CASE("store away: after its patience a waiting job falls to the policy", "[unit]") {
    const auto wait_with = [](World& world, OnStoreError policy) {
        REQUIRE(std::holds_alternative<Admitted>(world.gate(with_policy(world, policy, "1/h")).pass()));
        world.sleeper.on_sleep = [&world] {
            if (world.sleeper.gone() >= 5s) world.go_away();
        };
        auto options = with_policy(world, policy, "1/h");
        options.store_patience = 30s;
        options.max_wait = std::nullopt;
        return world.gate(options).pass();
    };
    SECTION("closed") {
        World world;
        CHECK(error_of(wait_with(world, OnStoreError::closed)).kind == ErrorKind::unavailable);
        CHECK(world.sleeper.gone() >= 30s);
        CHECK(world.sleeper.gone() <= 120s);
    }
    SECTION("open: no earlier than the store last said") {
        World world;
        REQUIRE(std::holds_alternative<Admitted>(wait_with(world, OnStoreError::open)));
        CHECK(world.sleeper.gone() >= 1h);
        CHECK(world.sleeper.gone() <= 1h + 1s);
    }
    SECTION("local") {
        World world;
        REQUIRE(std::holds_alternative<Admitted>(wait_with(world, OnStoreError::local)));
        CHECK(world.sleeper.gone() <= 120s);
        CHECK(world.own.inspect(world.key)->started == 1);
        CHECK(world.events.told == Told{"away: patient", "away: local"});
    }
}

TEST_CASE("store away: patience never goes past --max-wait", "[unit]") {
    World world;
    REQUIRE(std::holds_alternative<Admitted>(world.gate(world.at("1/min")).pass()));
    world.sleeper.on_sleep = [&world] {
        if (world.sleeper.gone() >= 1s) world.go_away();
    };
    auto options = world.at("1/min");
    options.max_wait = 61s;
    options.store_patience = 10min;
    const Admission admission = world.gate(options).pass();
    REQUIRE(std::holds_alternative<Throttled>(admission));
    CHECK(std::get<Throttled>(admission).why == Throttled::Why::waited_out);
    CHECK(world.sleeper.gone() == 61s);
}

TEST_CASE("store away: --no-wait falls to the policy at once", "[unit]") {
    World world;
    world.go_away();
    auto options = with_policy(world, OnStoreError::local);
    options.no_wait = true;
    CHECK(std::holds_alternative<Admitted>(world.gate(options).pass()));
    CHECK(world.sleeper.sleeps == 0);
}

TEST_CASE("store away: a question that a signal of no end cuts short is asked again", "[unit]") {
    // The store fails once with `interrupted`, as when USR1 comes while it is asked.
    class Once final : public DoorTo {
    public:
        using DoorTo::DoorTo;
        Result<std::vector<Answer>> ask(const std::vector<Asked>& asked) override {
            questions.push_back(asked.front().question);
            auto answers = DoorTo::ask(asked);
            if (questions.size() == 1) return Error{ErrorKind::interrupted, "a signal"};
            return answers;
        }
        std::vector<Question> questions;
    };
    World world;
    Once once(world.store);
    Gate gate(
        world.at("1/min"), once, [] { return Result<std::unique_ptr<Store>>(internal_error("none")); },
        world.sleeper, world.events);
    REQUIRE(std::holds_alternative<Admitted>(gate.pass()));
    REQUIRE(once.questions.size() == 2);
    CHECK(once.questions[0].fresh);
    CHECK_FALSE(once.questions[1].fresh);
    CHECK(once.questions[0].id == once.questions[1].id);
    CHECK(world.report().started == 1);  // it counted the first time
}
