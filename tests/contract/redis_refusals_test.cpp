// SPDX-License-Identifier: MIT
// What a Redis store does when the server is there and says no, or not now.
#include "redis_support.hpp"
#include "store/redis/server_error.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

const Key k_key = key_named("github");
const Rate k_rate = rate_of(1000, 1s);

Error error_of_ask(Store& store) {
    const auto answer = store.ask(k_key, question_at(k_rate));
    REQUIRE_FALSE(answer.ok());
    return answer.error();
}

void check_refused(Store& store, const std::string& reason) {
    const Error error = error_of_ask(store);
    CHECK(error.kind == ErrorKind::refused);
    CHECK_THAT(error.message, ContainsSubstring(reason));
    CHECK(error.message.find("s3cret") == std::string::npos);
    CHECK(error.message.find('\n') == std::string::npos);
}

std::unique_ptr<Store> with_password(const std::string& url, const std::string& password) {
    auto options = options_for(url);
    options.password = password;
    return make_redis_store(options);
}

std::string with_credentials(const RedisServer& server, const std::string& credentials) {
    return "redis://" + credentials + "@127.0.0.1:" + std::to_string(server.port());
}

}  // namespace

TEST_CASE("redis: error replies are told apart", "[contract]") {
    struct Row {
        const char* text;
        ErrorKind kind;
    };
    const std::vector<Row> rows = {
        {"LOADING Redis is loading the dataset in memory", ErrorKind::unavailable},
        {"MASTERDOWN Link with MASTER is down", ErrorKind::unavailable},
        {"CLUSTERDOWN The cluster is down", ErrorKind::unavailable},
        {"TRYAGAIN Multiple keys request during rehashing of slot", ErrorKind::unavailable},
        {"READONLY You can't write against a read only replica.", ErrorKind::unavailable},
        {"BUSY Redis is busy running a script.", ErrorKind::unavailable},
        {"NOREPLICAS Not enough good replicas to write.", ErrorKind::unavailable},
        {"ERR max number of clients reached", ErrorKind::unavailable},
        {"NOAUTH Authentication required.", ErrorKind::refused},
        {"WRONGPASS invalid username-password pair or user is disabled.", ErrorKind::refused},
        {"NOPERM this user has no permissions to run the 'evalsha' command", ErrorKind::refused},
        {"OOM command not allowed when used memory > 'maxmemory'.", ErrorKind::refused},
        {"MISCONF Redis is configured to save RDB snapshots", ErrorKind::refused},
        {"WRONGTYPE Operation against a key holding the wrong kind of value", ErrorKind::refused},
        {"MOVED 3999 127.0.0.1:6381", ErrorKind::refused},
        {"CROSSSLOT Keys in request don't hash to the same slot", ErrorKind::refused},
        {"ERR unknown command 'EVALSHA'", ErrorKind::refused},
        {"LOADINGS", ErrorKind::refused},
        {"", ErrorKind::refused},
        // As Redis 6.2 says what a command in a script was told.
        {"ERR Error running script (call to f_5332031c6b470dc5a0dd9b4bf2030dea6d65de91): @user_script:1: "
         "@user_script: 1: -READONLY You can't write against a read only replica.",
         ErrorKind::unavailable},
        {"ERR Error running script (call to f_5332031c6b470dc5a0dd9b4bf2030dea6d65de91): @user_script:12: "
         "WRONGTYPE Operation against a key holding the wrong kind of value",
         ErrorKind::refused},
    };
    for (const auto& row : rows) {
        INFO(row.text);
        CHECK(error_of_reply(row.text, "").kind == row.kind);
        // The same from a server, on the wire.
        FakeServer server("+OK\r\n-" + std::string(row.text) + "\r\n");
        const auto store = redis_at(server.url());
        CHECK(error_of_ask(*store).kind == row.kind);
    }
    CHECK(error_code("ERR Error running script (call to f_00) without a place") == "ERR");
    CHECK(error_code("NOSCRIPT No matching script.") == "NOSCRIPT");
    CHECK(error_code("ERR Error running script (call to f_00): @user_script:9: WRONGTYPE Operation") ==
          "WRONGTYPE");
    CHECK(error_code("ERR Error running script (call to f_00): @user_script").empty());
    CHECK(error_code("ERR ACL failure in script: No permissions to access a key") == "NOPERM");
}

