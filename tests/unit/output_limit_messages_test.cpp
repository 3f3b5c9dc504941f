// SPDX-License-Identifier: MIT
// What is said of the limits of a key, and of the places that jobs hold.
#include "output/messages.hpp"
#include "support/catch.hpp"
#include "unit/output_samples.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string on_terminal(const Line& line) {
    return render(line, true);
}

std::string off_terminal(const Line& line) {
    return render(line, false);
}

}  // namespace

TEST_CASE("messages: other numbers name both, and who registered", "[unit]") {
    const Key key = sample_key("acme");
    const Registration by_ops{sample_terms({"80/min"}, 4), 0, "ops@db1"};
    Answer answer;
    answer.terms = by_ops.terms;
    answer.registered = by_ops.terms;
    CHECK(off_terminal(say_other_numbers(key, sample_terms({"500/min"}), answer, by_ops)) ==
          "jobthrottle: acme is registered at 80/min, 4 at once by ops@db1: this job is held to that, not to "
          "its 500/min (--override lets it)  key=acme brought=500/min registered=\"80/min, 4 at once\"");
    CHECK(on_terminal(say_other_numbers(key, sample_terms({}, 9), answer, std::nullopt)) ==
          "jobthrottle: acme is registered at 80/min, 4 at once: this job is held to that, not to its 9 at "
          "once (--override lets it)");
    answer.terms = sample_terms({"60/min"}, 4);
    CHECK_THAT(on_terminal(say_other_numbers(key, sample_terms({"60/min"}, 9), answer, std::nullopt)),
               ContainsSubstring("held to 60/min, 4 at once, not to its 60/min, 9 at once"));
    answer.registered = std::nullopt;
    answer.terms = sample_terms({"60/min"});
    answer.other = sample_terms({"10/s", "90/min"}, 2);
    CHECK(off_terminal(say_other_numbers(key, sample_terms({"60/min"}), answer, std::nullopt)) ==
          "jobthrottle: acme was last asked for with 10/s and 90/min, 2 at once, this job comes with 60/min: "
          "each is judged by its own numbers  key=acme brought=60/min other=\"10/s and 90/min, 2 at once\"");
    CHECK_THAT(on_terminal(say_other_numbers(key, Terms{}, answer, std::nullopt)),
               ContainsSubstring("this job comes with no limit"));
}

TEST_CASE("messages: a job without a limit names the nearest key", "[unit]") {
    CHECK(
        off_terminal(say_no_limit(sample_key("amce"), Terms{}, {"acme"})) ==
        "jobthrottle: no limit known for key 'amce' (nearest: acme). Give --rate or -j, register it, or say "
        "--pause-only. Nothing was run.  key=amce exit=78");
    CHECK_THAT(on_terminal(say_no_limit(sample_key("amce"), Terms{}, {"acme", "a\nb"})),
               ContainsSubstring("(nearest: acme, a\\nb)."));
    CHECK_THAT(on_terminal(say_no_limit(sample_key("amce"), Terms{}, {})),
               ContainsSubstring("for key 'amce'. Give"));
    CHECK(off_terminal(say_no_limit(sample_key("it's"), sample_terms({"5/s"}), {"its"})) ==
          "jobthrottle: no limit given for key 'it's', which was last run with 5/s. Give --rate again, or "
          "register it: jobthrottle register 'it'\\''s' -r 5/s. Nothing was run.  key=it's last=5/s exit=78");
    CHECK_THAT(on_terminal(say_no_limit(sample_key("db"), sample_terms({"10/s", "500/min,burst=9"}, 2), {})),
               ContainsSubstring("Give --rate and -j again, or register it: jobthrottle register db -r 10/s "
                                 "-r 500/min,burst=9 -j 2."));
    CHECK_THAT(on_terminal(say_no_limit(sample_key("db"), sample_terms({}, 2), {})),
               ContainsSubstring("last run with 2 at once. Give -j again, or"));
}

TEST_CASE("messages: a job that could never start says why", "[unit]") {
    Answer answer;
    answer.registered = sample_terms({"80/min", "5/s", "1/d"});
    const Registration by_ops{*answer.registered, 0, "ops@db1"};
    CHECK(off_terminal(say_conflict(sample_key("acme"), sample_terms({"9/h", "8/2d"}), answer, by_ops)) ==
          "jobthrottle: acme is registered at 5/s, 80/min and 1/d by ops@db1; with 9/h and 8/2d these are "
          "more than four limits. Leave some away, or say --override. Nothing was run.  key=acme exit=78");
    answer.terms = sample_terms({"90/min"});
    answer.registered = std::nullopt;
    CHECK(off_terminal(say_too_costly(sample_key("acme"), 1500, answer, std::nullopt)) ==
          "jobthrottle: acme: a job of --cost 1500 could never start under 90/min. Nothing was run."
          "  key=acme cost=1500 exit=78");
    answer.registered = answer.terms;
    CHECK_THAT(on_terminal(say_too_costly(sample_key("acme"), 1500, answer, by_ops)),
               ContainsSubstring("under 90/min (acme is registered at 90/min by ops@db1). Nothing"));
    CHECK(off_terminal(say_nested(sample_key("db"))) ==
          "jobthrottle: this job is part of a run that holds a place of db, and could wait for itself for "
          "ever. Leave the key away inside. Nothing was run.  key=db exit=78");
}

