// SPDX-License-Identifier: MIT
// The commands about keys: admit, pause, resume, register, inspect, keys, forget.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "support/cli.hpp"

using namespace jobthrottle::test;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

json json_of(const ProgramResult& result) {
    INFO(describe(result));
    REQUIRE(json::accept(result.out));
    REQUIRE(result.out.back() == '\n');
    return json::parse(result.out);
}

json inspect(const Sandbox& sandbox, const char* key) {
    return json_of(sandbox.run({"inspect", key, "--json"}));
}

}  // namespace

TEST_CASE("keys: admit --no-wait exits 75 and prints the seconds", "[cli]") {
    Sandbox sandbox;
    const ProgramResult first = sandbox.run({"admit", "acme", "-r", "1/h", "-n"});
    CHECK(first.code == 0);
    CHECK(first.out.empty());
    const ProgramResult second = sandbox.run({"admit", "acme", "-r", "1/h", "-n"});
    INFO(describe(second));
    CHECK(second.code == 75);
    CHECK(second.err.empty());
    REQUIRE(second.out.size() > 5);
    CHECK(second.out[second.out.size() - 5] == '.');
    const double seconds = std::stod(second.out);
    CHECK(seconds <= 3600);
    CHECK(seconds > 3000);
    CHECK(inspect(sandbox, "acme")["waiting"] == 0);
    CHECK(sandbox.run({"admit", "acme", "-r", "1/h", "-n", "-E", "3"}).code == 3);
}

TEST_CASE("keys: admit says in JSON what it did", "[cli]") {
    Sandbox sandbox;
    const json yes = json_of(sandbox.run({"admit", "-k", "acme", "-r", "1/h", "--json"}));
    CHECK(yes["admitted"] == true);
    CHECK(yes["wait_ms"] == 0);
    const ProgramResult no = sandbox.run({"admit", "acme", "-r", "1/h", "-n", "--json"});
    CHECK(no.code == 75);
    CHECK(json_of(no)["admitted"] == false);
    CHECK(json_of(no)["wait_ms"] > 3'000'000);
}

TEST_CASE("keys: admit --peek takes nothing", "[cli]") {
    Sandbox sandbox;
    for (int i = 0; i < 3; ++i)
        CHECK(sandbox.run({"admit", "acme", "-r", "1/h", "--peek"}).code == 0);
    CHECK(sandbox.run({"admit", "acme", "-r", "1/h"}).code == 0);
    CHECK(sandbox.run({"admit", "acme", "-r", "1/h", "--peek"}).code == 75);
    CHECK(inspect(sandbox, "acme")["waiting"] == 0);
}

TEST_CASE("keys: a ticket keeps its place between calls", "[cli]") {
    Sandbox sandbox;
    CHECK(sandbox.run({"admit", "acme", "-r", "1/h"}).code == 0);
    const Argv ask = {"admit", "acme", "-r", "1/h", "-n", "-w", "forever", "--ticket", "deploy"};
    CHECK(sandbox.run(ask).code == 75);
    CHECK(sandbox.run(ask).code == 75);
    CHECK(inspect(sandbox, "acme")["waiting"] == 1);
    const ProgramResult behind = sandbox.run({"admit", "acme", "-r", "1/h", "-n", "--json"});
    CHECK(json_of(behind)["ahead"] == 1);
    CHECK(json_of(behind)["wait_ms"] > 3'600'000);
}

