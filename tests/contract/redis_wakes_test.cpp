// SPDX-License-Identifier: MIT
// Waiters of a Redis store that are woken: a read of the wake lists that nobody waits for.
#include <poll.h>

#include <algorithm>

#include "redis_support.hpp"
#include "store/redis/key_names.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

const Key k_key = key_named("mutex");
const Key k_other = key_named("another");

Question question_for_place() {
    auto question = question_at(rate_of(1000, 1s));
    question.terms = terms_of({}, 1);
    return question;
}

bool is_readable_in(int fd, Duration longest) {
    pollfd polled{fd, POLLIN, 0};
    return poll(&polled, 1, static_cast<int>(longest / 1ms)) > 0;
}

// The descriptor of a store that listens for these.
int listen_for(Store& store, const std::vector<WakeUp>& wakes) {
    const auto descriptors = store.listen(wakes);
    REQUIRE(descriptors.ok());
    REQUIRE(descriptors->size() == 1);
    return descriptors->front();
}

// A held place, and one who waits for it and listens.
struct Waiting {
    Waiting(Store& holders, Store& waiters) {
        REQUIRE(holders.ask(k_key, holder)->leased);
        const auto answer = waiters.ask(k_key, waiter);
        REQUIRE(answer->kind == AnswerKind::wait);
        CHECK(answer->why == WaitCause::lease);
        REQUIRE(answer->wake == 1);
        fd = listen_for(waiters, {wake});
    }
    Question holder = question_for_place(), waiter = question_for_place();
    WakeUp wake{k_key, waiter.place, 1};
    int fd = -1;
};

}  // namespace

TEST_CASE("redis wakes: who releases a place wakes the first in line, who then starts", "[contract]") {
    RedisServer server;
    for (const std::string& url : {server.socket_url(), server.tcp_url() + "/3"}) {
        const auto holder = redis_at(url), waiter = redis_at(url);
        const Waiting pair(*holder, *waiter);
        CHECK_FALSE(is_readable_in(pair.fd, 50ms));
        REQUIRE(holder->release(k_key, {pair.holder.id, false})->state == LeaseState::held);
        REQUIRE(is_readable_in(pair.fd, 10s));
        const auto answer = waiter->ask(k_key, pair.waiter);
        REQUIRE(answer.ok());
        CHECK(answer->kind == AnswerKind::start);
        CHECK(answer->leased);
        // The connection that was listened on is used further.
        const std::string clients = server.cli({"CLIENT", "LIST"});
        CHECK_THAT(clients, !ContainsSubstring("cmd=blpop"));
        REQUIRE(holder->forget(k_key, true).ok());
    }
}

TEST_CASE("redis wakes: who asks unwoken does so on a new connection, and the read goes with the old",
          "[contract]") {
    RedisServer server;
    const auto holder = redis_at(server.socket_url()), waiter = redis_at(server.socket_url());
    const Waiting pair(*holder, *waiter);
    REQUIRE(waiter->ask(k_key, pair.waiter)->kind == AnswerKind::wait);
    for (int i = 0; i < 1000 && server.cli({"CLIENT", "LIST"}).find("cmd=blpop") != std::string::npos; ++i)
        is_readable_in(-1, 5ms);
    CHECK(server.cli({"CLIENT", "LIST"}).find("cmd=blpop") == std::string::npos);
    // Listening again, and again in the middle of listening.
    listen_for(*waiter, {pair.wake});
    const int fd = listen_for(*waiter, {pair.wake});
    REQUIRE(holder->release(k_key, {pair.holder.id, false}).ok());
    REQUIRE(is_readable_in(fd, 10s));
    CHECK(waiter->ask(k_key, pair.waiter)->kind == AnswerKind::start);
}

TEST_CASE("redis wakes: one descriptor listens for all keys of a job", "[contract]") {
    RedisServer server;
    const auto holder = redis_at(server.socket_url()), waiter = redis_at(server.socket_url());
    const auto first = question_for_place(), second = question_for_place();
    REQUIRE(holder->ask(k_key, first)->leased);
    REQUIRE(holder->ask(k_other, second)->leased);
    const auto both = question_for_place();
    const auto answers = waiter->ask({{k_key, both}, {k_other, both}});
    REQUIRE(answers.ok());
    const int fd = listen_for(
        *waiter, {{k_key, both.place, answers->at(0).wake}, {k_other, both.place, answers->at(1).wake}});
    CHECK_FALSE(is_readable_in(fd, 20ms));
    REQUIRE(holder->release(k_other, {second.id, false}).ok());
    REQUIRE(is_readable_in(fd, 10s));
    CHECK(waiter->ask({{k_key, both}, {k_other, both}})->at(0).kind == AnswerKind::wait);
    CHECK(waiter->listen({})->empty());
    CHECK(waiter->listen({{k_key, both.place, 0}})->empty());
}

