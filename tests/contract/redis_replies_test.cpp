// SPDX-License-Identifier: MIT
// Answers that no Redis gives: lengths that nobody has room for, lines without an end.
#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "redis_support.hpp"
#include "store/redis/reply_guard.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

const Key k_key = key_named("github");
const Rate k_rate = rate_of(1000, 1s);

// Whether the bytes are an answer so far, however they are split.
bool is_taken(const std::string& bytes) {
    ReplyGuard whole;
    const bool taken = whole.take(bytes);
    for (const std::size_t size : {1U, 2U, 3U, 7U}) {
        ReplyGuard pieces;
        bool all = true;
        for (std::size_t at = 0; at < bytes.size(); at += size)
            all = pieces.take(std::string_view(bytes).substr(at, size));
        CHECK(all == taken);
    }
    return taken;
}

// An answer to each command that comes, before the bytes in question.
void answer_forever(const Fd& connection, const std::atomic<bool>& stop, const std::string& first,
                    const std::string& more) {
    if (receive_some(connection).empty() || !send_all(connection, first)) return;
    while (!stop && !more.empty() && send_all(connection, more)) {
    }
    while (!stop && !receive_some(connection).empty()) {
    }
}

}  // namespace

TEST_CASE("redis: what can be an answer is read on", "[contract]") {
    for (const char* bytes : {"", "+OK\r\n", "-ERR no\r\n", ":-12\r\n", "$-1\r\n", "$0\r\n\r\n",
                              "$5\r\na\r\nbc\r\n+OK\r\n", "*2\r\n$2\r\n*9\r\n*0\r\n*-1\r\n", "*1048576\r\n",
                              "$67108864\r\nx", "+a\rb\nc\r\n:1\r\n", "$12", "*"}) {
        INFO(bytes);
        CHECK(is_taken(bytes));
    }
    CHECK(is_taken(std::string("$4\r\n\0\n\r*\r\n+OK\r\n", 15)));
    CHECK(is_taken("+" + std::string(60'000, 'x') + "\r\n"));
    CHECK(is_taken("$70000\r\n" + std::string(70'000, '*') + "\r\n*3\r\n"));
    for (const char* bytes :
         {"*1048577\r\n", "*2147483647\r\n", "*9223372036854775808\r\n", "$67108865\r\n", "$2147483647\r\n",
          "$-2\r\n", "*-2\r\n", "$+1\r\n", "*1x\r\n", "$\r\n", "*\r\n", "HTTP/1.1 400\r\n", "\r\n", "\n",
          "%1\r\n", ">2\r\n", "+OK\r\n\r\n", "$1\r\nx\r\n!", "*1\r\n*1\r\n*2147483647\r\n"}) {
        INFO(bytes);
        CHECK_FALSE(is_taken(bytes));
    }
    const std::string six = "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n";
    CHECK(is_taken(six + "*2\r\n*0\r\n$1\r\nx\r\n" + six + "*2\r\n*-1\r\n:1\r\n" + six + "*1\r\n+\r\n"));
    CHECK_FALSE(is_taken(six + "*1\r\n*1\r\n"));
    CHECK_FALSE(is_taken(six + "*2\r\n$1\r\nx\r\n*1\r\n"));
    CHECK_FALSE(is_taken("+" + std::string(70'000, 'x')));
    CHECK_FALSE(is_taken(":" + std::string(40, '1')));
    ReplyGuard guard;
    CHECK_FALSE(guard.take("!"));
    CHECK_FALSE(guard.take("+OK\r\n"));
}

TEST_CASE("redis: a length that nobody has room for, and a line without an end, are refused", "[contract]") {
    struct Row {
        std::string first, more;
    };
    const std::string much(65536, 'x');
    const std::vector<Row> rows = {
        {"*2147483647\r\n", ""},
        {"+OK\r\n*2147483647\r\n", ""},
        {"+OK\r\n*4\r\n$2\r\nok\r\n*2147483647\r\n", ""},
        {"$2147483647\r\n", ""},
        {"$2147483647\r\n", much},
        {"+OK\r\n$67000000\r\n", much},
        {"+", much},
        {"-ERR ", much},
        {"*", "1"},
        {"+OK\r\n", "*1\r\n"},
    };
    for (const auto& row : rows) {
        INFO(row.first.substr(0, 40) << ", then " << row.more.substr(0, 10));
        FakeServer server([&](const Fd& connection, const std::atomic<bool>& stop) {
            answer_forever(connection, stop, row.first, row.more);
        });
        const auto store = redis_at(server.url());  // with limits of 20 s each
        const BootTime began = BootClock::now();
        const auto answer = store->ask(k_key, question_at(k_rate));
        CHECK(ended_in_time(began));
        REQUIRE_FALSE(answer.ok());
        CHECK(answer.error().kind == ErrorKind::refused);
        CHECK_THAT(answer.error().message, ContainsSubstring("no Redis"));
    }
}

TEST_CASE("redis: a signal ends the reading of an answer that goes on and on", "[contract]") {
    FakeServer server([](const Fd& connection, const std::atomic<bool>& stop) {
        answer_forever(connection, stop, "+OK\r\n$60000000\r\n", std::string(65536, 'x'));
    });
    std::array<int, 2> ends{};
    REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0);
    const Fd out(ends[0]), in(ends[1]);
    auto options = options_for(server.url());
    options.command_timeout = 10min;
    options.interrupt_fd = out.get();
    const auto store = make_redis_store(options);
    REQUIRE(write(in.get(), "x", 1) == 1);
    const BootTime began = BootClock::now();
    const auto answer = store->ask(k_key, question_at(k_rate));
    CHECK(ended_in_time(began));
    REQUIRE_FALSE(answer.ok());
    CHECK(answer.error().kind == ErrorKind::interrupted);
}

TEST_CASE("redis: keys says what it could not list", "[contract]") {
    RedisServer server;
    std::vector<std::string> told;
    auto options = options_for(server.socket_url());
    options.notice = [&](const std::string& text) { told.push_back(text); };
    const auto store = make_redis_store(options);
    for (const char* name : {"a", "b", "c", "d"})
        REQUIRE(store->ask(key_named(name), question_at(k_rate)).ok());
    REQUIRE(store->keys("*")->size() == 4);
    CHECK(told.empty());

    server.cli({"SET", "jobthrottle:{b}:state", "dear diary"});
    CHECK(store->keys("*")->size() == 3);
    REQUIRE(told.size() == 1);
    CHECK_THAT(told[0], ContainsSubstring("not listed: 'b', where what is stored is damaged"));

    told.clear();
    server.cli({"DEL", "jobthrottle:{d}:state"});
    server.cli({"LPUSH", "jobthrottle:{d}:state", "x"});
    const auto keys = store->keys("*");
    REQUIRE(keys.ok());
    REQUIRE(keys->size() == 2);
    CHECK(keys->front().key == key_named("a"));
    REQUIRE(told.size() == 1);
    CHECK_THAT(told[0], ContainsSubstring("not listed: 'b' and 1 more"));
    told.clear();
    CHECK(store->keys("a")->size() == 1);  // a list that does not ask for them does not speak of them
    CHECK(told.empty());
}

}  // namespace jobthrottle::test
