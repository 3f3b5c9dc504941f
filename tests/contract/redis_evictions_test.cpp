// SPDX-License-Identifier: MIT
// When the records of a key in Redis go: their expiry, and what an eviction takes.
#include "redis_support.hpp"
#include "store/redis/key_names.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;

const Key k_key = key_named("github");
const Rate k_slow = rate_of(2, 1h);

}  // namespace

TEST_CASE("redis: a key lives on whatever subset of its records is lost", "[contract]") {
    RedisServer server;
    const auto all = record_names("jobthrottle", k_key);
    const std::vector<std::string> names = {all[0], all[1],      all[2],       all[3],
                                            all[4], all[k_log1], all[k_leases]};
    for (unsigned subset = 0; subset < 128; ++subset) {
        std::int64_t clock_us = 1'700'000'000'000'000;
        auto options = options_for(server.socket_url());
        options.clock_us = [&] { return clock_us; };
        const auto store = make_redis_store(options);
        fill(*store, k_key, clock_us);
        for (std::size_t i = 0; i < names.size(); ++i) {
            if ((subset >> i & 1U) != 0) server.cli({"UNLINK", names[i]});
        }
        INFO("subset " << subset);
        if (subset % 3 == 0) server.cli({"UNLINK", all[k_registered], all[k_note]});
        REQUIRE(store->inspect(k_key).ok());
        // Everybody who asks when told to gets a start: nobody waits for those who are gone.
        auto question = large_question();
        bool started = false;
        for (int again = 0; again < 5000 && !started; ++again) {
            const auto answer = store->ask(k_key, question);
            REQUIRE(answer.ok());
            started = answer->kind == AnswerKind::start;
            clock_us += std::max<std::int64_t>(answer->wait.count(), 1);
        }
        CHECK(started);
        CHECK(clock_us < 1'700'000'000'000'000 + 6 * 3'600'000'000);
        server.cli({"FLUSHALL"});
    }
}

TEST_CASE("redis: every record expires, but for what is registered and in a pause without end",
          "[contract]") {
    RedisServer server;
    std::int64_t clock_us = 1'700'000'000'000'000;
    auto options = options_for(server.socket_url());
    options.clock_us = [&] { return clock_us; };
    const auto store = make_redis_store(options);
    const auto names = record_names("jobthrottle", k_key);
    const auto expiry_ms = [&](std::size_t i) { return std::stoll(server.cli({"PTTL", names[i]})); };
    fill(*store, k_key, clock_us);
    const auto check = [&](bool forever) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            INFO(names[i]);
            const bool unused = (i > k_log1 && i < k_leases) || i >= k_first_wake;
            CHECK((expiry_ms(i) == -2) == unused);
            if (unused) continue;
            CHECK((expiry_ms(i) == -1) == (i == k_registered || (forever && i != k_note)));
        }
    };
    check(false);
    PauseRequest request;
    request.forever = true;
    request.note = encode(PauseNote{});
    REQUIRE(store->pause(k_key, request).ok());
    REQUIRE(store->ask(k_key, large_question()).ok());
    for (std::size_t i = 0; i < k_first_wake; ++i)
        CHECK(expiry_ms(i) <= 0);
    REQUIRE(store->resume(k_key).ok());
    check(false);
}

TEST_CASE("redis: a key that has nothing to wait for any more lives on until it is idle", "[contract]") {
    RedisServer server;
    std::int64_t clock_us = 1'700'000'000'000'000;
    auto options = options_for(server.socket_url());
    options.clock_us = [&] { return clock_us; };
    const auto store = make_redis_store(options);
    const Rate fast = rate_of(1, 1s);
    REQUIRE(store->ask(k_key, question_at(fast))->kind == AnswerKind::start);
    auto caller = question_at(fast);
    caller.caller = true;
    caller.keep = 24h;
    REQUIRE(store->ask(k_key, caller)->kind == AnswerKind::wait);
    // All that mattered since the start was the ticket; without it the key has been idle for two hours.
    clock_us += 7'200'000'000;
    REQUIRE(store->cancel(k_key, caller.place).ok());
    const std::string state = record_names("jobthrottle", k_key)[0];
    CHECK(std::stoll(server.cli({"PTTL", state})) > 0);
    REQUIRE(store->inspect(k_key).ok());
    CHECK(store->ask(k_key, question_at(fast))->kind == AnswerKind::start);
}

TEST_CASE("redis: places, leases and their order outlive the loss of all but their hash", "[contract]") {
    RedisServer server;
    const auto store = redis_at(server.socket_url());
    const auto names = record_names("jobthrottle", k_key);
    for (unsigned subset = 1; subset < 8; ++subset) {
        INFO("subset " << subset);
        auto first = question_at(k_slow), second = first, third = first;
        first.terms = second.terms = third.terms = terms_of({rate_of(1000, 1s)}, 1);
        first.count_successes = second.count_successes = third.count_successes = true;
        second.id = second.place = 1'000'002;
        third.id = third.place = 1'000'003;
        REQUIRE(store->ask(k_key, first)->leased);
        REQUIRE(store->ask(k_key, second)->wake == 1);
        REQUIRE(store->ask(k_key, third)->wake == 2);
        const std::vector<std::size_t> orders = {3, 4, k_leases};
        for (std::size_t i = 0; i < orders.size(); ++i) {
            if ((subset >> i & 1U) != 0) server.cli({"UNLINK", names[orders[i]]});
        }
        CHECK(store->ask(k_key, third)->ahead == 1);
        CHECK(store->inspect(k_key)->holding.size() == 1);
        REQUIRE(store->release(k_key, {first.id, false})->state == LeaseState::held);
        CHECK(server.cli({"LLEN", names[k_first_wake]}) == "1");
        CHECK(store->ask(k_key, third)->kind == AnswerKind::wait);
        CHECK(store->ask(k_key, second)->kind == AnswerKind::start);
        for (std::size_t i = 0; i <= k_leases; ++i)
            CHECK(server.cli({"PTTL", names[i]}) != "-1");
        server.cli({"FLUSHALL"});
    }
}

}  // namespace jobthrottle::test
