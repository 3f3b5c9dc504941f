// SPDX-License-Identifier: MIT
// What is typed wrong ends with one line that names it and shows a right one, and nothing is run.
#include <filesystem>

#include "support/catch.hpp"
#include "support/cli.hpp"

using namespace jobthrottle::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

struct Row {
    Argv words;         // before the --
    std::string names;  // what the line has to name
    bool has_example = true;
};

// The command would make this file.
bool was_run(const Sandbox& sandbox) {
    return std::filesystem::exists(sandbox.file("ran"));
}
bool touched_the_store(const Sandbox& sandbox) {
    return std::filesystem::exists(sandbox.file("store"));
}

void check_one_line(const ProgramResult& result) {
    INFO(describe(result));
    CHECK(result.out.empty());
    CHECK_THAT(result.err, StartsWith("jobthrottle: "));
    CHECK(result.err.find('\n') == result.err.size() - 1);
}

void check_run_refuses(const Row& row) {
    Sandbox sandbox;
    Argv words = {"run"};
    words.insert(words.end(), row.words.begin(), row.words.end());
    words.insert(words.end(), {"--", "touch", "ran"});
    const ProgramResult result = sandbox.run(words);
    check_one_line(result);
    INFO(describe(result));
    CHECK(result.code == 64);
    CHECK_THAT(result.err, ContainsSubstring(row.names));
    if (row.has_example) CHECK_THAT(result.err, ContainsSubstring("for example"));
    CHECK_FALSE(was_run(sandbox));
    CHECK_FALSE(touched_the_store(sandbox));
}

Row with_key(const Argv& words, const std::string& names) {
    Row row{{"-k", "a"}, names, true};
    row.words.insert(row.words.end(), words.begin(), words.end());
    return row;
}

}  // namespace

TEST_CASE("bad input: a malformed rate", "[cli]") {
    for (const char* rate : {"",
                             "8",
                             "/s",
                             "8/",
                             "8/sec/min",
                             "-8/s",
                             "+8/s",
                             "8.5/s",
                             "0/s",
                             "8/fortnight",
                             "8/0s",
                             "8/-1s",
                             "8/400d",
                             "1000001/s",
                             "99999999999999999999/s",
                             "8/s,burst=9",
                             "8/s,burst=0",
                             "8/s,burst",
                             "8/s,brust=2",
                             " 8/s",
                             "8/s ",
                             "8\n/s",
                             "\x1b[31m8/s",
                             "NaN/s"}) {
        check_run_refuses(with_key({"-r", rate}, "--rate '"));
    }
}

TEST_CASE("bad input: a malformed duration or number", "[cli]") {
    for (const char* option : {"--max-wait", "--max-pause", "--default-pause", "--store-patience",
                               "--connect-timeout", "--command-timeout", "--notice-after"}) {
        for (const char* value : {"", "soon", "-5s", "5 s", "1m30", "367d", "1e3"})
            check_run_refuses(with_key({"-r", "8/s", option, value}, std::string(option) + " '"));
    }
    for (const char* option : {"--tries", "--max-refusals", "--throttled-exit"}) {
        for (const char* value : {"", "x", "-1", "1.5", "0x1", "99999999999999999999"})
            check_run_refuses(with_key({"-r", "8/s", option, value}, std::string(option) + " '"));
    }
    check_run_refuses(with_key({"-r", "8/s", "--tries", "0"}, "--tries '0'"));
    check_run_refuses(with_key({"-r", "8/s", "-E", "256"}, "--throttled-exit '256'"));
    for (const char* value : {"x", "60s..1s", "1s..", "1s,,2s", ""})
        check_run_refuses(with_key({"-r", "8/s", "--backoff", value}, "--backoff '"));
    for (const char* value : {"x", "0", "256", "-1", "7=", "7=x", "7=1s=2s", ""})
        check_run_refuses(with_key({"-r", "8/s", "--pause-on-exit", value}, "--pause-on-exit '"));
    check_run_refuses(with_key({"--allow", "5", "--every", "x"}, "--every 'x'"));
    check_run_refuses(with_key({"--allow", "x", "--every", "1m"}, "--allow 'x'"));
    check_run_refuses(with_key({"--allow", "5"}, "--every 1m"));
    check_run_refuses(with_key({"-r", "8/s", "--burst", "9"}, "--burst '9'"));
}

