// SPDX-License-Identifier: MIT
// How inspect shows several limits and the places of a key, and how keys lists them all.
#include "core/slots.hpp"
#include "output/inspect.hpp"
#include "support/catch.hpp"
#include "unit/output_samples.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("inspect: several limits stand below each other, the first paces", "[unit]") {
    InspectView view = sample_view_with_line(1);
    put_terms(view.report, sample_terms({"500/min", "10/s", "90/h,burst=20"}), 3, 7);
    view.report.registration = Registration{view.report.terms, k_sample_s - 86400, "ops@db1"};
    CHECK_THAT(
        inspect_text(view, 100, false),
        ContainsSubstring("  rate      10/s, one every 100 ms   registered by ops@db1, 10 Nov 14:03   <- "
                          "holds the first\n"
                          "  window    3 of 10 in 1 s\n"
                          "  and       500/min\n"
                          "  window    3 of 500 in 60 s\n"
                          "  and       90/h, one every 40 s, up to 20 at once when idle\n"
                          "  window    3 of 90 in 1h\n"
                          "  waiting   "));
    view.report.limits[1].remaining = 0;
    CHECK_THAT(inspect_text(view, 80, false),
               ContainsSubstring("  window    3 of 500 in 60 s   <- holds the first\n"));
}

TEST_CASE("inspect: who holds the places of a key", "[unit]") {
    InspectView view = sample_view();
    put_terms(view.report, sample_terms({"80/min"}, 4));
    CHECK(inspect_text(view, 80, false) ==
          "github   FREE, the next job starts at once                              14:03:22\n"
          "  store     redis://ci-redis:6379/0\n"
          "  rate      80/min, one every 750 ms\n"
          "  window    3 of 80 in 60 s\n"
          "  at once   0 of 4\n"
          "  waiting   nobody\n");
    view.report.places = 2;
    view.report.holding = {sample_holder(72s, 8s, 52s, "deploy#4312 ci@ci-07:4121"),
                           sample_holder(3100ms, 3100ms, 657s, "sync dev@box:771")};
    CHECK_THAT(inspect_text(view, 80, false),
               ContainsSubstring("  at once   2 of 4   job          where          since  lease\n"
                                 "                     deploy#4312  ci@ci-07:4121  1m12s  renewed 8 s ago\n"
                                 "                     sync         dev@box:771    3.1 s  10m57s left\n"
                                 "  waiting   nobody\n"));
    view.report.holding[0].held = false;
    view.report.holding[0].left = -12s;
    view.report.holding[1].left = -1s;
    CHECK_THAT(inspect_text(view, 80, false), ContainsSubstring("1m12s  lost 12 s ago\n"));
    CHECK_THAT(inspect_text(view, 80, false), ContainsSubstring("3.1 s  while it lives\n"));
    CHECK_THAT(inspect_text(view, 80, false), !ContainsSubstring("c0ffee"));
}

TEST_CASE("inspect: full places hold the first, and nobody knows for how long", "[unit]") {
    InspectView view = sample_view_with_line(2);
    put_terms(view.report, sample_terms({}, 1));
    view.report.available_in = 0s;
    view.report.places = 1;
    view.report.holding = {sample_holder(72s, 8s, 52s, "etl.sh ops@db1:4121")};
    CHECK(inspect_text(view, 80, false) ==
          "github   BUSY, 2 waiting; a job coming now starts when a place is free  14:03:22\n"
          "  store     redis://ci-redis:6379/0\n"
          "  at once   1 of 1   <- holds the first\n"
          "            job     where         since  lease\n"
          "            etl.sh  ops@db1:4121  1m12s  renewed 8 s ago\n"
          "  waiting   place  job          where         waited\n"
          "                1  deploy#4313  ci@ci-03:991  20 s\n"
          "                2  deploy#4314  ci@ci-03:992  19.3 s\n");
    CHECK(inspect_text(view, 40, false) ==
          "github\n"
          "  BUSY, 2 waiting; a job coming now\n"
          "  starts when a place is free\n"
          "  store     redis://ci-redis:6379/0\n"
          "  at once   1 of 1   <- holds the first\n"
          "  job     since  lease\n"
          "  etl.sh  1m12s  renewed 8 s ago\n"
          "  waiting   2\n"
          "  place  job          waited\n"
          "      1  deploy#4313  20 s\n"
          "      2  deploy#4314  19.3 s\n");
    view.report.waiting.clear();
    CHECK_THAT(inspect_text(view, 80, false), ContainsSubstring("BUSY, a job coming now starts when") &&
                                                  ContainsSubstring("  at once   1 of 1   job "));
    view.report.registration = Registration{view.report.terms, 0, "ops@db1"};
    CHECK_THAT(inspect_text(view, 80, false),
               ContainsSubstring("  at once   1 of 1   registered by ops@db1\n            job "));
}