TEST_CASE("redis wakes: a connection that breaks while it listens wakes, and the next call goes on",
          "[contract]") {
    RedisServer server;
    const auto holder = redis_at(server.socket_url()), waiter = redis_at(server.socket_url());
    const Waiting pair(*holder, *waiter);
    SECTION("hung up on") {
        server.cli({"CLIENT", "KILL", "TYPE", "normal"});
    }
    SECTION("restarted") {
        server.restart(RedisServer::Data::kept);
    }
    REQUIRE(is_readable_in(pair.fd, 10s));
    const auto answer = waiter->ask(k_key, pair.waiter);
    REQUIRE(answer.ok());
    CHECK(answer->kind == AnswerKind::wait);
    const int fd = listen_for(*waiter, {pair.wake});
    REQUIRE(holder->release(k_key, {pair.holder.id, false}).ok());
    REQUIRE(is_readable_in(fd, 10s));
    CHECK(waiter->ask(k_key, pair.waiter)->kind == AnswerKind::start);
}

TEST_CASE("redis wakes: a server that is gone is away when asked to listen", "[contract]") {
    RedisServer server;
    const auto holder = redis_at(server.socket_url()), waiter = redis_at(server.socket_url());
    const Waiting pair(*holder, *waiter);
    server.stop();
    REQUIRE(is_readable_in(pair.fd, 10s));
    const auto again = waiter->listen({pair.wake});
    REQUIRE_FALSE(again.ok());
    CHECK(again.error().kind == ErrorKind::unavailable);
}

TEST_CASE("redis wakes: a user who may not listen is not woken, and asks now and then", "[contract]") {
    RedisServer server;
    server.cli({"ACL", "SETUSER", "jobs", "on", ">s3cret", "~jobthrottle:*", "+@all", "-blpop"});
    const auto holder = redis_at(server.socket_url());
    const auto waiter = redis_at("redis://jobs:s3cret@127.0.0.1:" + std::to_string(server.port()));
    const Waiting pair(*holder, *waiter);
    REQUIRE(is_readable_in(pair.fd, 10s));
    REQUIRE(waiter->ask(k_key, pair.waiter)->kind == AnswerKind::wait);
    CHECK(waiter->listen({pair.wake})->empty());
    REQUIRE(waiter->ask(k_key, pair.waiter)->kind == AnswerKind::wait);
    CHECK(waiter->listen({pair.wake})->empty());
}

TEST_CASE("redis wakes: rest and hurry end the listening", "[contract]") {
    RedisServer server;
    const auto holder = redis_at(server.socket_url()), waiter = redis_at(server.socket_url());
    const Waiting pair(*holder, *waiter);
    waiter->rest();
    for (int i = 0; i < 1000 && server.cli({"CLIENT", "LIST"}).find("cmd=blpop") != std::string::npos; ++i)
        is_readable_in(-1, 5ms);
    CHECK(server.cli({"CLIENT", "LIST"}).find("cmd=blpop") == std::string::npos);
    listen_for(*waiter, {pair.wake});  // without a connection at first
    waiter->hurry(20s);
    CHECK(waiter->cancel(k_key, pair.waiter.place).ok());
    CHECK(holder->inspect(k_key)->waiting.empty());
}

TEST_CASE("redis wakes: a wake-up that is passed on brings nothing of its last holder", "[contract]") {
    RedisServer server;
    const auto store = redis_at(server.socket_url());
    const auto names = record_names("jobthrottle", k_key);
    const std::string list = wake_list_name("jobthrottle", k_key, 1);
    CHECK(std::find(names.begin(), names.end(), list) != names.end());
    const auto holder = question_for_place(), first = question_for_place(), second = question_for_place();
    REQUIRE(store->ask(k_key, holder)->leased);
    REQUIRE(store->ask(k_key, first)->wake == 1);
    REQUIRE(store->release(k_key, {holder.id, false}).ok());
    CHECK(server.cli({"LLEN", list}) == "1");
    const auto left_ms = std::stoll(server.cli({"PTTL", list}));
    CHECK(left_ms > 0);
    CHECK(left_ms <= 10'000);
    REQUIRE(store->cancel(k_key, first.place).ok());  // it was woken and goes
    REQUIRE(store->ask(k_key, holder)->kind == AnswerKind::start);
    REQUIRE(store->ask(k_key, second)->wake == 1);
    CHECK(server.cli({"EXISTS", list}) == "0");
}

TEST_CASE("redis wakes: what another application left in a wake list does not matter", "[contract]") {
    RedisServer server;
    const auto holder = redis_at(server.socket_url()), waiter = redis_at(server.socket_url());
    server.cli({"SET", wake_list_name("jobthrottle", k_key, 1), "x"});
    const Waiting pair(*holder, *waiter);
    CHECK_FALSE(is_readable_in(pair.fd, 20ms));
    server.cli({"SET", wake_list_name("jobthrottle", k_key, 1), "x"});
    REQUIRE(holder->release(k_key, {pair.holder.id, false}).ok());
    REQUIRE(is_readable_in(pair.fd, 10s));
    CHECK(waiter->ask(k_key, pair.waiter)->kind == AnswerKind::start);
}

}  // namespace jobthrottle::test
