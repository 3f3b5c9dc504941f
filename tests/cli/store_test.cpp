// SPDX-License-Identifier: MIT
// Which store, and what happens when it is away.
#include <filesystem>

#include "support/catch.hpp"
#include "support/cli.hpp"

using namespace jobthrottle::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

ProgramOptions without_store(const Sandbox& sandbox) {
    auto options = sandbox.options();
    options.env.erase("JOBTHROTTLE_STORE");
    options.env["XDG_STATE_HOME"] = sandbox.file("state");
    return options;
}

// Nobody listens there.
std::string dead_store(const Sandbox& sandbox) {
    return "unix://" + sandbox.file("nobody.sock");
}

const Argv k_touch = {"--", "touch", "ran"};

Argv run_words(Argv options, const Argv& command = k_touch) {
    options.insert(options.begin(), {"run", "-k", "jobthrottle-test", "-r", "1000/s"});
    options.insert(options.end(), command.begin(), command.end());
    return options;
}

bool was_run(const Sandbox& sandbox) {
    return std::filesystem::exists(sandbox.file("ran"));
}

}  // namespace

TEST_CASE("store: in CI one line says that only this machine is throttled", "[cli]") {
    Sandbox sandbox;
    auto options = without_store(sandbox);
    CHECK(sandbox.run(run_words({}), options).err.empty());
    options.env["CI"] = "true";
    const ProgramResult result = sandbox.run(run_words({}), options);
    INFO(describe(result));
    CHECK(result.code == 0);
    CHECK(count_of(result.err, "\n") == 1);
    CHECK_THAT(result.err, ContainsSubstring("this machine alone"));
    CHECK(sandbox.run(run_words({"-q"}), options).err.empty());
    CHECK(sandbox.run({"keys"}, options).err.empty());
    CHECK(sandbox.run(run_words({"--store", sandbox.store_url()}), options).err.empty());
    options.env["JOBTHROTTLE_STORE"] = sandbox.store_url();
    CHECK(sandbox.run(run_words({}), options).err.empty());
}

TEST_CASE("store: an empty JOBTHROTTLE_STORE never unthrottles", "[cli]") {
    Sandbox sandbox;
    auto options = sandbox.options();
    options.env["JOBTHROTTLE_STORE"] = "";
    for (const Argv& words : {run_words({}), run_words({"--store", sandbox.store_url()}), Argv{"keys"}}) {
        const ProgramResult result = sandbox.run(words, options);
        CHECK(result.code == 78);
        CHECK_THAT(result.err, ContainsSubstring("JOBTHROTTLE_STORE is set but empty"));
    }
    CHECK_FALSE(was_run(sandbox));
}

TEST_CASE("store: prefixes keep applications apart", "[cli]") {
    Sandbox sandbox;
    CHECK(sandbox.run({"admit", "a", "-r", "1/h", "-n"}).code == 0);
    CHECK(sandbox.run({"admit", "a", "-r", "1/h", "-n", "--prefix", "other"}).code == 0);
    CHECK(sandbox.run({"admit", "a", "-r", "1/h", "-n", "--prefix", "other"}).code == 75);
    CHECK(sandbox.run({"admit", "a", "-r", "1/h", "-n"}).code == 75);
}

TEST_CASE("store: when it is away the policy decides, and says so once", "[cli]") {
    Sandbox sandbox;
    const auto options = without_store(sandbox);
    const auto run_with = [&](const char* policy) {
        std::filesystem::remove(sandbox.file("ran"));
        return sandbox.run(run_words({"--store", dead_store(sandbox), "--on-store-error", policy}), options);
    };
    for (const char* policy : {"auto", "local"}) {
        const ProgramResult local = run_with(policy);
        INFO(describe(local));
        CHECK(local.code == 0);
        CHECK(was_run(sandbox));
        CHECK(count_of(local.err, "\n") == 1);
        CHECK_THAT(local.err, ContainsSubstring("nobody.sock is away"));
        CHECK_THAT(local.err, ContainsSubstring("this machine only"));
    }
    const ProgramResult open = run_with("open");
    INFO(describe(open));
    CHECK(open.code == 0);
    CHECK(was_run(sandbox));
    CHECK(count_of(open.err, "\n") == 1);

    const ProgramResult closed = run_with("closed");
    INFO(describe(closed));
    CHECK(closed.code == 69);
    CHECK_FALSE(was_run(sandbox));
    CHECK(count_of(closed.err, "\n") == 1);
    CHECK(closed.elapsed() < 20s);
}

