// SPDX-License-Identifier: MIT
// Limits on keys: which option belongs to what, and what cannot be meant.
#include "parsing.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

namespace {

// Of a run with these options.
LimitOptions limits(const Strings& own, const char* lock_for = nullptr) {
    Strings words = {"run"};
    words.insert(words.end(), own.begin(), own.end());
    words.insert(words.end(), {"--", "true"});
    return parsed<RunOptions>(words, lock_for).limit;
}

std::string terms_of(const Strings& own) {
    std::string text;
    for (const Claim& claim : limits(own).claims)
        text += (text.empty() ? "" : "; ") + claim.key.bytes() + ": " + claim.terms.text();
    return text;
}

std::string run_fault(const Strings& own) {
    Strings words = {"run"};
    words.insert(words.end(), own.begin(), own.end());
    words.insert(words.end(), {"--", "true"});
    return fault_of(words);
}

}  // namespace

TEST_CASE("limits: several rates on one key, and what may run at once", "[unit]") {
    CHECK(terms_of({"-k", "a", "-j", "2"}) == "a: 2 at once");
    CHECK(terms_of({"-k", "a", "-j2"}) == "a: 2 at once");
    CHECK(terms_of({"-k", "a", "-r", "500/min", "-r", "10/s"}) == "a: 10/s and 500/min");
    CHECK(terms_of({"--concurrency", "1k", "-r", "1/s", "-r", "2/h", "-r", "3/d", "-r", "4/2d", "-k", "a"}) ==
          "a: 1/s, 2/h, 3/d and 4/2d, 1000 at once");
    CHECK(terms_of({"--allow", "10", "--every", "1s", "--allow", "500", "--every", "1m", "-k", "a"}) ==
          "a: 10/s and 500/min");
    CHECK(terms_of({"--every", "1s", "-r", "500/min", "--allow", "10", "-k", "a"}) == "a: 10/s and 500/min");
}

TEST_CASE("limits: a burst belongs to the rate before it, or to the only one", "[unit]") {
    CHECK(terms_of({"-k", "a", "-r", "10/s", "--burst", "5", "-r", "500/min"}) ==
          "a: 10/s,burst=5 and 500/min");
    CHECK(terms_of({"-k", "a", "-r", "10/s", "-r", "500/min", "--burst", "50"}) ==
          "a: 10/s and 500/min,burst=50");
    CHECK(terms_of({"-k", "a", "-r", "10/s,burst=2", "-r", "500/min,burst=7"}) ==
          "a: 10/s,burst=2 and 500/min,burst=7");
    CHECK(terms_of({"--burst", "5", "-k", "a", "-r", "10/s"}) == "a: 10/s,burst=5");
    CHECK(terms_of({"-k", "a", "--allow", "10", "--burst", "5", "--every", "1s"}) == "a: 10/s,burst=5");
    CHECK(terms_of({"-k", "a", "--allow", "10", "--every", "1s", "-r", "500/min", "--burst", "6"}) ==
          "a: 10/s and 500/min,burst=6");
    // One given as 1 spaces a limit that would be a plain window.
    const auto spaced = limits({"-k", "a", "-r", "10/s", "-r", "500/min", "--burst", "1"}).claims[0].terms;
    CHECK(spaced.rates()[1].burst() == 1);
    CHECK(limits({"-k", "a", "-r", "10/s", "-r", "500/min"}).claims[0].terms.rates()[1].burst() == 500);
}