TEST_CASE("inspect: attempts that take no place are shown apart", "[unit]") {
    InspectView view = sample_view();
    view.report.holding = {sample_holder(72s, 8s, 52s, "eval.py ops@db1:4121")};
    view.report.holding[0].place = false;
    CHECK_THAT(inspect_text(view, 80, false),
               ContainsSubstring("  window    3 of 80 in 60 s\n"
                                 "  under way 1, whose cost or success is told later\n"
                                 "            job      where         since  lease\n"
                                 "            eval.py  ops@db1:4121  1m12s  renewed 8 s ago\n"
                                 "  waiting   nobody\n"));
}

TEST_CASE("keys: what is limited most comes first", "[unit]") {
    const KeyReport free = sample_view().report;
    KeyReport for_ever = paused_view().report;
    for_ever.paused_for_ever = true;
    for_ever.paused_for = Duration{k_forever_us - 1};
    KeyReport alone;
    alone.known = true;
    KeyReport busier = sample_view_with_line(3).report;
    busier.available_in = 1h;
    const std::vector<NamedReport> keys{
        {sample_key("b"), free},
        {sample_key("a"), alone},
        {sample_key("busy"), sample_view_with_line(3).report},
        {sample_key("paused"), paused_view().report},
        {sample_key("busier"), busier},
        {sample_key("for ever"), for_ever},
    };
    const std::string text =
        "key       state                 rate    window    waiting\n"
        "for ever  PAUSED until resumed  80/min  80 of 80        3\n"
        "paused    PAUSED 27m45s left    80/min  80 of 80        3\n"
        "busier    BUSY 1h00m            80/min  80 of 80        3\n"
        "busy      BUSY 2.7 s            80/min  80 of 80        3\n"
        "a         FREE                  -       -               0\n"
        "b         FREE                  80/min  3 of 80         0\n";
    CHECK(keys_text(keys, 80, false) == text);
    CHECK(without_colour(keys_text(keys, 80, true)) == text);
    CHECK_THAT(keys_text(keys, 80, true), ContainsSubstring("\nbusy      \x1b[33mBUSY\x1b[0m 2.7 s "));
    CHECK(lines_of(keys_text(keys, 41, false))[1] == "for ever  PAUSED until resumed        3");
    CHECK(lines_of(keys_text(keys, 30, false))[1] == "for ever  PAUSED until resumed");
    CHECK(keys_text({}, 80, false).empty());
}

TEST_CASE("keys: places in use are shown where a concurrency is known", "[unit]") {
    KeyReport full = sample_view().report;
    put_terms(full, sample_terms({}, 2));
    full.places = 2;
    KeyReport two_rates = sample_view().report;
    put_terms(two_rates, sample_terms({"10/s", "500/min"}, 4), 5, 5);
    two_rates.limits[1].remaining = 1;
    two_rates.limits[1].starts = 499;
    const std::vector<NamedReport> keys{{sample_key("db"), full}, {sample_key("acme"), two_rates}};
    CHECK(keys_text(keys, 80, false) ==
          "key   state  rate              window      at once  waiting\n"
          "db    BUSY   -                 -           2 of 2         0\n"
          "acme  FREE   10/s and 500/min  499 of 500  0 of 4         0\n");
    CHECK(lines_of(keys_text(keys, 30, false))[1] == "db    BUSY   2 of 2         0");
}
