// SPDX-License-Identifier: MIT
#include "cli/args.hpp"

#include "parsing.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string key_of(const LimitOptions& limit) {
    REQUIRE(limit.claims.size() == 1);
    return limit.claims[0].key.bytes();
}

Rate rate_of(const LimitOptions& limit) {
    REQUIRE(limit.claims.size() == 1);
    REQUIRE(limit.claims[0].terms.rates().size() == 1);
    return limit.claims[0].terms.rates()[0];
}

}  // namespace

TEST_CASE("args: what stands after -- is the command, untouched", "[unit]") {
    const Strings command = {"x", "", "[a,b]", "--rate", "-n", "--", "a b", "{}", "\n", "-"};
    Strings words = {"run", "-k", "acme", "-r", "5/s", "--"};
    words.insert(words.end(), command.begin(), command.end());
    const auto run = parsed<RunOptions>(words);
    CHECK(run.argv == command);
    CHECK(key_of(run.limit) == "acme");
    CHECK(rate_of(run.limit) == *parse_rate("5/s"));
    CHECK_FALSE(run.no_wait);
    CHECK(run.name == "x");
}

TEST_CASE("args: an option and its value stand together in every usual way", "[unit]") {
    for (const Strings& own : std::initializer_list<Strings>{{"-k", "a b", "-r", "5/s"},
                                                             {"-ka b", "-r5/s"},
                                                             {"--key", "a b", "--rate", "5/s"},
                                                             {"--rate=5/s", "--key=a b"}}) {
        Strings words = {"run"};
        words.insert(words.end(), own.begin(), own.end());
        words.insert(words.end(), {"--", "true"});
        const auto run = parsed<RunOptions>(words);
        CHECK(key_of(run.limit) == "a b");
        CHECK(rate_of(run.limit) == *parse_rate("5/s"));
    }
    for (const std::string key : {"-x", "--rate", "[a,b]", "a,b", "a=b", "{}", "%%", "-"}) {
        const bool is_option = key == "--rate";
        if (!is_option)
            CHECK(key_of(parsed<RunOptions>({"run", "-k", key, "-r", "5/s", "--", "x"}).limit) == key);
        CHECK(
            key_of(parsed<RunOptions>({"run", std::string("--key=") + key, "-r", "5/s", "--", "x"}).limit) ==
            key);
    }
    CHECK_THAT(fault_of({"run", "--key=", "-r", "5/s", "--", "x"}), ContainsSubstring("empty key"));
}

TEST_CASE("args: an option where a value belongs is no value", "[unit]") {
    CHECK(
        fault_of({"run", "-k", "-r", "5/s", "--", "true"}) ==
        "--key needs a value ('-r' stands in its place), for example --key github, or --key=-r where that is "
        "meant");
    CHECK_THAT(fault_of({"run", "-nk", "--rate=5/s", "--", "true"}),
               ContainsSubstring("--key needs a value ('--rate=5/s' stands in its place)"));
    CHECK_THAT(fault_of({"run", "-k", "a", "--rate", "-n", "--", "true"}),
               ContainsSubstring("--rate needs a value ('-n' stands"));
    CHECK(parsed<PauseOptions>({"pause", "a", "1m", "--reason", "-nothing"}).reason == "-nothing");
    CHECK(parsed<PauseOptions>({"pause", "a", "1m", "--reason=-q"}).reason == "-q");
}

TEST_CASE("args: what is meant is guessed from what others call it", "[unit]") {
    CHECK_THAT(fault_of({"run", "acme", "-r", "5/s", "--", "true"}),
               ContainsSubstring("did you mean -k acme?"));
    CHECK_THAT(fault_of({"run", "-k", "a", "-r", "0.5/s", "--", "x"}),
               ContainsSubstring("did you mean 1/2s?"));
    CHECK_THAT(fault_of({"run", "-k", "a", "-r", ".1/min", "--", "x"}),
               ContainsSubstring("did you mean 1/10m?"));
    CHECK_THAT(fault_of({"run", "-k", "a", "-r", "2.5/10s", "--", "x"}),
               ContainsSubstring("did you mean 5/20s?"));
    for (const char* rate : {"0.0/s", "8./s", "./s", "0.5", "x.5/s", "0.5/fortnight", "1.1/366d",
                             "999999999999.5/s", "0.0000001/s", "0.5/", "5/0.5.5"}) {
        const std::string fault = fault_of({"run", "-k", "a", "-r", rate, "--", "x"});
        INFO(fault);
        CHECK(fault.find("did you mean") == std::string::npos);
    }
    const std::pair<const char*, const char*> k_commands[] = {
        {"-V", "--version"}, {"ls", "keys"}, {"list", "keys"}, {"status", "inspect"}};
    for (const auto& [typed, meant] : k_commands)
        CHECK_THAT(fault_of({typed}), ContainsSubstring("did you mean " + std::string(meant) + "?"));
    CHECK_THAT(fault_of({"run", "-k", "a", "--retry", "3", "--", "x"}),
               ContainsSubstring("did you mean --tries?"));
    for (const auto& [typed, meant] : other_command_names())
        CHECK((find_command(meant) != nullptr || meant == "--version"));
}

