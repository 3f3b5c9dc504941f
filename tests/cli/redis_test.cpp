// SPDX-License-Identifier: MIT
// The same program on a Redis.
#include <csignal>
#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "support/cli.hpp"
#include "support/redis_server.hpp"

using namespace jobthrottle::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

ProgramOptions with_store(const Sandbox& sandbox, const std::string& url) {
    auto options = sandbox.options();
    options.env["JOBTHROTTLE_STORE"] = url;
    return options;
}

json inspect(const Sandbox& sandbox, const ProgramOptions& options) {
    return json::parse(sandbox.run({"inspect", "acme", "--json"}, options).out);
}

}  // namespace

TEST_CASE("redis: every command works on it as on the local store", "[cli]") {
    RedisServer redis;
    Sandbox sandbox;
    for (const auto& url : {redis.socket_url(), redis.tcp_url()}) {
        const auto options = with_store(sandbox, url);
        const auto code = [&](const Argv& words) {
            const ProgramResult result = sandbox.run(words, options);
            UNSCOPED_INFO(describe(result));
            return result.code;
        };
        CHECK(code({"register", "acme", "-r", "1/h"}) == 0);
        CHECK(code({"run", "-k", "acme", "--", "true"}) == 0);
        CHECK(code({"run", "-k", "acme", "-n", "--", "true"}) == 75);
        CHECK(code({"admit", "acme", "--peek"}) == 75);
        CHECK(code({"pause", "acme", "10m"}) == 0);
        CHECK(inspect(sandbox, options)["paused_by_hand"] == true);
        CHECK(code({"resume", "acme"}) == 0);
        CHECK(inspect(sandbox, options)["starts_in_window"] == 1);
        CHECK_THAT(sandbox.run({"keys"}, options).out, ContainsSubstring("acme"));
        CHECK(code({"unregister", "acme"}) == 0);
        CHECK(code({"forget", "acme"}) == 0);
        CHECK(code({"inspect", "acme"}) == 1);
    }
}

TEST_CASE("redis: a signal ends a wait, and the place is given back", "[cli]") {
    const auto gives_back = [] {  // it has 100 ms for it, which a loaded machine may not give it
        RedisServer redis;
        Sandbox sandbox;
        const auto options = with_store(sandbox, redis.socket_url());
        REQUIRE(sandbox.run({"admit", "acme", "-r", "1/h"}, options).code == 0);
        Program program = sandbox.start(
            {"run", "-k", "acme", "-r", "1/h", "-w", "forever", "--notice-after", "0", "--", "true"},
            options);
        program.wait_for_err("waiting for acme");
        CHECK(inspect(sandbox, options)["waiting"] == 1);
        program.kill(SIGTERM);
        CHECK(program.wait().code == 143);
        return inspect(sandbox, options)["waiting"] == 0;
    };
    CHECK((gives_back() || gives_back() || gives_back()));
}

TEST_CASE("redis: a server that answers nothing is away within the time-outs", "[cli]") {
    RedisServer redis;
    Sandbox sandbox;
    const auto options = with_store(sandbox, redis.socket_url());
    redis.freeze();
    const ProgramResult closed = sandbox.run({"run", "-k", "acme", "-r", "5/s", "--command-timeout", "200ms",
                                              "--on-store-error", "closed", "--", "touch", "ran"},
                                             options);
    INFO(describe(closed));
    CHECK(closed.code == 69);
    CHECK(closed.elapsed() < 20s);
    // A stop signal ends also a call that hangs.
    Program program = sandbox.start(
        {"run", "-k", "acme", "-r", "5/s", "-v", "--command-timeout", "10m", "--", "true"}, options);
    program.wait_for_err("jobthrottle: debug:");
    program.kill(SIGTERM);
    CHECK(program.wait().code == 143);
    redis.thaw();
}

TEST_CASE("redis: the password comes from the environment and is never shown", "[cli]") {
    RedisServer redis({"s3cret", {}});
    Sandbox sandbox;
    auto options = with_store(sandbox, redis.tcp_url());
    const Argv words = {"run", "-k", "acme", "-r", "5/s", "--", "true"};
    const ProgramResult without = sandbox.run(words, options);
    INFO(describe(without));
    CHECK(without.code == 69);
    options.env["JOBTHROTTLE_PASSWORD"] = "wrong-s3cret";
    const ProgramResult wrong = sandbox.run(words, options);
    INFO(describe(wrong));
    CHECK(wrong.code == 69);
    CHECK(wrong.err.find("s3cret") == std::string::npos);
    options.env["JOBTHROTTLE_PASSWORD"] = "s3cret";
    const ProgramResult right = sandbox.run(words, options);
    CHECK(right.code == 0);
    CHECK(right.err.empty());
}
