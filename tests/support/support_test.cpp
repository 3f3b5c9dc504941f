// SPDX-License-Identifier: MIT
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "support/catch.hpp"
#include "support/http_server.hpp"
#include "support/nginx.hpp"
#include "support/pool.hpp"
#include "support/redis_server.hpp"
#include "support/run_program.hpp"
#include "support/spawn.hpp"
#include "support/temp_dir.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

ProgramOptions with_input(std::string input, Input from = Input::pipe) {
    ProgramOptions options;
    options.input_from = from;
    options.input = std::move(input);
    return options;
}

Argv shell(const std::string& script) {
    return {"sh", "-c", script};
}

}  // namespace

TEST_CASE("support: a temporary folder goes with all that is in it", "[unit]") {
    std::string path;
    {
        const TempDir dir;
        path = dir.path();
        std::filesystem::create_directories(dir.file("a/b"));
        write_file(dir.file("a/b/c"), "text");
        CHECK(read_file(dir.file("a/b/c")) == "text");
        REQUIRE(chmod(dir.file("a/b").c_str(), 0) == 0);
    }
    CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("support: a program's outputs and end are told apart", "[unit]") {
    const ProgramResult result = run_program(shell("echo out; echo err >&2; exit 3"));
    CHECK(result.out == "out\n");
    CHECK(result.err == "err\n");
    CHECK(result.code == 3);
    CHECK(result.status() == 3);

    const ProgramResult killed = run_program(shell("kill -TERM $$"));
    CHECK(killed.code == -1);
    CHECK(killed.signal == SIGTERM);
    CHECK(killed.status() == 143);

    CHECK_THROWS_WITH(run_program({"/nonexistent/program"}),
                      Catch::Matchers::ContainsSubstring("cannot execute /nonexistent/program"));
}

TEST_CASE("support: a program has a clean environment", "[unit]") {
    setenv("JOBTHROTTLE_STORE", "local:/elsewhere", 1);
    ProgramOptions options;
    options.env = {{"GIVEN", "yes"}};
    const ProgramResult result = run_program({"env"}, options);
    unsetenv("JOBTHROTTLE_STORE");
    CHECK_THAT(result.out, Catch::Matchers::ContainsSubstring("GIVEN=yes\n"));
    CHECK_THAT(result.out, Catch::Matchers::ContainsSubstring("HOME=/nonexistent\n"));
    CHECK_THAT(result.out, !Catch::Matchers::ContainsSubstring("JOBTHROTTLE_STORE"));
    CHECK_THAT(result.out, !Catch::Matchers::ContainsSubstring("CI="));
}

TEST_CASE("support: a program has no descriptors but its three and those to keep", "[unit]") {
    const TempDir dir;
    write_file(dir.file("f"), "kept");
    const Pipe pipe = make_pipe();
    const Fd leaky(dup(pipe.read_end.get()));
    ProgramOptions options;
    CHECK(run_program(shell("ls /proc/self/fd | wc -l"), options).out == "4\n");  // and the folder itself
    options.keep_fds = {pipe.read_end.get()};
    CHECK(run_program(shell("ls /proc/self/fd | wc -l"), options).out == "5\n");
    options = {};
    options.input_from = Input::closed;
    CHECK(run_program(shell("test -e /proc/self/fd/0 || echo none"), options).out == "none\n");
}

TEST_CASE("support: standard input is what a test says", "[unit]") {
    const std::string big(1 << 20, 'x');
    CHECK(run_program({"cat"}, with_input(big)).out == big);
    CHECK(run_program({"cat"}).out.empty());
    // A reader that does not read is no trouble.
    CHECK(run_program({"true"}, with_input(big)).code == 0);

    const TempDir dir;
    write_file(dir.file("in"), "from a file");
    CHECK(run_program({"cat"}, with_input(dir.file("in"), Input::file)).out == "from a file");

    Program cat({"cat"}, with_input("", Input::open));
    cat.send("one\n");
    CHECK(cat.read_line() == "one");
    cat.send("two\n");
    CHECK(cat.read_line() == "two");
    cat.close_input();
    CHECK(cat.wait().code == 0);
}

TEST_CASE("support: a program that hangs is killed with its group and fails the test", "[unit]") {
    ProgramOptions options;
    options.timeout = 200ms;
    Program program(shell("echo $$; sleep 1000 & wait"), options);
    CHECK_THROWS_WITH(program.wait(), Catch::Matchers::ContainsSubstring("has not ended in time"));
}

TEST_CASE("support: who holds the pipe of a program does not hold its wait", "[unit]") {
    Program program(shell("sleep 1000 & echo done"));
    CHECK(program.wait().out == "done\n");
}

TEST_CASE("support: lines come as they are written, and their absence is an error", "[unit]") {
    Program program(shell("echo a; echo b; echo c >&2; printf half"));
    CHECK(program.read_line() == "a");
    CHECK(program.read_line() == "b");
    CHECK_THROWS_WITH(program.read_line(), Catch::Matchers::ContainsSubstring("before a line was complete"));

    Program loud(shell("echo ready >&2; exec sleep 1000"));
    loud.wait_for_err("ready");
    loud.kill(SIGTERM);
    CHECK(loud.wait().signal == SIGTERM);
}

TEST_CASE("support: a pool runs all commands and no more at once than it may", "[unit]") {
    const TempDir dir;
    std::vector<Argv> commands;
    for (int i = 0; i < 8; ++i) {
        commands.push_back(shell("echo s >> " + dir.file("log") + "; sleep 0.02; echo e >> " +
                                 dir.file("log") + "; exit " + std::to_string(i)));
    }
    const PoolResult pool = run_pool(commands, 3);
    REQUIRE(pool.results.size() == 8);
    for (int i = 0; i < 8; ++i)
        CHECK(pool.results.at(static_cast<std::size_t>(i)).code == i);
    CHECK(pool.count_with_code(0) == 1);
    int running = 0;
    int most = 0;
    for (const char c : read_file(dir.file("log"))) {
        if (c != '\n') running += c == 's' ? 1 : -1;
        most = std::max(most, running);
    }
    CHECK(running == 0);
    CHECK(most <= 3);
}

TEST_CASE("support: a Redis starts, counts, restarts with and without its data, and freezes", "[unit]") {
    RedisServer redis;
    CHECK(redis.cli({"SET", "k", "v w"}) == "OK");
    CHECK(redis.cli({"GET", "k"}) == "v w");
    CHECK(redis.cli({"GET", "none"}) == "(nil)");
    CHECK(redis.cli({"EVAL", "return {1, 'two'}", "0"}) == "1\ntwo");
    CHECK_THAT(redis.cli({"LPUSH", "k", "x"}), Catch::Matchers::StartsWith("(error) WRONGTYPE"));
    CHECK(redis.script_calls() == 1);
    redis.reset_stats();
    CHECK(redis.script_calls() == 0);
    CHECK(redis.commands_processed() > 0);

    redis.restart(RedisServer::Data::kept);
    CHECK(redis.cli({"GET", "k"}) == "v w");
    redis.restart();
    CHECK(redis.cli({"GET", "k"}) == "(nil)");

    const Fd connection = connect_to_port(redis.port());
    REQUIRE(connection);
    redis.freeze();
    REQUIRE(send_all(connection, "PING\r\n"));
    pollfd answer{connection.get(), POLLIN, 0};
    CHECK(poll(&answer, 1, 50) == 0);
    redis.thaw();
    CHECK(receive_some(connection) == "+PONG\r\n");

    redis.stop();
    CHECK_THROWS(redis.cli({"PING"}));
}

TEST_CASE("support: a Redis may ask for a password", "[unit]") {
    RedisOptions options;
    options.password = "secret";
    RedisServer redis(options);
    CHECK(redis.cli({"PING"}) == "PONG");
    const Fd connection = connect_to_socket(redis.socket_path());
    REQUIRE(send_all(connection, "PING\r\n"));
    CHECK_THAT(receive_some(connection), Catch::Matchers::StartsWith("-NOAUTH"));
}

TEST_CASE("support: several Redis servers at once do not meet", "[unit]") {
    RedisServer a;
    RedisServer b;
    CHECK(a.port() != b.port());
    a.cli({"SET", "k", "a"});
    CHECK(b.cli({"GET", "k"}) == "(nil)");
}

TEST_CASE("support: nginx refuses what comes too fast", "[unit]") {
    const NginxLimiter nginx(1);
    const Argv curl = {"curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", nginx.url()};
    const PoolResult pool = run_many(curl, 12, 12);
    CHECK(pool.count_with_code(0) == 12);
    const auto answers = nginx.answers(12);
    REQUIRE(answers.size() == 12);
    CHECK(count_of(answers, 200) + count_of(answers, 429) == 12);
    CHECK(count_of(answers, 200) >= 2);
    const Duration span = answers.back().at - answers.front().at;
    // Two at once and then one a second; with room for answers that are logged late.
    CHECK(static_cast<std::int64_t>(count_of(answers, 200)) <= 2 + span / 1s + 3);
}

TEST_CASE("support: a scripted server answers as told and keeps what it saw", "[unit]") {
    const HttpServer server([](const HttpRequest& request) {
        HttpAnswer answer;
        if (request.number == 2) {
            answer.status = 429;
            answer.headers = {"Retry-After: 3"};
            answer.body = "slow down\n";
        }
        return answer;
    });
    CHECK(run_program({"curl", "-s", server.url()}).out == "ok\n");
    const ProgramResult refused = run_program({"curl", "-si", server.url("/path?x=1")});
    CHECK_THAT(refused.out, Catch::Matchers::StartsWith("HTTP/1.1 429 "));
    CHECK_THAT(refused.out, Catch::Matchers::ContainsSubstring("\r\nRetry-After: 3\r\n"));
    CHECK_THAT(refused.out, Catch::Matchers::EndsWith("\r\n\r\nslow down\n"));
    const PoolResult pool = run_many({"curl", "-s", server.url()}, 20, 20);
    CHECK(pool.count_with_code(0) == 20);

    const auto records = server.records();
    REQUIRE(records.size() == 22);
    CHECK(records[1].request.path == "/path?x=1");
    CHECK(records[1].request.method == "GET");
    CHECK(records[1].answer.status == 429);
    CHECK(records[2].request.at >= records[1].request.at);
}
