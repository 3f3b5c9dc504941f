// SPDX-License-Identifier: MIT
// The records of a key in Redis: their names, what others put there, what an eviction takes.
#include "redis_support.hpp"
#include "store/redis/key_names.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

const Key k_key = key_named("github");
const Rate k_slow = rate_of(2, 1h);

std::vector<Key> strange_keys() {
    std::vector<Key> keys;
    for (const std::string& bytes :
         {std::string(" "), std::string("}"), std::string("{}"), std::string("a}b"), std::string("{a}"),
          std::string("\n"), std::string("\0", 1), std::string("a\0b", 3), std::string("%41"),
          std::string("*?[a]\\^"), std::string("\xFF\xFE"), std::string("\xC3\xA9t\xC3\xA9"),
          std::string("\xC3"), std::string("a:b:state"), std::string("}:state"), std::string(480, '{'),
          std::string(480, '\xF0'), std::string("\x7F")}) {
        keys.push_back(key_named(bytes));
    }
    return keys;
}

}  // namespace

TEST_CASE("redis: names keep strange keys apart, in one slot each, and give them back", "[contract]") {
    std::set<std::string> names;
    for (const Key& key : strange_keys()) {
        const auto records = record_names("app", key);
        REQUIRE(records.size() == k_record_names);
        for (const auto& name : records) {
            INFO(name);
            CHECK(name.find_first_of(" \n\t") == std::string::npos);
            CHECK(name.find('\0') == std::string::npos);
            CHECK(std::count(name.begin(), name.end(), '{') == 1);
            CHECK(std::count(name.begin(), name.end(), '}') == 1);
            CHECK(names.insert(name).second);
        }
        CHECK(key_of_name("app", records[0]) == key);
        CHECK_FALSE(key_of_name("ap", records[0]).has_value());
        CHECK_FALSE(key_of_name("app", records[1]).has_value());
    }
    CHECK(record_names("a b{c}", key_named("k"))[0] == "a%20b%7Bc%7D:{k}:state");
    // Names that encode_for_name() never gives.
    for (const char* name : {"app:{%4}:state", "app:{%41}:state", "app:{%zz}:state", "app:{}:state",
                             "app:{a b}:state", "app:{a:state", "app:state", ""}) {
        INFO(name);
        CHECK_FALSE(key_of_name("app", name).has_value());
    }
}

TEST_CASE("redis: strange keys are keys like others", "[contract]") {
    RedisServer server;
    const auto store = redis_at(server.socket_url());
    for (const Key& key : strange_keys()) {
        const auto answer = store->ask(key, question_at(k_slow));
        INFO(key.shown());
        REQUIRE(answer.ok());
        CHECK(answer->kind == AnswerKind::start);
        CHECK(store->inspect(key)->limits.at(0).starts == 1);
    }
    const auto found = store->keys("*");
    REQUIRE(found.ok());
    CHECK(found->size() == strange_keys().size());
    CHECK(store->keys("{*")->size() == 3);
    const auto quoted = store->keys("\\*?\\[*");
    REQUIRE(quoted->size() == 1);
    CHECK(quoted->front().key.bytes() == "*?[a]\\^");
}

TEST_CASE("redis: keys lists what has state, a registration or a note, under its prefix", "[contract]") {
    RedisServer server;
    auto options = options_for(server.socket_url());
    options.prefix = "app*";
    const auto store = make_redis_store(options);
    REQUIRE(
        store->set_registration(key_named("registered"), Registration{terms_of({k_slow}), 1, "ops"}).ok());
    REQUIRE(store->ask(key_named("asked"), question_at(k_slow)).ok());
    PauseRequest request;
    request.length = 1s;
    request.note = encode(PauseNote{});
    REQUIRE(store->pause(key_named("noted"), request).ok());
    server.cli({"DEL", record_names("app*", key_named("noted"))[0]});
    // Others' keys, among them some that look like ours.
    for (const char* name : {"app*:{x}:other", "app:{y}:state", "app*:z", "plain"})
        server.cli({"SET", name, "1"});
    server.cli({"SET", "app%2A:{foreign}:state", "1"});
    server.cli({"LPUSH", "app%2A:{list}:state", "1"});
    std::string found;
    const auto keys = store->keys("*");
    REQUIRE(keys.ok());
    for (const auto& one : *keys)
        found += one.key.bytes() + " ";
    CHECK(found == "asked noted registered ");
    CHECK(store->keys("[ar]*")->size() == 2);
    CHECK(redis_at(server.socket_url())->keys("*")->empty());
}

TEST_CASE("redis: many keys are listed", "[contract]") {
    RedisServer server;
    const auto store = redis_at(server.socket_url());
    for (int i = 0; i < 300; ++i)
        REQUIRE(store->ask(key_named("key " + std::to_string(i)), question_at(k_slow)).ok());
    const auto keys = store->keys("key *");
    REQUIRE(keys.ok());
    CHECK(keys->size() == 300);
}

