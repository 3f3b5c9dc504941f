// SPDX-License-Identifier: MIT
#include <random>

#include "core/slots.hpp"
#include "output/columns.hpp"
#include "output/inspect.hpp"
#include "support/catch.hpp"
#include "unit/output_samples.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("inspect: a free key", "[unit]") {
    InspectView view = sample_view();
    CHECK(inspect_text(view, 80, false) ==
          "github   FREE, the next job starts at once                              14:03:22\n"
          "  store     redis://ci-redis:6379/0\n"
          "  rate      80/min, one every 750 ms\n"
          "  window    3 of 80 in 60 s\n"
          "  waiting   nobody\n");
    view.report.registration = Registration{view.report.terms, k_sample_s - 86400, "ops@db1"};
    view.report.note = sample_refusal();
    view.shared_note = "shared by user dev only";
    CHECK(inspect_text(view, 120, false) ==
          "github   FREE, the next job starts at once                              14:03:22\n"
          "  store     redis://ci-redis:6379/0   shared by user dev only\n"
          "  rate      80/min, one every 750 ms   registered by ops@db1, 10 Nov 14:03\n"
          "  window    3 of 80 in 60 s\n"
          "  waiting   nobody\n"
          "  last 429  14:01:07, 2m15s ago: HTTP 429, Retry-After: 1800, seen by gh on ci-07\n");
}

TEST_CASE("inspect: a busy key shows who waits and what holds the first", "[unit]") {
    CHECK(inspect_text(sample_view_with_line(3), 80, false) ==
          "github   BUSY, 3 waiting; a job coming now starts in about 2.7 s        14:03:22\n"
          "  store     redis://ci-redis:6379/0\n"
          "  rate      80/min, one every 750 ms   <- holds the first\n"
          "  window    80 of 80 in 60 s\n"
          "  waiting   place  job          where         waited  starts in\n"
          "                1  deploy#4313  ci@ci-03:991  20 s    0.4 s\n"
          "                2  deploy#4314  ci@ci-03:992  19.3 s  1.2 s\n"
          "                3  deploy#4315  ci@ci-03:993  18.6 s  1.9 s\n");
}

TEST_CASE("inspect: with a burst the window holds the first, once it is full", "[unit]") {
    InspectView view = sample_view_with_line(1);
    put_terms(view.report, sample_terms({"80/min,burst=80"}), 80, 0);
    CHECK_THAT(inspect_text(view, 80, false),
               ContainsSubstring("one every 750 ms, up to 80 at once when idle\n"
                                 "  window    80 of 80 in 60 s   <- holds the first\n"));
    view.report.limits[0].remaining = 1;
    CHECK_THAT(inspect_text(view, 90, false), ContainsSubstring("at once when idle   <- holds the first\n"));
}

TEST_CASE("inspect: a long line shows its head and its last", "[unit]") {
    CHECK_THAT(inspect_text(sample_view_with_line(11), 80, false),
               ContainsSubstring("10  deploy#4322") && !ContainsSubstring("more"));
    CHECK_THAT(inspect_text(sample_view_with_line(1012), 80, false),
               ContainsSubstring("                9  deploy#4321  ci@ci-03:999   14.4 s  6.4 s\n"
                                 "               ... 1,002 more (inspect --all)\n"
                                 "             1012  deploy#5324  ci@ci-03:2002  0 s     12m39s\n"));
}

TEST_CASE("inspect: all of a long line where that is asked for", "[unit]") {
    InspectView view = sample_view_with_line(40);
    view.everybody = true;
    const std::string text = inspect_text(view, 80, false);
    CHECK_THAT(text, ContainsSubstring("  20  deploy#4332") && !ContainsSubstring("more"));
}

TEST_CASE("inspect: nothing holds the first where nobody waits", "[unit]") {
    InspectView view = sample_view_with_line(0);
    CHECK_THAT(inspect_text(view, 80, false), ContainsSubstring("BUSY") && !ContainsSubstring("<-"));
    put_terms(view.report, sample_terms({"80/min,burst=80"}), 80, 0);
    CHECK_THAT(inspect_text(view, 80, false), ContainsSubstring("BUSY") && !ContainsSubstring("<-"));
}

TEST_CASE("inspect: where no job has come no limit is known, rather than none meant", "[unit]") {
    InspectView view = sample_view();
    view.report = KeyReport{};
    view.report.known = true;
    view.report.note = sample_pause_by_hand();
    CHECK_THAT(inspect_text(view, 80, false), ContainsSubstring("  rate      no limit is known now\n"));
    view.report.waiting.push_back(sample_waiter(1, 3min, 0s, "job a@b:1"));
    CHECK_THAT(inspect_text(view, 80, false), ContainsSubstring("  rate      none: pauses alone\n"));
}

