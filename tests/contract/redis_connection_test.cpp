// SPDX-License-Identifier: MIT
// What a Redis store does when the server is away, slow, gone or no Redis.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "redis_support.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

const Key k_key = key_named("github");
const Rate k_rate = rate_of(1000, 1s);

jobthrottle::RedisOptions impatient(const std::string& url) {
    auto options = options_for(url);
    options.connect_timeout = 200ms;
    options.command_timeout = 300ms;
    return options;
}

// A pair of descriptors; what is written to the second can be read from the first.
struct Pipe {
    Pipe() {
        std::array<int, 2> ends{};
        REQUIRE(pipe2(ends.data(), O_CLOEXEC) == 0);
        out.reset(ends[0]);
        in.reset(ends[1]);
    }
    Fd out, in;
};

// A Unix socket with no room for one more connection.
struct FullBacklog {
    FullBacklog() {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        REQUIRE(path.size() < sizeof address.sun_path);
        std::memcpy(address.sun_path, path.c_str(), path.size());
        const auto* generic = reinterpret_cast<const sockaddr*>(&address);
        REQUIRE(bind(listener.get(), generic, sizeof address) == 0);
        REQUIRE(listen(listener.get(), 0) == 0);
        for (;;) {
            Fd one(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
            if (connect(one.get(), generic, sizeof address) != 0) break;
            waiting.push_back(std::move(one));
        }
        REQUIRE(errno == EAGAIN);
    }
    TempDir dir;
    std::string path = dir.file("full");
    Fd listener{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    std::vector<Fd> waiting;
};

void check_away(Store& store, const std::string& reason) {
    const BootTime began = BootClock::now();
    const auto answer = store.ask(k_key, question_at(k_rate));
    CHECK(ended_in_time(began));
    REQUIRE_FALSE(answer.ok());
    CHECK(answer.error().kind == ErrorKind::unavailable);
    CHECK_THAT(answer.error().message, ContainsSubstring(reason));
}

}  // namespace

TEST_CASE("redis: a server that is not there is away", "[contract]") {
    const TempDir dir;
    const auto store = redis_at("unix://" + dir.file("nobody"));
    check_away(*store, "connect: No such file or directory");
    const auto refused = redis_at("redis://127.0.0.1:" + std::to_string(spare_port()));
    check_away(*refused, "connect: Connection refused");
    CHECK_THAT(refused->name(), ContainsSubstring("redis://127.0.0.1:"));
}

TEST_CASE("redis: a name that leads nowhere is away within the time limit", "[contract]") {
    const auto store = make_redis_store(impatient("redis://no-such-host.invalid"));
    check_away(*store, "host");
}

TEST_CASE("redis: a stopped server is away within the time limits, at every call", "[contract]") {
    RedisServer server;
    const auto store = make_redis_store(impatient(server.socket_url()));
    const auto known = redis_at(server.tcp_url());
    REQUIRE(known->ask(k_key, question_at(k_rate)).ok());
    const auto open = make_redis_store(impatient(server.tcp_url()));
    const auto first = open->ask(k_key, question_at(k_rate));
    server.freeze();
    check_away(*store, "timed out after");
    check_away(*store, "timed out after");
    if (first.ok()) check_away(*open, "answer: timed out after 300ms");
    server.thaw();
    // What was asked in vain is answered late, on connections that nobody reads any more.
    const auto answer = known->ask(k_key, question_at(k_rate));
    REQUIRE(answer.ok());
    CHECK(answer->terms == terms_of({k_rate}));
    const auto report = known->inspect(k_key);
    REQUIRE(report.ok());
    CHECK(report->known);
}

TEST_CASE("redis: a socket that takes no connection is away within the time limit", "[contract]") {
    const FullBacklog full;
    const auto store = make_redis_store(impatient("unix://" + full.path));
    check_away(*store, "connect: timed out after 200ms");
}

TEST_CASE("redis: an answer that drips is away within the time limit", "[contract]") {
    FakeServer server([](const Fd& connection, const std::atomic<bool>& stop) {
        receive_some(connection);
        while (!stop && send_all(connection, "+"))
            usleep(5000);
    });
    const auto store = make_redis_store(impatient(server.url()));
    check_away(*store, "answer: timed out after 300ms");
}

TEST_CASE("redis: an answer without end does not hang the caller", "[contract]") {
    FakeServer server([](const Fd& connection, const std::atomic<bool>& stop) {
        receive_some(connection);
        const std::string much(65536, 'x');
        send_all(connection, "+");
        while (!stop && send_all(connection, much)) {
        }
    });
    const auto store = make_redis_store(impatient(server.url()));
    const BootTime began = BootClock::now();
    CHECK_FALSE(store->ask(k_key, question_at(k_rate)).ok());
    CHECK(ended_in_time(began));
}

TEST_CASE("redis: an answer that comes byte by byte is an answer", "[contract]") {
    FakeServer server([](const Fd& connection, const std::atomic<bool>&) {
        receive_some(connection);
        for (const char c : std::string("+OK\r\n*4\r\n$2\r\nok\r\n:2500000\r\n:0\r\n:1\r\n")) {
            send_all(connection, std::string(1, c));
            usleep(200);
        }
        receive_some(connection);
    });
    const auto answer = redis_at(server.url())->resume(k_key);
    REQUIRE(answer.ok());
    CHECK(answer->left == 2500ms);
    CHECK(answer->changed);
}

TEST_CASE("redis: what speaks another language is refused, not away", "[contract]") {
    for (const char* answer :
         {"HTTP/1.1 400 Bad Request\r\n\r\n", "\x15\x03\x01\x00\x02\x02\x16", "SSH-2.0-OpenSSH_9.2\r\n"}) {
        FakeServer server{std::string(answer)};
        const auto result = redis_at(server.url())->ask(k_key, question_at(k_rate));
        REQUIRE_FALSE(result.ok());
        CHECK(result.error().kind == ErrorKind::refused);
        CHECK_THAT(result.error().message, ContainsSubstring("no Redis"));
    }
    FakeServer other{"+OK\r\n+OK\r\n"};  // a Redis by its looks, but not with our script
    const auto result = redis_at(other.url())->ask(k_key, question_at(k_rate));
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().kind == ErrorKind::refused);
    CHECK_THAT(result.error().message, ContainsSubstring("not understood"));
}