TEST_CASE("redis: a password is in no message", "[contract]") {
    FakeServer echo("-ERR s3cret is wrong\r\n-ERR s3cret again s3cret\r\n-ERR s3cret\r\n");
    check_refused(*with_password(echo.url(), "s3cret"), "does not take this user and password");
    FakeServer later("+OK\r\n+OK\r\n-ERR s3cret again s3cret\r\n");
    check_refused(*with_password(later.url(), "s3cret"), "*** again ***");
    CHECK(with_password(later.url(), "s3cret")->name().find("s3cret") == std::string::npos);
    const auto url = redis_at("redis://me:s3cret@127.0.0.1:7/3");
    CHECK(url->name() == "redis://me:***@127.0.0.1:7/3");
}

TEST_CASE("redis: a password is asked for, wrong and right", "[contract]") {
    RedisServer server({"s3cret", {}});
    check_refused(*redis_at(server.tcp_url()), "JOBTHROTTLE_PASSWORD");
    check_refused(*with_password(server.tcp_url(), "s3cre"), "does not take this user and password");
    CHECK(with_password(server.tcp_url(), "s3cret")->ask(k_key, question_at(k_rate)).ok());
    CHECK(redis_at(with_credentials(server, ":s3cret"))->ask(k_key, question_at(k_rate)).ok());
    CHECK(redis_at(with_credentials(server, "default:s3cret"))->ask(k_key, question_at(k_rate)).ok());
    // The one given apart wins over the URL's.
    CHECK(with_password(with_credentials(server, ":wrong"), "s3cret")->ask(k_key, question_at(k_rate)).ok());
    const RedisServer open;
    check_refused(*with_password(open.tcp_url(), "s3cret"), "does not take this user and password");
}

TEST_CASE("redis: a user of its own, with and without the rights", "[contract]") {
    RedisServer server;
    server.cli({"ACL", "SETUSER", "jobs", "on", ">s3cret", "~jobthrottle:*", "+@all", "-script", "-keys"});
    CHECK(redis_at(with_credentials(server, "jobs:s3cret"))->ask(k_key, question_at(k_rate)).ok());
    server.cli({"ACL", "SETUSER", "poor", "on", ">s3cret", "~jobthrottle:*", "-@all", "+get"});
    check_refused(*redis_at(with_credentials(server, "poor:s3cret")), "NOPERM");
    server.cli({"ACL", "SETUSER", "other", "on", ">s3cret", "~other:*", "+@all"});
    check_refused(*redis_at(with_credentials(server, "other:s3cret")), "NOPERM");
    check_refused(*redis_at(with_credentials(server, "nobody:s3cret")), "does not take this user");
}

TEST_CASE("redis: a right that only the scripts need and that is missing is said as one", "[contract]") {
    RedisServer server;
    for (const char* right : {"-time", "-get", "-setrange", "-select"}) {
        INFO(right);
        server.cli({"ACL", "SETUSER", "jobs", "reset", "on", ">s3cret", "~jobthrottle:*", "+@all", right});
        const bool select = std::string(right) == "-select";
        const auto store = redis_at(with_credentials(server, "jobs:s3cret") + (select ? "/1" : ""));
        const Error error = error_of_ask(*store);
        CHECK(error.kind == ErrorKind::refused);
        CHECK_THAT(error.message, ContainsSubstring("NOPERM"));
        CHECK(error.message.find("@user_script") == std::string::npos);
        CHECK(error.message.find("script: ") == std::string::npos);
        if (std::string(right) == "-time") {
            CHECK_THAT(store->inspect(k_key).error().message, ContainsSubstring("NOPERM"));
            CHECK(store->keys("*")->empty());
        }
    }
    // As other versions say it.
    for (const char* text :
         {"NOPERM ACL failure in script: User jobs has no permissions to run the 'time' command script: "
          "5332031c6b470dc5a0dd9b4bf2030dea6d65de91, on @user_script:316.",
          "ERR Error running script (call to f_5332031c6b470dc5a0dd9b4bf2030dea6d65de91): @user_script:316: "
          "@user_script: 316: ERR The user executing the script can't run this command or subcommand"}) {
        const Error error = error_of_reply(text, "");
        CHECK(error.kind == ErrorKind::refused);
        CHECK_THAT(error.message, ContainsSubstring("NOPERM"));
        CHECK(error.message.find("@user_script") == std::string::npos);
    }
    CHECK(error_of_reply("NOPERM \x1b]0;you\x07", "").message.find('\x1b') == std::string::npos);
}