TEST_CASE("limits: with several keys each option belongs to the key before it", "[unit]") {
    CHECK(terms_of({"-k", "a", "-r", "2/s", "-k", "b", "-r", "5/min", "-j", "3"}) ==
          "a: 2/s; b: 5/min, 3 at once");
    CHECK(terms_of({"-k", "a", "-k", "b", "-r", "5/min"}) == "a: ; b: 5/min");
    CHECK(terms_of({"-n", "-k", "a", "-r", "2/s", "--burst", "2", "-w", "1m", "-k", "b", "-r", "5/min",
                    "-q"}) == "a: 2/s,burst=2; b: 5/min");
    const auto several = limits({"-k",
                                 "a",
                                 "-r",
                                 "2/s",
                                 "--override",
                                 "--lock-for",
                                 "5m",
                                 "-k",
                                 "b",
                                 "--pause-only",
                                 "-k",
                                 "c",
                                 "-r",
                                 "90k/min",
                                 "--cost",
                                 "1500",
                                 "--pause-key",
                                 "b",
                                 "--max-waiting",
                                 "7"});
    REQUIRE(several.claims.size() == 3);
    CHECK(several.claims[0].override_registered);
    CHECK(several.claims[0].lock_for == 5min);
    CHECK_FALSE(several.claims[0].pause_only);
    CHECK(several.claims[1].pause_only);
    CHECK(several.claims[1].lock_for == 1min);
    CHECK(several.claims[1].cost == 1);
    CHECK_FALSE(several.claims[1].settles);
    CHECK(several.claims[2].cost == 1500);
    CHECK(several.claims[2].settles);
    CHECK(several.pause_key == 1);
    CHECK(several.max_waiting == 7);
    CHECK(limits({"-k", "a", "-j", "1"}).pause_key == 0);
    CHECK_FALSE(limits({"-k", "a", "-j", "1"}).max_waiting.has_value());
    const auto admit = parsed<AdmitOptions>({"admit", "-k", "a", "-r", "2/s", "-k", "b", "--cost", "2"});
    REQUIRE(admit.limit.claims.size() == 2);
    CHECK(admit.limit.claims[1].cost == 2);
    CHECK_FALSE(admit.limit.claims[1].settles);  // there is no command that could
}

TEST_CASE("limits: what may not stand where it stands with several keys", "[unit]") {
    for (const Strings& early : std::initializer_list<Strings>{{"-r", "2/s"},
                                                               {"--allow", "2", "--every", "1s"},
                                                               {"--burst", "2"},
                                                               {"-j", "2"},
                                                               {"--lock-for", "1m"},
                                                               {"--cost", "2"},
                                                               {"--count", "starts"},
                                                               {"--pause-only"},
                                                               {"--override"}}) {
        Strings own = early;
        own.insert(own.end(), {"-k", "a", "-k", "b"});
        const std::string fault = run_fault(own);
        INFO(fault);
        CHECK_THAT(fault, ContainsSubstring("stands before the first --key: with several keys it belongs to "
                                            "the --key before it, for example"));
    }
    CHECK_THAT(run_fault({"-r", "2/s", "-k", "a", "-k", "b"}), Catch::Matchers::StartsWith("--rate '2/s'"));
    CHECK_THAT(run_fault({"-k", "a", "-r", "2/s", "-k", "a", "-r", "5/m"}),
               ContainsSubstring("--key 'a' is given twice: put its limits behind one"));
    Strings many;
    for (int i = 0; i < 17; ++i)
        many.insert(many.end(), {"-k", "key" + std::to_string(i), "-j", "1"});
    CHECK_THAT(run_fault(many), ContainsSubstring("17 keys for one job: want at most 16"));
    many.resize(many.size() - 4);
    CHECK(limits(many).claims.size() == 16);
    CHECK_THAT(run_fault({"-k", "a", "-j", "1", "-k", "", "-j", "1"}), ContainsSubstring("empty key"));
    CHECK_THAT(
        run_fault({"-k", "a", "-j", "1", "--pause-key", "x"}),
        ContainsSubstring("--pause-key 'x': want one of the keys given (a), for example --pause-key a"));
}

