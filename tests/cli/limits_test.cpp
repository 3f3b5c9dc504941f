// SPDX-License-Identifier: MIT
// Several limits on a key, several keys of a job, costs, and counting successes.
#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "support/cli.hpp"
#include "support/net.hpp"
#include "support/redis_server.hpp"

using namespace jobthrottle::test;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

json inspect(const Sandbox& sandbox, const char* key, const ProgramOptions& options) {
    const ProgramResult result = sandbox.run({"inspect", key, "--json"}, options);
    INFO(describe(result));
    REQUIRE(json::accept(result.out));
    return json::parse(result.out);
}
json inspect(const Sandbox& sandbox, const char* key) {
    return inspect(sandbox, key, sandbox.options());
}

// 0 where the key is forgotten already, for nothing is left of it.
std::int64_t number(const json& state, const char* member) {
    return state.value(member, std::int64_t{0});
}

template <typename Test>
void on_each_store(Test test) {
    Sandbox sandbox;
    test(sandbox, sandbox.options());
    RedisServer redis;
    Sandbox other;
    auto options = other.options();
    options.env["JOBTHROTTLE_STORE"] = redis.socket_url();
    test(other, options);
}

}  // namespace

TEST_CASE("limits: a job starts when all limits of its key let it", "[cli]") {
    on_each_store([](const Sandbox& sandbox, const ProgramOptions& options) {
        const Argv ask = {"admit", "acme", "-r", "1000/s", "-r", "2/d", "-n"};
        CHECK(sandbox.run(ask, options).code == 0);
        CHECK(sandbox.run({"admit", "acme", "-r", "1000/s", "-r", "2/d"}, options).code == 0);
        CHECK(sandbox.run(ask, options).code == 75);
        const json state = inspect(sandbox, "acme", options);
        REQUIRE(state["limits"].size() == 2);
        CHECK(state["limits"][0]["allow"] == 1000);
        CHECK(state["limits"][1]["starts"] == 2);
        CHECK(state["remaining"] == 0);
        CHECK_THAT(sandbox.run({"inspect", "acme"}, options).out,
                   ContainsSubstring("  rate      1000/s, one every 1 ms\n") &&
                       ContainsSubstring("  and       2/d\n  window    2 of 2 in 1d"));
        CHECK_THAT(sandbox.run({"keys"}, options).out, ContainsSubstring("1000/s and 2/d  2 of 2"));
    });
}

TEST_CASE("limits: a job starts when all of its keys let it, and none loses a slot", "[cli]") {
    on_each_store([](const Sandbox& sandbox, const ProgramOptions& options) {
        const Argv words = {"run", "-k", "a",    "-r", "1/d", "-k", "b", "-r", "100/d,burst=100",
                            "-n",  "--", "echo", "ran"};
        CHECK(sandbox.run(words, options).out == "ran\n");
        const ProgramResult held = sandbox.run(words, options);
        INFO(describe(held));
        CHECK(held.code == 75);
        CHECK_THAT(held.err, ContainsSubstring("a is busy: ") && ContainsSubstring("key=a"));
        CHECK(held.out.empty());
        CHECK(inspect(sandbox, "a", options)["starts_in_window"] == 1);
        CHECK(inspect(sandbox, "b", options)["starts_in_window"] == 1);
    });
}

TEST_CASE("limits: one token serves all keys", "[cli]") {
    on_each_store([](const Sandbox& sandbox, const ProgramOptions& options) {
        const Argv words = {"admit", "-k", "a", "-j", "1", "-k", "b", "-j", "1", "-n"};
        const std::string token = sandbox.run(words, options).out.substr(0, 16);
        CHECK(sandbox.run(words, options).code == 75);
        CHECK(sandbox.run({"release", "a", token}, options).code == 0);
        CHECK(sandbox.run(words, options).code == 75);
        CHECK(number(inspect(sandbox, "a", options), "places") == 0);
        CHECK(sandbox.run({"release", "b", token}, options).code == 0);
        CHECK(sandbox.run(words, options).code == 0);
    });
}