TEST_CASE("redis: a database that is not there is refused and no other one is written", "[contract]") {
    RedisServer server;
    check_refused(*redis_at(server.tcp_url() + "/99"), "no database 99");
    CHECK(server.cli({"DBSIZE"}) == "0");
    const auto third = redis_at(server.tcp_url() + "/3");
    REQUIRE(third->ask(k_key, question_at(k_rate)).ok());
    CHECK(server.cli({"DBSIZE"}) == "0");
    CHECK_THAT(server.cli({"INFO", "keyspace"}), ContainsSubstring("db3:"));
    REQUIRE(third->keys("*").ok());
    CHECK(third->keys("*")->size() == 1);
    CHECK(redis_at(server.tcp_url())->keys("*")->empty());
}

TEST_CASE("redis: a full server is refused and keeps what it has", "[contract]") {
    RedisServer server;
    const auto store = redis_at(server.socket_url());
    const Rate slow = rate_of(1, 1h);
    REQUIRE(store->ask(k_key, question_at(slow))->kind == AnswerKind::start);
    auto waiter = question_at(slow);
    REQUIRE(store->ask(k_key, waiter)->kind == AnswerKind::wait);
    server.cli({"CONFIG", "SET", "maxmemory", "1"});
    check_refused(*store, "memory is full");
    server.cli({"CONFIG", "SET", "maxmemory", "0"});
    const auto report = store->inspect(k_key);
    REQUIRE(report.ok());
    CHECK(report->waiting.size() == 1);
    CHECK(report->limits.at(0).starts == 1);
}

TEST_CASE("redis: a replica is away", "[contract]") {
    RedisServer server;
    const auto store = redis_at(server.socket_url());
    REQUIRE(store->ask(k_key, question_at(k_rate)).ok());
    server.cli({"REPLICAOF", "127.0.0.1", "1"});
    CHECK(error_of_ask(*store).kind == ErrorKind::unavailable);
    server.cli({"CONFIG", "SET", "replica-serve-stale-data", "no"});
    CHECK(error_of_ask(*store).kind == ErrorKind::unavailable);
    server.cli({"REPLICAOF", "NO", "ONE"});
    CHECK(store->ask(k_key, question_at(k_rate)).ok());
}

TEST_CASE("redis: a server with too many clients is away", "[contract]") {
    RedisServer server;
    const auto first = redis_at(server.socket_url());
    REQUIRE(first->ask(k_key, question_at(k_rate)).ok());
    server.cli({"CONFIG", "SET", "maxclients", "1"});
    const auto second = redis_at(server.socket_url());
    CHECK(error_of_ask(*second).kind == ErrorKind::unavailable);
    CHECK(first->ask(k_key, question_at(k_rate)).ok());
}

TEST_CASE("redis: a server that has forgotten the scripts is sent them again", "[contract]") {
    RedisServer server;
    const auto store = redis_at(server.socket_url());
    server.cli({"ACL", "SETUSER", "default", "-script|load"});  // EVAL is the way, not SCRIPT LOAD
    for (int i = 0; i < 5; ++i) {
        server.cli({"SCRIPT", "FLUSH"});
        REQUIRE(store->ask(k_key, question_at(k_rate)).ok());
        server.cli({"SCRIPT", "FLUSH"});
        REQUIRE(store->inspect(k_key).ok());
        server.cli({"SCRIPT", "FLUSH"});
        REQUIRE(store->keys("*")->size() == 1);
    }
    REQUIRE(store->ask(k_key, question_at(k_rate)).ok());
    server.reset_stats();
    REQUIRE(store->ask(k_key, question_at(k_rate)).ok());
    CHECK(server.calls("evalsha") == 1);
    CHECK(server.calls("eval") == 0);
}

}  // namespace jobthrottle::test