TEST_CASE("bad input: limits that cannot be meant", "[cli]") {
    check_run_refuses({{"-r", "8/s", "-k", "a", "-k", "b"}, "stands before the first --key"});
    check_run_refuses(with_key({"-j", "1", "-k", "a", "-j", "2"}, "--key 'a' is given twice"));
    check_run_refuses(with_key({"-r", "8/s", "-r", "9/s"}, "same period"));
    check_run_refuses(
        with_key({"-r", "8/s", "-r", "9/m", "-r", "9/h", "-r", "9/d", "-r", "9/2d"}, "at most 4"));
    for (const char* value : {"", "x", "0", "-1", "1.5", "2M"})
        check_run_refuses(with_key({"-j", value}, "--concurrency '"));
    for (const char* value : {"", "soon", "0", "0.9", "-5s", "367d"})
        check_run_refuses(with_key({"-j", "1", "--lock-for", value}, "--lock-for '"));
    for (const char* value : {"", "x", "0", "-1", "9", "1001M"})
        check_run_refuses(with_key({"-r", "8/s", "--cost", value}, "--cost '"));
    check_run_refuses(with_key({"-r", "8/s", "--count", "x"}, "--count 'x'"));
    check_run_refuses(with_key({"-r", "3000/h", "--count", "successes"}, "2044"));
    check_run_refuses(with_key({"-r", "8/s", "--count", "successes", "--burst", "2"}, "takes no burst"));
    for (const char* value : {"", "x", "-1"})
        check_run_refuses(with_key({"-j", "1", "--max-waiting", value}, "--max-waiting '"));
    check_run_refuses(with_key({"-j", "1", "--on-lease-lost", "x"}, "--on-lease-lost 'x'"));
    check_run_refuses(with_key({"-j", "1", "--pause-key", "b"}, "--pause-key 'b'"));
}

TEST_CASE("bad input: a malformed choice", "[cli]") {
    for (const char* option : {"--scan", "--rerun", "--on-store-error"}) {
        for (const char* value : {"", "x", "AUTO"})
            check_run_refuses(with_key({"-r", "8/s", option, value}, std::string(option) + " '"));
    }
}

TEST_CASE("bad input: a malformed key", "[cli]") {
    check_run_refuses({{"-k", "", "-r", "8/s"}, "--key", true});
    check_run_refuses({{"-k", std::string(481, 'x'), "-r", "8/s"}, "481 bytes", true});
    check_run_refuses({{"-r", "8/s"}, "no --key", true});
}

TEST_CASE("bad input: a malformed store", "[cli]") {
    for (const char* url :
         {"", "foo", "foo:bar", "http://x", "redis://", "redis://h:0/", "redis://h:99999", "redis://h/x",
          "redis://h:1:2", "unix://", "unix://x", "unix:///p?db=x", "local:here", "redis://u:p%zz@h"}) {
        check_run_refuses(with_key({"-r", "8/s", "--store", url}, "--store"));
    }
    check_run_refuses(with_key({"-r", "8/s", "--prefix", "a{b}"}, "--prefix 'a{b}'"));
}

TEST_CASE("bad input: a password in a malformed store is never shown", "[cli]") {
    Sandbox sandbox;
    const ProgramResult result = sandbox.run(
        {"run", "-k", "a", "-r", "8/s", "--store", "redis://u:s3cret@h:port", "--", "touch", "ran"});
    INFO(describe(result));
    CHECK(result.code == 64);
    CHECK(result.err.find("s3cret") == std::string::npos);
    CHECK_FALSE(was_run(sandbox));
}

TEST_CASE("bad input: the same in a variable is wrong configuration", "[cli]") {
    const std::pair<const char*, const char*> k_rows[] = {
        {"JOBTHROTTLE_MAX_WAIT", "soon"},     {"JOBTHROTTLE_PREFIX", "a/b"},
        {"JOBTHROTTLE_ON_STORE_ERROR", "x"},  {"JOBTHROTTLE_STORE_PATIENCE", "-1"},
        {"JOBTHROTTLE_CONNECT_TIMEOUT", "0"}, {"JOBTHROTTLE_COMMAND_TIMEOUT", "x"},
        {"JOBTHROTTLE_MAX_PAUSE", "x"},       {"JOBTHROTTLE_DEFAULT_PAUSE", "x"},
        {"JOBTHROTTLE_NOTICE_AFTER", "x"},    {"JOBTHROTTLE_THROTTLED_EXIT", "x"},
        {"JOBTHROTTLE_LOCK_FOR", "0.5"},      {"JOBTHROTTLE_STORE", "foo:bar"},
        {"JOBTHROTTLE_STORE", "local:here"},  {"JOBTHROTTLE_STORE", ""},
        {"JOBTHROTTLE_PASSWORD", ""},
    };
    for (const auto& [name, value] : k_rows) {
        Sandbox sandbox;
        auto options = sandbox.options();
        options.env[name] = value;
        const ProgramResult result =
            sandbox.run({"run", "-k", "a", "-r", "8/s", "--", "touch", "ran"}, options);
        check_one_line(result);
        INFO(describe(result));
        CHECK(result.code == 78);
        CHECK_THAT(result.err, ContainsSubstring(name));
        CHECK_FALSE(was_run(sandbox));
    }
}