TEST_CASE("args: all options of run", "[unit]") {
    const auto run = parsed<RunOptions>({"run",       "-k",
                                         "a",         "--allow",
                                         "80",        "--every",
                                         "1m",        "--burst",
                                         "5",         "--override",
                                         "-w",        "20m",
                                         "-nqv",      "-E",
                                         "0",         "--tries",
                                         "3",         "--backoff",
                                         "1s,2s",     "--rerun",
                                         "always",    "--max-refusals",
                                         "4",         "--pause-on-exit",
                                         "254=5s",    "--pause-on-exit",
                                         "7",         "--scan",
                                         "both",      "--max-pause",
                                         "1h",        "--default-pause",
                                         "10s",       "--name",
                                         "job",       "--store",
                                         "redis://h", "--prefix",
                                         "p",         "--on-store-error",
                                         "open",      "--store-patience",
                                         "5s",        "--connect-timeout",
                                         "200ms",     "--command-timeout",
                                         "300ms",     "--notice-after",
                                         "2s",        "--",
                                         "/bin/x"});
    CHECK(rate_of(run.limit) == *Rate::make(80, 1min, 5));
    CHECK(run.limit.claims[0].override_registered);
    CHECK(run.no_wait);
    CHECK(run.common.quiet);
    CHECK(run.common.verbose);
    CHECK(run.job.tries == 3);
    CHECK(run.job.backoff.list == std::vector<Duration>{1s, 2s});
    CHECK(run.job.rerun == Rerun::always);
    CHECK(run.job.max_refusals == 4);
    REQUIRE(run.exit_rules.size() == 2);
    CHECK(run.exit_rules[0].code == 254);
    CHECK(run.exit_rules[0].delay == std::optional<Duration>{5s});
    CHECK(run.exit_rules[1].code == 7);
    CHECK_FALSE(run.exit_rules[1].delay.has_value());
    CHECK(run.scan == Scan::both);
    CHECK(run.name == "job");
    const Settings& settings = run.common.settings;
    CHECK(settings.max_wait.value == std::optional<Duration>{20min});
    CHECK(settings.throttled_exit.value == 0);
    CHECK(settings.max_pause.value == 1h);
    CHECK(settings.default_pause.value == 10s);
    CHECK(settings.store.value == "redis://h");
    CHECK(settings.prefix.value == "p");
    CHECK(settings.on_store_error.value == OnStoreError::open);
    CHECK(settings.store_patience.value == 5s);
    CHECK(settings.connect_timeout.value == 200ms);
    CHECK(settings.command_timeout.value == 300ms);
    CHECK(settings.notice_after.value == 2s);
}

TEST_CASE("args: the key is the first word or --key, wherever it is positional", "[unit]") {
    CHECK(key_of(parsed<AdmitOptions>({"admit", "acme", "-r", "5/s"}).limit) == "acme");
    CHECK(key_of(parsed<AdmitOptions>({"admit", "-k", "acme"}).limit) == "acme");
    CHECK(parsed<InspectOptions>({"inspect", "-k", "acme", "--json"}).json);
    CHECK(parsed<InspectOptions>({"inspect", "--", "-acme"}).key.bytes() == "-acme");
    CHECK(parsed<PauseOptions>({"pause", "-k", "acme", "10m"}).length == std::optional<Duration>{10min});
    CHECK(parsed<ForgetOptions>({"forget", "--force", "acme"}).force);
    CHECK(parsed<RegisterOptions>({"register", "acme", "-r", "80/min", "--replace"}).replace);
    CHECK(parsed<UnregisterOptions>({"unregister", "acme"}).key.bytes() == "acme");
    CHECK(parsed<ResumeOptions>({"resume", "acme"}).key.bytes() == "acme");
    CHECK(parsed<KeysOptions>({"keys"}).pattern == "*");
    CHECK(parsed<KeysOptions>({"keys", "aws:*", "--json"}).pattern == "aws:*");
    CHECK_THAT(fault_of({"inspect"}), ContainsSubstring("no key"));
    CHECK_THAT(fault_of({"inspect", "a", "b"}), ContainsSubstring("'b' is one word too many"));
    CHECK_THAT(fault_of({"run", "acme", "--", "true"}), ContainsSubstring("no --key"));
    CHECK_THAT(fault_of({"run", "-k", "a", "-r", "1/s", "acme", "--", "true"}),
               ContainsSubstring("'acme' stands before the --"));
}