TEST_CASE("limits: one value of a kind for each key", "[unit]") {
    for (const char* option : {"--concurrency", "--lock-for", "--cost"}) {
        CHECK_THAT(run_fault({"-k", "a", "-r", "9/s", option, "1", option, "2"}),
                   ContainsSubstring("a second " + std::string(option) + " ('2') for key 'a'"));
        CHECK(limits({"-k", "a", "-r", "9/s", option, "1", "-k", "b", "-r", "9/s", option, "2"})
                  .claims.size() == 2);
    }
    CHECK_THAT(run_fault({"-k", "a", "-r", "9/s", "--burst", "2", "--burst", "3"}),
               ContainsSubstring("a second --burst ('3') of one rate"));
    for (const char* command : {"register", "inspect", "forget", "pause", "resume", "unregister"}) {
        CHECK_THAT(fault_of({command, "-k", "a", "-k", "b"}),
                   ContainsSubstring("a second --key ('b'): " + std::string(command) + " takes one"));
    }
}

TEST_CASE("limits: what cannot be is named with a right one", "[unit]") {
    struct Row {
        Strings own;
        const char* names;
    };
    for (const Row& row : std::initializer_list<Row>{
             {{"-j", "0"}, "--concurrency '0': want a whole number from 1 to 1000000"},
             {{"-j", "2000000"}, "--concurrency '2000000'"},
             {{"-j", "x"}, "--concurrency 'x'"},
             {{"-j", "-1"}, "--concurrency '-1'"},
             {{"-j", ""}, "--concurrency ''"},
             {{"-j", "1", "--lock-for", "0.5"}, "--lock-for '0.5': want a duration from 1s to 366d"},
             {{"-j", "1", "--lock-for", "367d"}, "--lock-for '367d'"},
             {{"-j", "1", "--lock-for", "soon"}, "--lock-for 'soon'"},
             {{"-r", "5/s", "--cost", "0"}, "--cost '0': want a whole number from 1 to 1000000000"},
             {{"-r", "5/s", "--cost", "2000M"}, "--cost '2000M'"},
             {{"-r", "5/s", "--cost", "6"}, "--cost '6': 5/s never allows more than 5 at once"},
             {{"-r", "90/s,burst=5", "--cost", "6"}, "want 1 to 5, for example --cost 5"},
             {{"-r", "90/s", "-r", "100/min", "--cost", "91"}, "--cost '91': 90/s never"},
             {{"-r", "90/s", "-r", "100/min,burst=7", "--cost", "8"}, "100/min,burst=7 never"},
             {{"-r", "5/s", "--count", "failures"}, "--count 'failures': want starts or successes"},
             {{"-r", "5/s", "--count", "successes", "--burst", "2"}, "--count successes takes no burst"},
             {{"-r", "5/s", "--count", "successes", "--cost", "2"}, "--cost and --count successes"},
             {{"-r", "5/s,burst=2", "--count", "successes"}, "takes no burst (5/s,burst=2)"},
             {{"-r", "2045/h", "--count", "successes"}, "want at most 2044"},
             {{"-r", "5/s", "-r", "6/s"}, "--rate: 6/s and 5/s are of the same period"},
             {{"-r", "5/s", "-r", "6/m", "-r", "7/h", "-r", "8/d", "-r", "9/2d"},
              "--rate: 5 limits on one key"},
             {{"--burst", "2", "-r", "5/s", "-r", "6/m"}, "--burst '2' stands before the first rate"},
             {{"--burst", "2"}, "--burst '2' needs a rate"},
             {{"-r", "5/s", "--burst", "6", "-r", "60/m"}, "--burst '6': "},
             {{"--allow", "5", "--allow", "6", "--every", "1m"}, "--allow and --every belong together"},
             {{"-j", "1", "--max-waiting", "x"}, "--max-waiting 'x'"},
             {{"-j", "1", "--max-waiting", "-1"}, "--max-waiting '-1'"},
             {{"-j", "1", "--on-lease-lost", "ignore"}, "--on-lease-lost 'ignore': want warn or kill"},
             {{"--override"}, "--override needs numbers"},
         }) {
        Strings own = {"-k", "a"};
        own.insert(own.end(), row.own.begin(), row.own.end());
        const std::string fault = run_fault(own);
        INFO(fault);
        CHECK_THAT(fault, ContainsSubstring(row.names));
        CHECK_THAT(fault, ContainsSubstring("for example"));
    }
    CHECK_THAT(run_fault({"-k", "a", "--pause-only", "-j", "2"}),
               ContainsSubstring("--pause-only means no limit at all: leave 2 at once away"));
    CHECK_THAT(run_fault({"-k", "a", "--pause-only", "-r", "5/s"}), ContainsSubstring("leave 5/s away"));
}