TEST_CASE("messages: what register and unregister print", "[unit]") {
    const Key key = sample_key("acme");
    const Registration before{sample_terms({"60/min"}, 2), 0, "ops@db1"};
    CHECK(register_text(key, sample_terms({"80/min"}, 4), std::nullopt) ==
          "acme is registered at 80/min, 4 at once");
    CHECK(register_text(key, sample_terms({"80/min"}), before) ==
          "acme is registered at 80/min, before at 60/min, 2 at once by ops@db1");
    CHECK(unregister_text(key, before) ==
          "acme is no longer registered (it was at 60/min, 2 at once by ops@db1)");
    CHECK(unregister_text(key, std::nullopt) == "acme was not registered");
}

TEST_CASE("messages: register says what becomes of other numbers", "[unit]") {
    const Key key = sample_key("acme");
    const auto beside = say_beside_registered(key, sample_terms({"5/s"}), sample_terms({"80/min"}, 4));
    REQUIRE(beside);
    CHECK(off_terminal(*beside) ==
          "jobthrottle: acme was last run with 5/s: from now on a job that brings 5/s is held to 5/s and "
          "80/min, 4 at once  key=acme last=5/s");
    const auto too_many =
        say_beside_registered(key, sample_terms({"5/s", "9/2s", "9/3s"}), sample_terms({"80/min", "9/d"}));
    REQUIRE(too_many);
    CHECK_THAT(on_terminal(*too_many),
               ContainsSubstring("is refused (78), for these would be more than four limits"));
    CHECK_FALSE(say_beside_registered(key, sample_terms({"90/min"}), sample_terms({"80/min"})));
    CHECK(say_beside_registered(key, sample_terms({"70/min"}), sample_terms({"80/min"})));
    CHECK_FALSE(say_beside_registered(key, Terms{}, sample_terms({"80/min"})));
}

TEST_CASE("messages: a place that was lost, and one that is held again", "[unit]") {
    const Key key = sample_key("db");
    CHECK(off_terminal(say_lease_lost(key, 12s, false)) ==
          "jobthrottle: db: the place of this job was lost 12 s ago, not renewed for longer than --lock-for: "
          "another may run beside it  key=db why=lease_lost lost_ms=12000");
    CHECK(off_terminal(say_lease_lost(key, 0s, true)) ==
          "jobthrottle: db: the place of this job could not be renewed: the command is ended, for its place "
          "could be another's (--on-lease-lost kill)  key=db why=lease_lost lost_ms=0");
    CHECK(off_terminal(say_lease_lost(key, 12s, true)) ==
          "jobthrottle: db: the place of this job was lost 12 s ago: the command is ended, for its place "
          "could be another's (--on-lease-lost kill)  key=db why=lease_lost lost_ms=12000");
    CHECK(off_terminal(say_lease_lost(key, 0s, false)) ==
          "jobthrottle: db: the place of this job is gone from the store (released by another, or lost with "
          "the store's state): another may run beside it  key=db why=lease_lost lost_ms=0");
    CHECK(off_terminal(say_lease_retaken(key, 90s)) ==
          "jobthrottle: db: the place that was lost 1m30s ago is held again  key=db why=lease_retaken "
          "lost_ms=90000");
    CHECK(off_terminal(say_lost(key, 12s, 75)) ==
          "jobthrottle: db: the lease was lost 12 s ago: another may have its place  key=db why=lost "
          "lost_ms=12000 exit=75");
    CHECK(off_terminal(say_not_held(key, 75)) ==
          "jobthrottle: db: not held: never taken, released before, or lost more than 10 minutes ago  key=db "
          "why=not_held exit=75");
    CHECK(released_text(
              {sample_holder(72s, 8s, 1s, "etl.sh ops@db1:4121"), sample_holder(5s, 5s, 1s, "sync")}) ==
          "released etl.sh of ops@db1:4121, held for 1m12s\nreleased sync, held for 5 s\n");
    CHECK(released_text({}).empty());
}