TEST_CASE("keys: pause holds a key, resume lets it go", "[cli]") {
    Sandbox sandbox;
    const ProgramResult paused = sandbox.run({"pause", "acme", "10m", "--reason", "why not"});
    CHECK(paused.code == 0);
    CHECK_THAT(paused.out, ContainsSubstring("acme is paused for "));
    CHECK(sandbox.run({"admit", "acme", "-r", "5/s", "-n"}).code == 75);
    const json state = inspect(sandbox, "acme");
    CHECK(state["paused_by_hand"] == true);
    CHECK(state["pause"]["reason"] == "why not");
    const ProgramResult shorter = sandbox.run({"pause", "acme", "1m"});
    CHECK(shorter.code == 0);
    CHECK_THAT(shorter.out, ContainsSubstring("stays paused"));
    CHECK_THAT(sandbox.run({"resume", "acme"}).out, ContainsSubstring("no longer paused"));
    CHECK_THAT(sandbox.run({"resume", "acme"}).out, ContainsSubstring("was not paused"));
    CHECK(sandbox.run({"admit", "acme", "-r", "5/s", "-n"}).code == 0);

    CHECK(sandbox.run({"pause", "acme", "forever"}).code == 0);
    const ProgramResult held = sandbox.run({"admit", "acme", "-r", "5/s", "-n"});
    CHECK(held.out == "inf\n");
    CHECK(inspect(sandbox, "acme")["paused_forever"] == true);
    CHECK(json_of(sandbox.run({"resume", "acme", "--json"}))["changed"] == true);
    CHECK(json_of(sandbox.run({"pause", "acme", "--retry-after", "120", "--json"}))["paused_for_ms"] <=
          120'000);
    CHECK(inspect(sandbox, "acme")["paused_by_hand"] == false);
}

TEST_CASE("keys: pause --until says what it understood, with its zone", "[cli]") {
    Sandbox sandbox;
    auto options = sandbox.options();
    options.env["TZ"] = "XYZ-5:30";  // east of Greenwich, whatever zones are installed
    const ProgramResult result = sandbox.run({"pause", "acme", "--until", "00:00"}, options);
    INFO(describe(result));
    CHECK(result.code == 0);
    CHECK_THAT(result.out, ContainsSubstring(" 00:00:00 +05:30"));
    CHECK(inspect(sandbox, "acme")["paused_for_ms"] <= 86'400'000);
}

TEST_CASE("keys: what is registered serves every job of the key", "[cli]") {
    Sandbox sandbox;
    const ProgramResult without = sandbox.run({"run", "-k", "acme", "--", "true"});
    CHECK(without.code == 78);
    CHECK_THAT(without.err, ContainsSubstring("no limit known for key 'acme'"));
    CHECK(sandbox.run({"register", "acme", "-r", "1/h"}).code == 0);
    CHECK(sandbox.run({"register", "acme", "-r", "1/h"}).code == 0);
    CHECK(sandbox.run({"run", "-k", "acme", "--", "true"}).code == 0);
    CHECK(sandbox.run({"run", "-k", "acme", "-n", "--", "true"}).code == 75);
    CHECK(sandbox.run({"run", "-k", "acme", "-n", "-r", "5/s", "--", "true"}).code == 75);
    CHECK(sandbox.run({"run", "-k", "acme", "-r", "5/s", "--override", "--", "true"}).code == 0);

    const ProgramResult other = sandbox.run({"register", "acme", "-r", "9/h"});
    CHECK(other.code == 78);
    CHECK_THAT(other.err, ContainsSubstring("--replace"));
    CHECK(inspect(sandbox, "acme")["limits"][0]["allow"] == 1);
    CHECK(sandbox.run({"register", "acme", "-r", "9/h", "--replace"}).code == 0);
    CHECK(inspect(sandbox, "acme")["limits"][0]["allow"] == 9);
    CHECK(inspect(sandbox, "acme")["limits"][0]["registered"] == true);

    const ProgramResult typo = sandbox.run({"run", "-k", "amce", "--", "true"});
    CHECK(typo.code == 78);
    CHECK_THAT(typo.err, ContainsSubstring("nearest: acme"));
    CHECK(sandbox.run({"unregister", "acme"}).code == 0);
    CHECK(sandbox.run({"run", "-k", "acme", "--", "true"}).code == 78);
    CHECK(sandbox.run({"run", "-k", "acme", "--pause-only", "--", "true"}).code == 0);
}

TEST_CASE("keys: a job without a limit is told what the key was last run with", "[cli]") {
    Sandbox sandbox;
    CHECK(sandbox.run({"run", "-k", "acme", "-r", "5/s", "--", "true"}).code == 0);
    for (int i = 0; i < 2; ++i) {
        const ProgramResult result = sandbox.run({"run", "-k", "acme", "--", "touch", "ran"});
        INFO(describe(result));
        CHECK(result.code == 78);
        CHECK_THAT(result.err, ContainsSubstring("was last run with 5/s"));
        CHECK_THAT(result.err, ContainsSubstring("jobthrottle register acme -r 5/s"));
        CHECK(result.err.find("nearest") == std::string::npos);
    }
}

TEST_CASE("keys: the nearest differ by case, by a slip, or by their end", "[cli]") {
    Sandbox sandbox;
    for (const char* key : {"acme", "github:actions", "zz"})
        CHECK(sandbox.run({"admit", "-r", "5/s", "-k", key}).code == 0);
    const auto nearest = [&](const char* key) {
        return json_of(sandbox.run({"inspect", "--json", "-k", key}))["nearest"];
    };
    for (const char* typed : {"ACME", "amce", "acme2", "amce2", "Acme-Production", "acm"}) {
        INFO(typed);
        CHECK(nearest(typed) == json::array({"acme"}));
    }
    CHECK(nearest("github") == json::array({"github:actions"}));
    for (const char* typed : {"ac", "zebra", "git", "other"}) {
        INFO(typed);
        CHECK(nearest(typed) == json::array());
    }
}

TEST_CASE("keys: register tells of jobs that bring more than it holds", "[cli]") {
    Sandbox sandbox;
    for (const char* key : {"acme", "same", "quiet"})
        CHECK(sandbox.run({"run", "-k", key, "-r", "5/s", "--", "true"}).code == 0);
    const ProgramResult other = sandbox.run({"register", "acme", "-r", "80/min"});
    INFO(describe(other));
    CHECK(other.code == 0);
    CHECK_THAT(other.err, ContainsSubstring("from now on a job that brings 5/s is held to 5/s and 80/min"));
    CHECK(sandbox.run({"run", "-k", "acme", "-r", "5/s", "--", "true"}).code == 0);
    CHECK(sandbox.run({"register", "same", "-r", "3/s"}).err.empty());
    CHECK(sandbox.run({"register", "new", "-r", "3/s"}).err.empty());
    CHECK(sandbox.run({"register", "quiet", "-r", "80/min", "-q"}).err.empty());
}

TEST_CASE("keys: a registration is a ceiling, and a looser number is named once", "[cli]") {
    Sandbox sandbox;
    const ProgramResult registering = sandbox.run({"register", "acme", "-r", "80000/min", "-j", "4"});
    CHECK(registering.out == "acme is registered at 80000/min, 4 at once\n");
    const ProgramResult looser = sandbox.run({"run", "-k", "acme", "-r", "90000/min", "--", "true"});
    INFO(describe(looser));
    CHECK(looser.code == 0);
    CHECK_THAT(looser.err, ContainsSubstring("held to that, not to its 90000/min (--override lets it)"));
    CHECK(sandbox.run({"run", "-k", "acme", "--", "true"}).err.empty());
    CHECK_THAT(sandbox.run({"inspect", "acme"}).out, ContainsSubstring("  at once   0 of 4\n"));
    CHECK_THAT(sandbox.run({"keys"}).out, ContainsSubstring("0 of 4"));
    const json state = inspect(sandbox, "acme");
    CHECK(state["concurrency"] == 4);
    CHECK(state["places"] == 0);
    CHECK_THAT(sandbox.run({"register", "acme", "-r", "80000/min", "-j", "5"}).err,
               ContainsSubstring("registered at 80000/min, 4 at once by") &&
                   ContainsSubstring("give --replace to register 80000/min, 5 at once instead"));
    CHECK_THAT(sandbox.run({"unregister", "acme"}).out,
               ContainsSubstring("it was at 80000/min, 4 at once by"));
}

TEST_CASE("keys: a job that could never start is wrong configuration", "[cli]") {
    Sandbox sandbox;
    CHECK(sandbox.run({"register", "acme", "-r", "5/min", "-r", "9/s", "-r", "90/h"}).code == 0);
    const ProgramResult costly = sandbox.run({"run", "-k", "acme", "--cost", "6", "--", "touch", "ran"});
    INFO(describe(costly));
    CHECK(costly.code == 78);
    CHECK_THAT(costly.err, ContainsSubstring("acme: a job of --cost 6 could never start under "));
    const ProgramResult many =
        sandbox.run({"run", "-k", "acme", "-r", "7/d", "-r", "8/2d", "--", "touch", "ran"});
    INFO(describe(many));
    CHECK(many.code == 78);
    CHECK_THAT(many.err, ContainsSubstring("more than four limits"));
    CHECK(sandbox.run({"admit", "acme", "-r", "7/d", "-r", "8/2d"}).code == 78);
    CHECK_FALSE(std::filesystem::exists(sandbox.file("ran")));
}

TEST_CASE("keys: with a pause alone no limit is said to be known", "[cli]") {
    Sandbox sandbox;
    CHECK(sandbox.run({"pause", "acme", "1h"}).code == 0);
    CHECK_THAT(sandbox.run({"inspect", "acme"}).out, ContainsSubstring("no limit is known now"));
}

TEST_CASE("keys: inspect --all shows everybody", "[cli]") {
    Sandbox sandbox;
    CHECK(sandbox.run({"admit", "acme", "-r", "1/h"}).code == 0);
    for (int i = 0; i < 14; ++i) {
        const std::string name = "job-" + std::to_string(i);
        CHECK(
            sandbox
                .run({"admit", "acme", "-r", "1/h", "-n", "-w", "forever", "--ticket", name, "--name", name})
                .code == 75);
    }
    const std::string some = sandbox.run({"inspect", "acme"}).out;
    CHECK_THAT(some, ContainsSubstring("... 4 more (inspect --all)"));
    CHECK(some.find("job-11") == std::string::npos);
    const std::string all = sandbox.run({"inspect", "acme", "--all"}).out;
    CHECK_THAT(all, ContainsSubstring("job-11"));
    CHECK(all.find("more") == std::string::npos);
}

TEST_CASE("keys: inspect of a key that is not known names the nearest and exits 1", "[cli]") {
    Sandbox sandbox;
    CHECK(sandbox.run({"admit", "acme", "-r", "5/s"}).code == 0);
    const ProgramResult text = sandbox.run({"inspect", "amce"});
    CHECK(text.code == 1);
    CHECK_THAT(text.out, ContainsSubstring("acme"));
    const ProgramResult object = sandbox.run({"inspect", "amce", "--json"});
    CHECK(object.code == 1);
    CHECK(json_of(object)["known"] == false);
    CHECK(json_of(object)["nearest"] == json::array({"acme"}));
    const json known = inspect(sandbox, "acme");
    for (const char* member : {"key", "store", "limits", "starts_in_window", "remaining", "limited",
                               "available_in_ms", "paused_for_ms", "waiting"}) {
        INFO(member);
        CHECK(known.contains(member));
    }
    CHECK(known["starts_in_window"] == 1);
    CHECK(known["limits"][0]["allow"] == 5);
    CHECK(known["limits"][0]["every_ms"] == 1000);
}

TEST_CASE("keys: keys lists what is known, by pattern", "[cli]") {
    Sandbox sandbox;
    CHECK(sandbox.run({"keys"}).out.empty());
    CHECK(json_of(sandbox.run({"keys", "--json"})) == json::array());
    for (const char* key : {"aws:ec2", "aws:s3", "github", "-odd"})
        CHECK(sandbox.run({"admit", "-r", "5/s", "-k", key}).code == 0);
    CHECK(json_of(sandbox.run({"keys", "--json"})).size() == 4);
    CHECK(json_of(sandbox.run({"keys", "aws:*", "--json"})).size() == 2);
    const ProgramResult text = sandbox.run({"keys"});
    CHECK(text.code == 0);
    CHECK_THAT(text.out, ContainsSubstring("github"));
    CHECK_THAT(text.out, ContainsSubstring("-odd"));
}

TEST_CASE("keys: forget leaves a key alone while a job waits", "[cli]") {
    Sandbox sandbox;
    CHECK(sandbox.run({"register", "acme", "-r", "1/h"}).code == 0);
    CHECK(sandbox.run({"admit", "acme"}).code == 0);
    CHECK(sandbox.run({"admit", "acme", "-n", "-w", "forever", "--ticket", "t", "--name", "nightly"}).code ==
          75);
    const ProgramResult kept = sandbox.run({"forget", "acme"});
    INFO(describe(kept));
    CHECK(kept.code == 1);
    CHECK_THAT(kept.err, ContainsSubstring("--force"));
    CHECK_THAT(kept.err, ContainsSubstring("nightly"));
    CHECK(kept.out.empty());
    CHECK(inspect(sandbox, "acme")["waiting"] == 1);
    CHECK(sandbox.run({"forget", "acme", "--force"}).code == 0);
    CHECK(inspect(sandbox, "acme")["waiting"] == 0);
    CHECK(inspect(sandbox, "acme")["limits"].size() == 1);
    CHECK(sandbox.run({"admit", "acme", "-n"}).code == 0);
    CHECK(sandbox.run({"forget", "never-seen"}).code == 0);
}

TEST_CASE("keys: strange keys are one key each, everywhere", "[cli]") {
    Sandbox sandbox;
    for (const std::string& key : {std::string("a b"), std::string("{x}"), std::string("l1\nl2"),
                                   std::string("\xff\xfe"), std::string(480, 'k'), std::string("'\"$*?[]")}) {
        CHECK(sandbox.run({"admit", "-k", key, "-r", "1/h", "-n"}).code == 0);
        CHECK(sandbox.run({"admit", "-k", key, "-r", "1/h", "-n"}).code == 75);
        const ProgramResult text = sandbox.run({"inspect", "-k", key});
        CHECK(text.code == 0);
        CHECK(json_of(sandbox.run({"inspect", "-k", key, "--json"}))["known"] == true);
    }
    CHECK(json_of(sandbox.run({"keys", "--json"})).size() == 6);
}