TEST_CASE("inspect: a narrow screen loses columns, never its right edge", "[unit]") {
    CHECK(inspect_text(sample_view_with_line(2), 40, false) ==
          "github\n"
          "  BUSY, 2 waiting; a job coming now\n"
          "  starts in about 1.9 s\n"
          "  store     redis://ci-redis:6379/0\n"
          "  rate      80/min, one every 750 ms\n"
          "            <- holds the first\n"
          "  window    80 of 80 in 60 s\n"
          "  waiting   2\n"
          "  place  job          waited  starts in\n"
          "      1  deploy#4313  20 s    0.4 s\n"
          "      2  deploy#4314  19.3 s  1.2 s\n");
}

TEST_CASE("inspect: a key that a provider paused shows the evidence, what follows, and the way out",
          "[unit]") {
    CHECK(inspect_text(paused_view(), 80, false) ==
          "github   PAUSED until 14:31:07, 27m45s left                             14:03:22\n"
          "  store     redis://ci-redis:6379/0\n"
          "  why       HTTP 429, Retry-After: 1800: \"HTTP/2 429\"\n"
          "            14:01:07 on stdout of gh, dev@ci-07:4121\n"
          "  rate      80/min, one every 750 ms\n"
          "  window    80 of 80 in 60 s\n"
          "  waiting   place  job          where         waited  starts in\n"
          "                1  deploy#4313  ci@ci-03:991  20 s    27m46s\n"
          "                2  deploy#4314  ci@ci-03:992  19.3 s  27m47s\n"
          "                3  deploy#4315  ci@ci-03:993  18.6 s  27m47s\n"
          "  then      3 waiting start one every 750 ms in their order, the last about\n"
          "            14:31:09\n"
          "  undo      jobthrottle resume github\n");
}

TEST_CASE("inspect: a pause by hand, and one without an end", "[unit]") {
    InspectView view = paused_view();
    view.report.note = sample_pause_by_hand();
    view.report.paused_by_hand = true;
    view.report.waiting.resize(1);
    const std::string text = inspect_text(view, 80, false);
    CHECK_THAT(text,
               ContainsSubstring("  why       by hand: deploy window\n            14:01:07, dev@box:771\n"));
    CHECK_THAT(text, ContainsSubstring("  then      1 waiting starts about 14:31:08\n"));

    view.report.paused_for_ever = true;
    view.report.paused_for = view.report.waiting[0].starts_in = Duration{k_forever_us - 1};
    view.report.note->reason.clear();
    const std::string for_ever = inspect_text(view, 80, false);
    CHECK_THAT(for_ever, ContainsSubstring("github   PAUSED until it is resumed  "));
    CHECK_THAT(for_ever, ContainsSubstring("  why       by hand\n"));
    CHECK_THAT(for_ever, ContainsSubstring("  then      1 waiting starts\n"));
    CHECK_THAT(for_ever, ContainsSubstring("20 s    when resumed\n"));

    view.report.note = std::nullopt;
    view.report.paused_by_hand = false;
    CHECK_THAT(inspect_text(view, 80, false), ContainsSubstring("  why       not known\n"));
}

TEST_CASE("inspect: after a pause those who wait start as places are free", "[unit]") {
    InspectView view = paused_view();
    put_terms(view.report, sample_terms({"80/min"}, 2));
    CHECK_THAT(inspect_text(view, 100, false),
               ContainsSubstring("  then      3 waiting start one every 750 ms in their order, as places are "
                                 "free\n"));
    put_terms(view.report, sample_terms({}, 2));
    CHECK_THAT(inspect_text(view, 80, false),
               ContainsSubstring("  then      3 waiting start when a place is free\n"));
}

TEST_CASE("inspect: those who came late are counted apart", "[unit]") {
    InspectView view = sample_view();
    Waiter late = sample_waiter(1, 3min, 0s, "job a@b:1");
    late.place = Place::out;
    view.report.waiting = {late, late};
    CHECK_THAT(inspect_text(view, 80, false),
               ContainsSubstring("  waiting   nobody\n"
                                 "  late      2 did not come back in time, and hold nobody up\n"));
}

TEST_CASE("inspect: a key with pauses alone", "[unit]") {
    InspectView view = sample_view();
    put_terms(view.report, Terms{});
    view.report.note = sample_pause_by_hand();
    CHECK(inspect_text(view, 80, false) ==
          "github   FREE, the next job starts at once                              14:03:22\n"
          "  store     redis://ci-redis:6379/0\n"
          "  rate      none: pauses alone\n"
          "  waiting   nobody\n"
          "  paused    14:01:07, 2m15s ago: deploy window, by dev on box\n");
}

TEST_CASE("inspect: the last refusal is called after what was seen", "[unit]") {
    InspectView view = sample_view();
    view.report.note = sample_refusal();
    view.report.note->summary = "said by curl";
    view.report.note->line = "curl: (22) The requested URL returned error: 429";
    CHECK_THAT(inspect_text(view, 120, false),
               ContainsSubstring("  last 429  14:01:07, 2m15s ago: \"curl: (22) The requested URL"));
    view.report.note->summary = "exit code 254";
    view.report.note->line.clear();
    CHECK_THAT(inspect_text(view, 80, false),
               ContainsSubstring("  refused   14:01:07, 2m15s ago: exit code 254, seen by gh on ci-07\n"));
}