TEST_CASE("limits: cost and successes as they are judged", "[unit]") {
    const auto costly = limits({"-k", "a", "-r", "90k/min", "--cost", "90k"}).claims[0];
    CHECK(costly.cost == 90'000);
    CHECK(limits({"-k", "a", "-r", "90/s", "-r", "100/min", "--cost", "90"}).claims[0].cost == 90);
    CHECK(limits({"-k", "a", "-j", "2", "--cost", "1000M"}).claims[0].cost == 1'000'000'000);
    const auto successes = limits({"-k", "a", "-r", "2044/h", "-r", "9/s", "--count", "successes"}).claims[0];
    CHECK(successes.count_successes);
    CHECK(successes.terms.text() == "9/s and 2044/h");  // the decision makes windows of them
    CHECK_FALSE(limits({"-k", "a", "-r", "9/s", "--count", "starts"}).claims[0].count_successes);
    CHECK(limits({"-k", "a", "--count", "successes"}).claims[0].count_successes);
}

TEST_CASE("limits: how long a place is kept", "[unit]") {
    CHECK(limits({"-k", "a", "-j", "1"}).claims[0].lock_for == 60s);
    CHECK(limits({"-k", "a", "-j", "1"}, "5m").claims[0].lock_for == 5min);
    CHECK(limits({"-k", "a", "-j", "1", "--lock-for", "2m"}, "5m").claims[0].lock_for == 2min);
    const auto both = limits({"-k", "a", "-j", "1", "-k", "b", "-j", "1", "--lock-for", "2m"}, "5m");
    CHECK(both.claims[0].lock_for == 5min);
    CHECK(both.claims[1].lock_for == 2min);
    CHECK(parsed<AdmitOptions>({"admit", "a", "-j", "1"}).limit.claims[0].lock_for == 660s);
    CHECK(parsed<AdmitOptions>({"admit", "a", "-j", "1"}, "5m").limit.claims[0].lock_for == 5min);
    const auto bad = parse({"admit", "a", "-j", "1"}, "0");
    REQUIRE_FALSE(bad.ok());
    CHECK(bad.error().kind == ErrorKind::config);
    CHECK_THAT(bad.error().message, ContainsSubstring("JOBTHROTTLE_LOCK_FOR '0'"));
}

TEST_CASE("limits: what is done when a lease is lost, and who is followed", "[unit]") {
    const auto run = [](const Strings& own) {
        Strings words = {"run", "-k", "a", "-j", "1"};
        words.insert(words.end(), own.begin(), own.end());
        words.insert(words.end(), {"--", "true"});
        return parsed<RunOptions>(words);
    };
    CHECK(run({}).on_lease_lost == OnLeaseLost::warn);
    CHECK(run({"--on-lease-lost", "kill"}).on_lease_lost == OnLeaseLost::kill);
    CHECK(parsed<AdmitOptions>({"admit", "a", "-j", "1", "--follow", "4121"}).follow == 4121);
    CHECK_FALSE(parsed<AdmitOptions>({"admit", "a", "-j", "1"}).follow.has_value());
    for (const char* pid : {"", "0", "-1", "x", "99999999999"}) {
        CHECK_THAT(fault_of({"admit", "a", "-j", "1", "--follow", pid}),
                   ContainsSubstring("--follow '" + std::string(pid) + "'"));
    }
}

TEST_CASE("limits: register takes rates and a concurrency of one key", "[unit]") {
    const auto registering = parsed<RegisterOptions>(
        {"register", "a", "-r", "10/s", "-r", "500/min", "--burst", "9", "-j", "4", "--replace"});
    CHECK(registering.terms.text() == "10/s and 500/min,burst=9, 4 at once");
    CHECK(registering.replace);
    CHECK(parsed<RegisterOptions>({"register", "-j", "4", "-k", "a"}).terms.text() == "4 at once");
    CHECK_THAT(fault_of({"register", "a"}), ContainsSubstring("no limit to register, for example"));
    CHECK_THAT(fault_of({"register", "a", "-r", "1/s", "-r", "2/s"}), ContainsSubstring("same period"));
    CHECK_THAT(fault_of({"register", "a", "-r", "1/s", "-j", "0"}), ContainsSubstring("--concurrency '0'"));
    CHECK_THAT(fault_of({"register", "a", "-j", "1", "-j", "2"}),
               ContainsSubstring("a second --concurrency"));
}

TEST_CASE("limits: renew and release take a key and a token", "[unit]") {
    const std::string token = "0123456789abcdef";
    const auto renew = parsed<RenewOptions>({"renew", "db", token, "--lock-for", "1h"});
    CHECK(renew.key.bytes() == "db");
    CHECK(renew.token == 0x0123456789abcdef);
    CHECK(renew.lock_for == 1h);
    CHECK(parsed<RenewOptions>({"renew", token, "-k", "db"}).lock_for == 0s);
    using Which = ReleaseOptions::Which;
    const auto release = parsed<ReleaseOptions>({"release", "db", token});
    CHECK(release.which == Which::one);
    CHECK(release.token == 0x0123456789abcdef);
    CHECK_FALSE(release.failed);
    CHECK(parsed<ReleaseOptions>({"release", "db", token, "--failed"}).failed);
    CHECK(parsed<ReleaseOptions>({"release", "db", "--all"}).which == Which::all);
    CHECK(parsed<ReleaseOptions>({"release", "--dead", "-k", "db"}).which == Which::dead);
    for (const char* bad : {"", "x", "0123456789abcde", "0123456789ABCDEF", "0123456789abcdef0"}) {
        CHECK_THAT(fault_of({"release", "db", bad}),
                   ContainsSubstring("TOKEN '" + std::string(bad) + "': want 16 hex digits, for example"));
        CHECK_THAT(fault_of({"renew", "db", bad}), ContainsSubstring("for example jobthrottle renew db"));
    }
    CHECK_THAT(fault_of({"release", "db"}), ContainsSubstring("no TOKEN"));
    CHECK_THAT(fault_of({"release", "db", token, "--all"}), ContainsSubstring("one word too many"));
    CHECK_THAT(fault_of({"release", "db", "--all", "--dead"}),
               ContainsSubstring("give one of --all and --dead"));
    CHECK_THAT(fault_of({"release", "db", "--all", "--failed"}), ContainsSubstring("--failed tells of one"));
    CHECK_THAT(fault_of({"renew", "db", token, "--lock-for", "0"}), ContainsSubstring("--lock-for '0'"));
}

TEST_CASE("limits: settle takes a number of starts", "[unit]") {
    CHECK(parsed<SettleOptions>({"settle", "0"}).cost == 0);
    CHECK(parsed<SettleOptions>({"settle", "1834"}).cost == 1834);
    CHECK(parsed<SettleOptions>({"settle", "90k"}).cost == 90'000);
    CHECK(parsed<SettleOptions>({"settle", "1000M"}).cost == 1'000'000'000);
    CHECK_FALSE(parsed<SettleOptions>({"settle", "1"}).key.has_value());
    CHECK(parsed<SettleOptions>({"settle", "-k", "acme", "1"}).key->bytes() == "acme");
    for (const char* bad : {"", "x", "1.5", "1001M", "99999999999999999999"}) {
        CHECK_THAT(fault_of({"settle", bad}), ContainsSubstring("N '" + std::string(bad) + "': want") &&
                                                  ContainsSubstring("for example jobthrottle settle 1834"));
    }
    CHECK_THAT(fault_of({"settle"}), ContainsSubstring("no N: want"));
    CHECK_THAT(fault_of({"settle", "1", "2"}), ContainsSubstring("one word too many"));
}