TEST_CASE("redis: a connection that is closed without an answer is away", "[contract]") {
    FakeServer server([](const Fd& connection, const std::atomic<bool>&) { receive_some(connection); });
    check_away(*redis_at(server.url()), "closed the connection");
}

TEST_CASE("redis: a signal ends a call that waits, unless the process is in a hurry", "[contract]") {
    RedisServer server;
    const Pipe signal;
    REQUIRE(write(signal.in.get(), "x", 1) == 1);
    auto options = options_for(server.socket_url());
    options.interrupt_fd = signal.out.get();
    options.command_timeout = 10min;
    const auto store = make_redis_store(options);
    server.freeze();
    const BootTime began = BootClock::now();
    const auto answer = store->ask(k_key, question_at(k_rate));
    REQUIRE_FALSE(answer.ok());
    CHECK(answer.error().kind == ErrorKind::interrupted);
    store->hurry(100ms);
    const auto cancelled = store->cancel(k_key, 1);
    REQUIRE_FALSE(cancelled.ok());
    CHECK(cancelled.error().kind == ErrorKind::unavailable);
    CHECK(ended_in_time(began));
    server.thaw();
    store->hurry(20s);
    CHECK(store->cancel(k_key, 1).ok());
}

TEST_CASE("redis: a server that was started anew is found again", "[contract]") {
    RedisServer server;
    const auto store = redis_at(server.socket_url());
    const auto first = store->ask(k_key, question_at(k_rate));
    REQUIRE(first.ok());
    server.restart(RedisServer::Data::kept);
    const auto second = store->ask(k_key, question_at(k_rate));
    REQUIRE(second.ok());
    CHECK(second->birth_us == first->birth_us);
    server.restart(RedisServer::Data::lost);
    const auto third = store->ask(k_key, question_at(k_rate));
    REQUIRE(third.ok());
    CHECK(third->birth_us != first->birth_us);
    server.stop();
    check_away(*store, "connect");
}

TEST_CASE("redis: a question that is sent a second time counts once", "[contract]") {
    RedisServer server;
    const auto store = redis_at(server.socket_url());
    auto question = question_at(rate_of(10, 24h));
    REQUIRE(store->ask(k_key, question)->kind == AnswerKind::start);
    // The server hangs up; the same question goes over a new connection, no longer as a fresh one.
    server.cli({"CLIENT", "KILL", "TYPE", "normal"});
    const auto again = store->ask(k_key, question);
    REQUIRE(again.ok());
    CHECK(again->kind == AnswerKind::start);
    CHECK(store->inspect(k_key)->limits.at(0).starts == 1);
}

TEST_CASE("redis: rest lets go of the connection", "[contract]") {
    RedisServer server;
    const auto store = redis_at(server.socket_url());
    REQUIRE(store->ask(k_key, question_at(k_rate)).ok());
    CHECK_THAT(server.cli({"CLIENT", "LIST"}), ContainsSubstring("name=jobthrottle"));
    store->rest();
    std::string clients;
    for (int i = 0; i < 1000; ++i) {
        clients = server.cli({"CLIENT", "LIST"});
        if (clients.find("name=jobthrottle") == std::string::npos) break;
        usleep(5000);
    }
    CHECK(clients.find("name=jobthrottle") == std::string::npos);
    CHECK(store->ask(k_key, question_at(k_rate)).ok());
}

}  // namespace jobthrottle::test