TEST_CASE("inspect: a key that is not known names the nearest", "[unit]") {
    InspectView view = sample_view();
    view.report = KeyReport{};
    CHECK(inspect_text(view, 80, false) == "github is not known\n  store     redis://ci-redis:6379/0\n");
    view.nearest = {"githob", "git\thub"};
    CHECK(inspect_text(view, 80, false) ==
          "github is not known (nearest: githob, git\\thub)\n  store     redis://ci-redis:6379/0\n");
}

TEST_CASE("inspect: colour marks the state and moves nothing", "[unit]") {
    CHECK_THAT(inspect_text(sample_view(), 80, true),
               ContainsSubstring("github   \x1b[32mFREE\x1b[0m, the next"));
    CHECK_THAT(inspect_text(sample_view_with_line(1), 80, true), ContainsSubstring("\x1b[33mBUSY\x1b[0m, 1"));
    CHECK_THAT(inspect_text(paused_view(), 80, true), ContainsSubstring("\x1b[31mPAUSED\x1b[0m until"));
    for (const int width : {20, 40, 80, 200}) {
        CHECK(without_colour(inspect_text(paused_view(), width, true)) ==
              inspect_text(paused_view(), width, false));
    }
}

TEST_CASE("inspect: no line is wider than the screen, whatever the names", "[unit]") {
    std::mt19937 random(20261111);
    const std::vector<std::string> pieces{"a",          "-",  " ",        "\u65e5", "e\u0301",
                                          "\U0001F600", "\n", "\x1b[31m", "\xff",   "longword",
                                          "\\",         "\t", "7"};
    const auto text_of = [&](std::size_t most) {
        std::string text;
        while (text.size() < most)
            text += pieces[random() % pieces.size()];
        return text.substr(0, most);
    };
    for (int round = 0; round < 40; ++round) {
        InspectView view = round % 2 == 0 ? paused_view() : sample_view_with_line(1 + round);
        view.key = sample_key(text_of(1 + random() % 480));
        view.store = text_of(random() % 200);
        view.shared_note = text_of(random() % 60);
        view.nearest = {text_of(random() % 100), text_of(random() % 100)};
        view.report.known = round % 7 != 0;
        view.report.registration = Registration{view.report.terms, k_sample_s, text_of(random() % 100)};
        view.report.note = PauseNote{text_of(random() % 300),
                                     text_of(200),
                                     "stdout",
                                     text_of(40),
                                     text_of(60),
                                     text_of(random() % 90),
                                     0};
        if (round % 4 == 0) view.report.note->summary.clear();
        for (auto& waiter : view.report.waiting)
            waiter.who = text_of(random() % 160);
        if (round % 3 == 0) put_terms(view.report, sample_terms({"10/s", "500/min,burst=9"}, 2), 9, 0);
        view.report.places = round % 5;
        for (int i = 0; i < round % 5; ++i) {
            view.report.holding.push_back(
                sample_holder(1h * i, 1s * i, 30s - 1h * (round % 2), text_of(random() % 160)));
            view.report.holding.back().held = round % 4 != 0;
            view.report.holding.back().place = random() % 4 != 0;
        }
        const std::vector<NamedReport> keys{{view.key, view.report}, {sample_key("b"), view.report}};
        for (int width = 20; width <= 200; ++width) {
            for (const auto& text : {inspect_text(view, width, false), keys_text(keys, width, false),
                                     jobs_text(view.report.waiting, view.report.holding, width)}) {
                for (const auto& line : lines_of(text)) {
                    if (display_width(line) <= width && is_clean_line(line)) continue;
                    INFO("width " << width << ", round " << round);
                    CHECK(line == "a line that fits and is clean");
                }
            }
        }
    }
}

TEST_CASE("inspect: no control character from outside reaches the screen", "[unit]") {
    for (const auto& bad : troublesome_bytes()) {
        const std::string text = "x" + bad + "y";
        for (const bool by_hand : {false, true}) {
            for (const bool paused : {false, true}) {
                InspectView view = paused ? paused_view() : sample_view_with_line(1);
                view.key = sample_key(text);
                view.store = view.shared_note = text;
                view.report.registration = Registration{view.report.terms, 1, text};
                view.report.note =
                    PauseNote{by_hand ? "" : text, text, text, text, text + "@" + text, text, 1};
                view.report.waiting[0].who = text + " " + text;
                view.report.holding = {sample_holder(1s, 1s, 1s, text + " " + text)};
                for (const auto& line : lines_of(inspect_text(view, 200, false))) {
                    INFO(line);
                    CHECK(is_clean_line(line));
                }
                for (const auto& line : lines_of(keys_text({{view.key, view.report}}, 200, false)))
                    CHECK(is_clean_line(line));
            }
        }
    }
}