TEST_CASE("bad input: options and commands that do not exist, here or yet", "[cli]") {
    check_run_refuses({{"-k", "a", "--rat", "8/s"}, "did you mean --rate?", false});
    check_run_refuses({{"-k", "a", "-r", "8/s", "-z"}, "'-z'", false});
    check_run_refuses(
        {{"-k", "a", "-j", "2", "--timeout", "1m"}, "--timeout: this version does not have it", false});
    check_run_refuses({{"--limit", "80/min"}, "Did you mean --rate 80/min?", false});
    check_run_refuses({{"-k", "a", "-r", "8/s", "word"}, "'word' stands before the --", false});
    Sandbox sandbox;
    for (const Argv& words : std::initializer_list<Argv>{{},
                                                         {"rnu"},
                                                         {"fake"},
                                                         {"inspect"},
                                                         {"inspect", "a", "b"},
                                                         {"keys", "a", "b"},
                                                         {"-x"},
                                                         {"help", "x"}}) {
        const ProgramResult result = sandbox.run(words);
        check_one_line(result);
        CHECK(result.code == 64);
    }
    const ProgramResult typo = sandbox.run({"insepct", "a"});
    CHECK_THAT(typo.err, ContainsSubstring("did you mean inspect?"));
    CHECK_FALSE(touched_the_store(sandbox));
}

TEST_CASE("bad input: a missing -- is shown where it belongs", "[cli]") {
    Sandbox sandbox;
    const ProgramResult result = sandbox.run({"run", "-k", "a", "-r", "8/s", "touch", "ran"});
    check_one_line(result);
    CHECK(result.code == 64);
    CHECK_THAT(result.err,
               ContainsSubstring("put -- before the command: jobthrottle run -k a -r 8/s -- touch ran"));
    CHECK_FALSE(was_run(sandbox));
}

TEST_CASE("bad input: times and values of the other commands", "[cli]") {
    Sandbox sandbox;
    const std::pair<Argv, std::string> k_rows[] = {
        {{"pause", "a"}, "want one of"},
        {{"pause", "a", "10ms"}, "DURATION '10ms'"},
        {{"pause", "a", "367d"}, "DURATION '367d'"},
        {{"pause", "a", "10m", "--until", "14:30"}, "give one of DURATION, --until and --retry-after"},
        {{"pause", "a", "--until", "tomorrow"}, "--until 'tomorrow'"},
        {{"pause", "a", "--until", "2001-01-01T00:00:00Z"}, "--until '2001-01-01T00:00:00Z'"},
        {{"pause", "a", "--until", "25:00"}, "--until '25:00'"},
        {{"pause", "a", "--retry-after", "soon"}, "--retry-after 'soon'"},
        {{"pause", "a", "--retry-after", "-5"}, "--retry-after '-5'"},
        {{"register", "a"}, "no limit to register"},
        {{"register", "a", "-r", "x"}, "--rate 'x'"},
        {{"register", "a", "-k", "b", "-k", "c"}, "a second --key ('c')"},
        {{"admit", "a", "-j", "1", "--follow", "x"}, "--follow 'x'"},
        {{"admit", "a", "-j", "1", "--follow", "2147483647"}, "--follow '2147483647': no such process"},
        {{"release", "a"}, "no TOKEN"},
        {{"release", "a", "xyz"}, "TOKEN 'xyz'"},
        {{"renew", "a", "xyz"}, "TOKEN 'xyz'"},
        {{"renew", "a", "0123456789abcdef", "--lock-for", "0"}, "--lock-for '0'"},
        {{"settle", "x"}, "N 'x'"},
        {{"settle", "1834"}, "settle tells what the attempt cost that it is called from"},
        {{"admit", "a", "-r", "8/s", "--ticket", ""}, "--ticket ''"},
        {{"admit", "a", "-r", "8/s", "--ticket-for", "1m"}, "--ticket-for"},
    };
    for (const auto& [words, names] : k_rows) {
        const ProgramResult result = sandbox.run(words);
        check_one_line(result);
        INFO(describe(result));
        CHECK(result.code == 64);
        CHECK_THAT(result.err, ContainsSubstring(names));
        CHECK_THAT(result.err, ContainsSubstring("for example"));
    }
    CHECK_FALSE(touched_the_store(sandbox));
}