TEST_CASE("args: a pause is for a time, for ever, until a time, or as a provider says", "[unit]") {
    CHECK_FALSE(parsed<PauseOptions>({"pause", "a", "forever"}).length.has_value());
    const auto until = parsed<PauseOptions>({"pause", "a", "--until", "14:30", "--reason", "why"});
    CHECK(until.length == std::optional<Duration>{90min});
    CHECK(until.by_hand);
    CHECK(until.reason == "why");
    const auto asked = parsed<PauseOptions>({"pause", "a", "--retry-after", "120"});
    CHECK(asked.length == std::optional<Duration>{120s});
    CHECK_FALSE(asked.by_hand);
    CHECK(parsed<PauseOptions>({"pause", "a", "--retry-after", "0"}).length == std::optional<Duration>{1s});
    CHECK(parsed<PauseOptions>({"pause", "a", "--retry-after", "999999"}).length ==
          std::optional<Duration>{24h});
    CHECK_THAT(fault_of({"pause", "a"}), ContainsSubstring("want one of"));
    CHECK_THAT(fault_of({"pause", "a", "10m", "--until", "14:30"}),
               ContainsSubstring("give one of DURATION, --until and --retry-after"));
    CHECK_THAT(fault_of({"pause", "a", "--until", "2020-01-01T00:00:00Z"}), ContainsSubstring("2020-01-01"));
}

TEST_CASE("args: every malformed value is named with a right one", "[unit]") {
    struct Row {
        Strings own;
        const char* names;
    };
    for (const Row& row : std::initializer_list<Row>{
             {{"-r", "8/sec/min"}, "--rate '8/sec/min'"},
             {{"-r", ""}, "--rate ''"},
             {{"-r", "-5/s"}, "--rate '-5/s'"},
             {{"-r", "0/s"}, "--rate '0/s'"},
             {{"-r", "1/400d"}, "--rate '1/400d'"},
             {{"-r", "2M/s"}, "--rate '2M/s'"},
             {{"-r", "5/s", "--burst", "9"}, "--burst '9'"},
             {{"-r", "5/s", "--burst", "x"}, "--burst 'x'"},
             {{"--allow", "x", "--every", "1m"}, "--allow 'x'"},
             {{"--allow", "5", "--every", "x"}, "--every 'x'"},
             {{"--allow", "5", "--every", "0"}, "--every '0'"},
             {{"--allow", "5"}, "--every"},
             {{"-r", "1/s", "--allow", "5"}, "--allow"},
             {{"-w", "soon"}, "--max-wait 'soon'"},
             {{"-E", "300"}, "--throttled-exit '300'"},
             {{"--tries", "0"}, "--tries '0'"},
             {{"--tries", "-1"}, "--tries '-1'"},
             {{"--tries", "1.5"}, "--tries '1.5'"},
             {{"--backoff", "60s..1s"}, "--backoff '60s..1s'"},
             {{"--rerun", "maybe"}, "--rerun 'maybe'"},
             {{"--max-refusals", "x"}, "--max-refusals 'x'"},
             {{"--pause-on-exit", "256"}, "--pause-on-exit '256'"},
             {{"--pause-on-exit", "0"}, "--pause-on-exit '0'"},
             {{"--pause-on-exit", "7=x"}, "--pause-on-exit '7=x'"},
             {{"--pause-on-exit", "7="}, "--pause-on-exit '7='"},
             {{"--scan", "all"}, "--scan 'all'"},
             {{"--max-pause", "x"}, "--max-pause 'x'"},
             {{"--store-patience", "x"}, "--store-patience 'x'"},
             {{"--on-store-error", "x"}, "--on-store-error 'x'"},
         }) {
        Strings words = {"run", "-k", "a"};
        words.insert(words.end(), row.own.begin(), row.own.end());
        words.insert(words.end(), {"--", "true"});
        const std::string fault = fault_of(words);
        INFO(fault);
        CHECK_THAT(fault, Catch::Matchers::StartsWith(row.names) || ContainsSubstring(row.names));
        CHECK_THAT(fault, ContainsSubstring("for example"));
    }
    CHECK_THAT(fault_of({"run", "-k", std::string(481, 'k'), "-r", "1/s", "--", "x"}),
               ContainsSubstring("481 bytes"));
    CHECK_THAT(fault_of({"run", "-k", "a", "-r"}),
               ContainsSubstring("--rate needs a value, for example --rate 8/s"));
    CHECK_THAT(fault_of({"run", "-k", "a", "--quiet=5", "--", "x"}),
               ContainsSubstring("--quiet takes no value"));
    CHECK_THAT(fault_of({"pause", "a", "10ms"}), ContainsSubstring("DURATION '10ms'"));
    CHECK_THAT(fault_of({"pause", "a", "--until", "x"}), ContainsSubstring("--until 'x'"));
    CHECK_THAT(fault_of({"pause", "a", "--retry-after", "soon"}), ContainsSubstring("--retry-after 'soon'"));
    CHECK_THAT(fault_of({"admit", "a", "--ticket", ""}), ContainsSubstring("--ticket ''"));
    CHECK_THAT(fault_of({"admit", "a", "--ticket", "x", "--ticket-for", "0"}),
               ContainsSubstring("--ticket-for '0'"));
    CHECK_THAT(fault_of({"register", "a"}), ContainsSubstring("no limit to register"));
}