TEST_CASE("redis: records of a wrong type are refused, whichever it is", "[contract]") {
    RedisServer server;
    const auto names = record_names("jobthrottle", k_key);
    for (std::size_t i = 0; i < names.size(); ++i) {
        std::int64_t clock_us = 1'700'000'000'000'000;
        auto options = options_for(server.socket_url());
        options.clock_us = [&] { return clock_us; };
        const auto store = make_redis_store(options);
        fill(*store, k_key, clock_us);
        server.cli({"DEL", names[i]});
        server.cli({"LPUSH", names[i], "x"});
        INFO(names[i]);
        bool refused = false;
        for (int again = 0; again < 6; ++again) {
            clock_us += 3'600'000'000;
            auto question = large_question();
            question.fresh = false;
            const auto answer = store->ask(k_key, question);
            if (answer.ok()) continue;
            CHECK(answer.error().kind == ErrorKind::refused);
            CHECK_THAT(answer.error().message, ContainsSubstring("wrong type"));
            refused = true;
        }
        const bool unused = i > k_log1 && i < k_leases;  // two sizes of logs are all that this key needs
        CHECK(refused == !(i == k_note || unused || i >= k_first_wake));
        REQUIRE(store->ask(key_named("another"), question_at(k_slow)).ok());
        server.cli({"FLUSHALL"});
    }
}

TEST_CASE("redis: a state that others wrote is refused and never a crash", "[contract]") {
    RedisServer server;
    const auto store = redis_at(server.socket_url());
    const std::string state = record_names("jobthrottle", k_key)[0];
    REQUIRE(store->ask(k_key, question_at(k_slow)).ok());
    const std::string ours = server.cli({"GET", state});
    REQUIRE(ours.size() >= Header::k_bytes);
    std::string newer = ours, zeros = ours.substr(0, 8) + std::string(700, '\0');
    newer[3] = Header::k_version + 1;
    for (const std::string& bytes :
         {std::string("x"), ours.substr(0, 639), std::string(700, 'x'), newer, zeros, ours.substr(0, 640)}) {
        server.cli({"SET", state, bytes});
        for (const auto& error :
             {store->inspect(k_key).ok() ? Error{} : store->inspect(k_key).error(),
              store->ask(k_key, question_at(k_slow)).ok() ? Error{}
                                                          : store->ask(k_key, question_at(k_slow)).error()}) {
            if (error.message.empty()) continue;
            CHECK(error.kind == ErrorKind::refused);
            const bool is_newer = bytes == newer;
            CHECK_THAT(error.message, ContainsSubstring(is_newer ? "newer jobthrottle" : "github"));
        }
        CHECK(store->keys("*").ok());
    }
    server.cli({"SET", state, newer});
    REQUIRE_FALSE(store->ask(k_key, question_at(k_slow)).ok());
    CHECK(server.cli({"GET", state}) == newer);
    for (const std::string& rest : {std::string(), std::string(10, 'x'), std::string(34, '\xFF')}) {
        server.cli({"FLUSHALL"});
        REQUIRE(store->ask(k_key, question_at(k_slow)).ok());
        server.cli({"HSET", record_names("jobthrottle", k_key)[2], "id", rest});
        server.cli({"HSET", record_names("jobthrottle", k_key)[2], "L12345678", rest});
        server.cli({"SET", record_names("jobthrottle", k_key)[k_registered], rest});
        server.cli({"SET", record_names("jobthrottle", k_key)[k_note], rest});
        server.cli({"SET", record_names("jobthrottle", k_key)[k_log1], rest});
        CHECK(store->inspect(k_key).ok());
        CHECK(store->ask(k_key, question_at(k_slow)).ok());
    }
}

TEST_CASE("redis: forget drops all but what is registered, and nobody's place unasked", "[contract]") {
    RedisServer server;
    std::int64_t clock_us = 1'700'000'000'000'000;
    auto options = options_for(server.socket_url());
    options.clock_us = [&] { return clock_us; };
    const auto store = make_redis_store(options);
    fill(*store, k_key, clock_us);
    const auto refused = store->forget(k_key, false);
    REQUIRE(refused.ok());
    CHECK_FALSE(refused->forgotten);
    CHECK(refused->known);
    CHECK(refused->waiting.size() >= 1);
    CHECK(store->inspect(k_key)->waiting.size() >= 1);
    const auto done = store->forget(k_key, true);
    REQUIRE(done.ok());
    CHECK(done->forgotten);
    const auto names = record_names("jobthrottle", k_key);
    for (std::size_t i = 0; i < names.size(); ++i)
        CHECK(server.cli({"EXISTS", names[i]}) == (i == k_registered ? "1" : "0"));
    CHECK(store->registration(k_key)->has_value());
    const auto before = store->set_registration(k_key, std::nullopt);
    REQUIRE(before.ok());
    REQUIRE(before->has_value());
    CHECK((**before).who == "ops@box");
    CHECK_FALSE(store->forget(k_key, false)->known);
}

TEST_CASE("redis: by the server's own clock a rate holds and a pause ends", "[contract]") {
    RedisServer server;
    const auto store = redis_at(server.socket_url());
    const Rate rate = rate_of(20, 1s);
    int started = 0;
    auto question = question_at(rate);
    const BootTime began = BootClock::now();
    for (int asked = 0; started < 10 && asked < 1000; ++asked) {
        const auto answer = store->ask(k_key, question);
        REQUIRE(answer.ok());
        if (answer->kind == AnswerKind::start) {
            ++started;
            question = question_at(rate);
        }
        usleep(static_cast<useconds_t>(answer->wait.count()));
    }
    CHECK(started == 10);
    CHECK(BootClock::now() - began >= 450ms);
    PauseRequest request;
    request.length = 1h;
    CHECK(store->pause(k_key, request)->left <= 1h);
    CHECK(store->pause(k_key, request)->left > 59min);
    CHECK(store->resume(k_key)->changed);
    CHECK(store->inspect(k_key)->paused_for == Duration::zero());
}

}  // namespace jobthrottle::test