TEST_CASE("store: the local one really throttles while the other is away", "[cli]") {
    Sandbox sandbox;
    const auto options = without_store(sandbox);
    const Argv once = {"admit",   "jobthrottle-test-away", "-r", "1/h", "-n", "-q",
                       "--store", dead_store(sandbox)};
    (void)sandbox.run({"forget", "jobthrottle-test-away", "--store", "local:"}, options);
    CHECK(sandbox.run(once, options).code == 0);
    CHECK(sandbox.run(once, options).code == 75);
}

TEST_CASE("store: commands that need it exit 69 when it is away", "[cli]") {
    Sandbox sandbox;
    for (const Argv& words : std::initializer_list<Argv>{{"inspect", "a"},
                                                         {"keys"},
                                                         {"pause", "a", "1m"},
                                                         {"resume", "a"},
                                                         {"register", "a", "-r", "1/s"},
                                                         {"unregister", "a"},
                                                         {"forget", "a"}}) {
        Argv with_store = words;
        with_store.insert(with_store.end(), {"--store", dead_store(sandbox)});
        const ProgramResult result = sandbox.run(with_store);
        INFO(describe(result));
        CHECK(result.code == 69);
        CHECK(result.out.empty());
        CHECK_THAT(result.err, ContainsSubstring("nobody.sock is away"));
    }
}

TEST_CASE("store: a folder that cannot be made ends with 69, and nothing is run", "[cli]") {
    Sandbox sandbox;
    for (const Argv& words : {run_words({"--store", "local:/dev/null/x"}),
                              Argv{"admit", "a", "-r", "1/s", "--store", "local:/dev/null/x"}}) {
        const ProgramResult result = sandbox.run(words);
        INFO(describe(result));
        CHECK(result.code == 69);
        CHECK_THAT(result.err, ContainsSubstring("Nothing was run."));
    }
    CHECK_FALSE(was_run(sandbox));
}

TEST_CASE("store: to look makes no folder", "[cli]") {
    Sandbox sandbox;
    auto options = without_store(sandbox);
    options.env["XDG_STATE_HOME"] = sandbox.file("no/such");
    options.env["HOME"] = sandbox.file("no/home");
    const std::string store = "local:" + sandbox.file("no/store");
    CHECK(sandbox.run({"keys", "--store", store}, options).code == 0);
    CHECK(sandbox.run({"keys"}, options).code == 0);
    const ProgramResult unknown = sandbox.run({"inspect", "jobthrottle-test-none"}, options);
    CHECK(unknown.code == 1);
    CHECK_THAT(unknown.out, ContainsSubstring("is not known"));
    CHECK_FALSE(std::filesystem::exists(sandbox.file("no")));
}

TEST_CASE("store: a password in --store is warned about, never shown and never passed on", "[cli]") {
    Sandbox sandbox;
    const std::string url = "unix://user:s3cret@" + sandbox.file("nobody.sock");
    const ProgramResult result =
        sandbox.run(run_words({"--store", url, "--on-store-error", "open"}, {"--", "env"}));
    INFO(describe(result));
    CHECK(result.code == 0);
    CHECK(count_of(result.err, "a password in --store") == 1);
    CHECK(result.err.find("s3cret") == std::string::npos);
    CHECK(result.out.find("s3cret") == std::string::npos);
    CHECK_THAT(result.out,
               ContainsSubstring("JOBTHROTTLE_STORE=unix://user@" + sandbox.file("nobody.sock") + "\n"));

    auto options = sandbox.options();
    options.env["JOBTHROTTLE_STORE"] = url;
    const ProgramResult from_environment =
        sandbox.run(run_words({"--on-store-error", "open"}, {"--", "env"}), options);
    CHECK(from_environment.err.find("s3cret") == std::string::npos);
    CHECK(count_of(from_environment.err, "a password in --store") == 0);
    CHECK_THAT(from_environment.out, ContainsSubstring("JOBTHROTTLE_STORE=" + url + "\n"));
}

TEST_CASE("store: a result that cannot be written is an error of ours", "[cli]") {
    Sandbox sandbox;
    const std::string full = "exec \"$1\" --version > /dev/full";
    const ProgramResult result = run_program({"sh", "-c", full, "sh", program_path()}, sandbox.options());
    CHECK(result.code == 125);
    CHECK_THAT(result.err, ContainsSubstring("cannot write to standard output"));
}