TEST_CASE("args: a missing -- is shown in the line that was typed", "[unit]") {
    CHECK(fault_of({"run", "-k", "acme", "-r", "5/s", "curl", "-fsS", "it's"}) ==
          "put -- before the command: jobthrottle run -k acme -r 5/s -- curl -fsS 'it'\\''s'");
    CHECK(fault_of({"run", "-nk", "acme", "curl"}) ==
          "put -- before the command: jobthrottle run -nk acme -- curl");
    CHECK_THAT(fault_of({"run", "-k", "acme"}), ContainsSubstring("no command to run"));
    CHECK_THAT(fault_of({"run", "-k", "acme", "--"}), ContainsSubstring("no command to run"));
    CHECK_THAT(fault_of({"run", "-k", "a", "--rat", "5/s", "x"}), ContainsSubstring("did you mean --rate?"));
}

TEST_CASE("args: what is unknown names the nearest", "[unit]") {
    CHECK_THAT(fault_of({"rnu"}), ContainsSubstring("did you mean run?"));
    CHECK_THAT(fault_of({"xyzzy"}), ContainsSubstring("jobthrottle --help"));
    CHECK_THAT(fault_of({"--key", "a", "run"}), ContainsSubstring("the command comes first"));
    CHECK_THAT(fault_of({}), ContainsSubstring("no command given"));
    CHECK_THAT(fault_of({"run", "-k", "a", "--max-wiat", "5", "--", "x"}),
               ContainsSubstring("did you mean --max-wait?"));
    CHECK_THAT(fault_of({"inspect", "a", "-z"}), ContainsSubstring("no option '-z' of inspect"));
    CHECK_THAT(fault_of({"help", "insepct"}), ContainsSubstring("did you mean inspect?"));
}

TEST_CASE("args: options of a later version say so, and a rate for --limit is seen", "[unit]") {
    for (const char* option : {"--timeout", "--stdin", "--output", "--match", "--provider", "--report",
                               "--mailer", "--retry-on"}) {
        INFO(option);
        CHECK_THAT(fault_of({"run", "-k", "a", "-r", "5/s", option, "2", "--", "x"}),
                   ContainsSubstring("this version does not have it"));
    }
    CHECK_THAT(fault_of({"run", "--limit", "80/min", "--", "x"}),
               ContainsSubstring("Did you mean --rate 80/min?"));
    CHECK_THAT(fault_of({"run", "--limit=80/min", "--", "x"}),
               ContainsSubstring("Did you mean --rate 80/min?"));
    CHECK_THAT(fault_of({"run", "--limit", "github", "--", "x"}),
               ContainsSubstring("this version does not have it"));
    CHECK_THAT(fault_of({"fake", "run"}), ContainsSubstring("this version does not have it"));
}