TEST_CASE("limits: a refusal pauses the first of several keys, or the one that --pause-key names", "[cli]") {
    Sandbox sandbox;
    const auto refused = [&](const Argv& more) {
        Argv words = {"run", "-k", "a", "-r", "100/s", "-k", "b", "-r", "100/s", "--rerun", "never"};
        words.insert(words.end(), more.begin(), more.end());
        words.insert(words.end(), {"--", "sh", "-c", "echo 'Retry-After: 60'; exit 1"});
        return sandbox.run(words);
    };
    CHECK(refused({"--pause-key", "b"}).code == 75);
    CHECK(number(inspect(sandbox, "a"), "paused_for_ms") == 0);
    CHECK(number(inspect(sandbox, "b"), "paused_for_ms") > 0);
    CHECK(sandbox.run({"resume", "b"}).code == 0);
    const ProgramResult first = refused({});
    INFO(describe(first));
    CHECK(first.code == 75);
    CHECK(number(inspect(sandbox, "a"), "paused_for_ms") > 0);
    CHECK(number(inspect(sandbox, "b"), "paused_for_ms") == 0);
}

TEST_CASE("limits: a costly job counts as what it costs, and the command may settle that", "[cli]") {
    on_each_store([](const Sandbox& sandbox, const ProgramOptions& options) {
        const auto settled_by = [&](const char* key, const Argv& command) {
            Argv words = {"run", "-k", "first",           "-r",     "100/s", "-k",
                          key,   "-r", "100/d,burst=100", "--cost", "40",    "--"};
            words.insert(words.end(), command.begin(), command.end());
            return sandbox.run(words, options);
        };
        const std::string program = program_path();
        CHECK(settled_by("guess", {"true"}).code == 0);
        CHECK(inspect(sandbox, "guess", options)["starts_in_window"] == 40);
        for (const char* cost : {"3", "0", "70"}) {
            const std::string key = std::string("cost-") + cost;
            const ProgramResult settled = settled_by(key.c_str(), {program, "settle", cost});
            INFO(describe(settled));
            CHECK(settled.code == 0);
            CHECK((settled.out + settled.err).empty());
            CHECK(inspect(sandbox, key.c_str(), options)["starts_in_window"] == std::stoi(cost));
        }
        const ProgramResult none = settled_by("other", {program, "settle", "3", "-k", "first"});
        INFO(describe(none));
        CHECK(none.code == 75);
        CHECK_THAT(none.err, ContainsSubstring("first: not settled: this attempt was run without --cost"));
    });
}

TEST_CASE("limits: settle finds the key under the prefix of its run", "[cli]") {
    Sandbox sandbox;
    CHECK(sandbox
              .run({"run", "--prefix", "billing", "-k", "a", "-r", "100/d,burst=100", "--cost", "40", "--",
                    program_path(), "settle", "7"})
              .code == 0);
    auto options = sandbox.options();
    options.env["JOBTHROTTLE_PREFIX"] = "billing";
    CHECK(inspect(sandbox, "a", options)["starts_in_window"] == 7);
}

TEST_CASE("limits: where successes are counted a failed attempt is given back", "[cli]") {
    on_each_store([](const Sandbox& sandbox, const ProgramOptions& options) {
        const auto attempt = [&](const char* command) {
            return sandbox
                .run({"run", "-k", "s", "-r", "1/d", "--count", "successes", "-n", "--", command}, options)
                .code;
        };
        CHECK(attempt("false") == 1);
        CHECK(attempt("false") == 1);
        CHECK(attempt("true") == 0);
        CHECK(attempt("true") == 75);
        const Argv admit = {"admit", "t", "-r", "1/d", "--count", "successes", "-n"};
        const std::string token = sandbox.run(admit, options).out.substr(0, 16);
        CHECK(sandbox.run(admit, options).code == 75);
        CHECK(sandbox.run({"release", "t", token, "--failed"}, options).code == 0);
        CHECK(sandbox.run(admit, options).code == 0);
    });
}

TEST_CASE("limits: a mutex does not open when its store is away, a rate goes on here", "[cli]") {
    Sandbox sandbox;
    auto options = sandbox.options();
    options.env["JOBTHROTTLE_STORE"] = "redis://127.0.0.1:" + std::to_string(spare_port());
    const ProgramResult closed = sandbox.run({"run", "-k", "a", "-j", "1", "--", "touch", "ran"}, options);
    INFO(describe(closed));
    CHECK(closed.code == 69);
    const ProgramResult local = sandbox.run({"run", "-k", "a", "-r", "5/s", "--", "true"}, options);
    INFO(describe(local));
    CHECK(local.code == 0);
    CHECK_THAT(local.err, ContainsSubstring("policy=local"));
}
