// SPDX-License-Identifier: MIT
#include "core/duration.hpp"
#include "core/slots.hpp"
#include "output/columns.hpp"
#include "output/messages.hpp"
#include "support/catch.hpp"
#include "unit/output_samples.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

const LocalTime k_now{k_sample_time, 3600};  // 15:03:22 there

Answer in_line() {
    Answer answer;
    answer.why = WaitCause::line;
    answer.earliest = 42s;
    answer.ahead = 14;
    answer.terms = sample_terms({"20/min"});
    return answer;
}

Answer in_pause(bool by_hand) {
    Answer answer = in_line();
    answer.why = WaitCause::paused;
    answer.paused_for = 1665s;
    answer.paused_by_hand = by_hand;
    answer.earliest = 28min;
    return answer;
}

ThrottledView throttled(const Answer& answer, Duration wait) {
    return {sample_key("acme"), answer, wait, 0s, 20min, std::nullopt, k_now};
}

std::string on_terminal(const Line& line) {
    return render(line, true);
}

std::string off_terminal(const Line& line) {
    return render(line, false);
}

}  // namespace

TEST_CASE("messages: fields follow off a terminal only, quoted where they must be", "[unit]") {
    const Line line{"text",
                    {{"key", "acme"}, {"job", "two words"}, {"a", ""}, {"q", "say \"x\""}, {"u", "a=b"}}};
    CHECK(render(line, true) == "jobthrottle: text");
    CHECK(render(line, false) ==
          "jobthrottle: text  key=acme job=\"two words\" a=\"\" q=\"say \\\"x\\\"\" u=\"a=b\"");
    CHECK(render({"text", {}}, false) == "jobthrottle: text");
}

TEST_CASE("messages: a backslash that escapes is not escaped again", "[unit]") {
    CHECK(render(say_error(usage_error("'a\\nb\x1b': want")), true) == "jobthrottle: 'a\\nb\\x1b': want");
    CHECK(off_terminal({"t", {{"k", "a\\b\n"}}}) == "jobthrottle: t  k=a\\\\b\\n");
    CHECK(render({"\\\x07\\", {}}, true) == "jobthrottle: \\\\x07\\");
}

TEST_CASE("messages: a wait says places, forecast and why", "[unit]") {
    const Key key = sample_key("acme");
    CHECK(off_terminal(say_waiting({key, in_line(), 0s, 3s, std::nullopt, k_now})) ==
          "jobthrottle: waiting for acme: 14 ahead, starts in about 42 s (rate 20/min)"
          "  key=acme why=line ahead=14 eta_ms=42000 waited_ms=3000");
    Answer next = in_line();
    next.ahead = 0;
    next.why = WaitCause::rate;
    CHECK(off_terminal(say_waiting({key, next, 2s, 5s, std::nullopt, k_now})) ==
          "jobthrottle: waiting for acme: next in line, starts in about 40 s (rate 20/min)"
          "  key=acme why=rate ahead=0 eta_ms=40000 waited_ms=5000");
    CHECK(on_terminal(say_waiting({key, next, 43s, 5s, std::nullopt, k_now})) ==
          "jobthrottle: waiting for acme: next in line, starts any moment (rate 20/min)");
    CHECK(off_terminal(say_not_answered(key, "redis://ci:6379", 5s)) ==
          "jobthrottle: waiting for acme: no answer yet from store redis://ci:6379"
          "  key=acme why=store store=redis://ci:6379 waited_ms=5000");
}

TEST_CASE("messages: a wait for a place says that all are taken, and no time", "[unit]") {
    const Key key = sample_key("db");
    Answer answer;
    answer.why = WaitCause::lease;
    answer.terms = sample_terms({"20/min"}, 2);
    answer.places = 2;
    answer.ahead = 3;
    answer.earliest = 0s;
    answer.wait = 2s;
    CHECK(off_terminal(say_waiting({key, answer, 0s, 3s, std::nullopt, k_now})) ==
          "jobthrottle: waiting for db: all 2 places taken, 3 ahead (concurrency 2)"
          "  key=db why=lease ahead=3 waited_ms=3000");
    CHECK(live_line({key, answer, 0s, 3s, std::nullopt, k_now}, 100) ==
          "jobthrottle: db: all 2 places taken, 3 ahead (concurrency 2)");
    CHECK(off_terminal(say_not_now({key, answer, 2s, 0s, 20min, std::nullopt, k_now})) ==
          "jobthrottle: db is busy: all 2 places taken, 3 ahead (concurrency 2). With --no-wait: not run."
          "  key=db why=lease ahead=3 waited_ms=0 max_wait_ms=1200000 exit=75");
    answer.why = WaitCause::line;  // those ahead wait for the same
    CHECK_THAT(off_terminal(say_waiting({key, answer, 0s, 3s, std::nullopt, k_now})),
               Catch::Matchers::ContainsSubstring("all 2 places taken, 3 ahead") &&
                   Catch::Matchers::ContainsSubstring("why=lease"));
    answer.terms = sample_terms({}, 1);
    answer.why = WaitCause::lease;
    answer.places = 1;
    answer.ahead = 0;
    CHECK(on_terminal(say_waiting({key, answer, 0s, 3s, std::nullopt, k_now})) ==
          "jobthrottle: waiting for db: the only place is taken, next in line (concurrency 1)");
    // One that is free was offered to one of those ahead.
    answer.terms = sample_terms({"20/min"}, 2);
    answer.ahead = 3;
    CHECK(off_terminal(say_waiting({key, answer, 0s, 3s, std::nullopt, k_now})) ==
          "jobthrottle: waiting for db: the free place is for those ahead, 3 ahead (concurrency 2)"
          "  key=db why=lease ahead=3 waited_ms=3000");
    answer.places = 0;
    CHECK_THAT(on_terminal(say_not_now({key, answer, 2s, 0s, 20min, std::nullopt, k_now})),
               Catch::Matchers::ContainsSubstring("db is busy: the free places are for those ahead, 3 ahead "
                                                  "(concurrency 2)"));
    // Where successes are counted.
    answer.ahead = 0;
    CHECK(on_terminal(say_waiting({key, answer, 0s, 3s, std::nullopt, k_now})) ==
          "jobthrottle: waiting for db: those under way would fill it, next in line (rate 20/min)");
    answer.terms = sample_terms({"5/h"});
    answer.places = 0;
    CHECK(on_terminal(say_waiting({key, answer, 0s, 3s, std::nullopt, k_now})) ==
          "jobthrottle: waiting for db: those under way would fill it, next in line (rate 5/h)");
    // A rate holds it, and the places are free.
    answer = in_line();
    answer.terms = sample_terms({"10/s", "500/min"}, 2);
    answer.places = 1;
    CHECK(on_terminal(say_waiting({key, answer, 0s, 3s, std::nullopt, k_now})) ==
          "jobthrottle: waiting for db: 14 ahead, starts in about 42 s (rates 10/s and 500/min)");
    answer.terms = sample_terms({}, 2);
    CHECK_THAT(on_terminal(say_waiting({key, answer, 0s, 3s, std::nullopt, k_now})),
               Catch::Matchers::EndsWith("(concurrency 2)"));
    answer.places = 2;
    answer.paused_for = 1min;
    CHECK_THAT(off_terminal(say_waiting({key, answer, 0s, 3s, std::nullopt, k_now})),
               Catch::Matchers::ContainsSubstring("why=paused"));
}

TEST_CASE("messages: too many wait already", "[unit]") {
    ThrottledView view = throttled(in_line(), 0s);
    view.answer.kind = AnswerKind::crowded;
    view.answer.waiting = 12;
    CHECK(off_terminal(say_crowded(view, 10)) ==
          "jobthrottle: acme: 12 jobs wait already, and --max-waiting 10 lets no more line up: not run."
          "  key=acme why=crowded waiting=12 waited_ms=0 exit=75");
    view.answer.waiting = 1;
    view.ran_before = true;
    CHECK(on_terminal(say_crowded(view, 1)) ==
          "jobthrottle: acme: 1 job waits already, and --max-waiting 1 lets no more line up: not run again.");
}

TEST_CASE("messages: a wait in a pause says whose, until when, and how long", "[unit]") {
    const Key key = sample_key("acme");
    CHECK(off_terminal(say_waiting({key, in_pause(false), 0s, 3s, sample_refusal(), k_now})) ==
          "jobthrottle: waiting for acme: paused until 15:31:07 (27m45s left): HTTP 429, Retry-After: 1800, "
          "seen by gh on ci-07; 14 ahead, starts in about 28m00s"
          "  key=acme why=paused ahead=14 eta_ms=1680000 waited_ms=3000");
    CHECK(on_terminal(say_waiting(
              {key, in_pause(true), 10s, 13s, sample_pause_by_hand(), {k_sample_time + 10s, 3600}})) ==
          "jobthrottle: waiting for acme: paused by hand until 15:31:07 (27m35s left): deploy window, by dev "
          "on "
          "box; 14 ahead, starts in about 27m50s");
    CHECK(on_terminal(say_waiting({key, in_pause(false), 0s, 3s, std::nullopt, k_now})) ==
          "jobthrottle: waiting for acme: paused until 15:31:07 (27m45s left); 14 ahead, starts in about "
          "28m00s");
    Answer for_ever = in_pause(true);
    for_ever.paused_for = for_ever.earliest = Duration{k_forever_us - 1'794'405'802'000'000};
    CHECK(
        off_terminal(say_waiting({key, for_ever, 1h, 3s, sample_pause_by_hand(), k_now})) ==
        "jobthrottle: waiting for acme: paused by hand until it is resumed: deploy window, by dev on box; 14 "
        "ahead  key=acme why=paused ahead=14 waited_ms=3000");
    Answer next = in_pause(false);
    next.ahead = 0;
    CHECK(on_terminal(say_waiting({key, next, 0s, 3s, std::nullopt, k_now})) ==
          "jobthrottle: waiting for acme: paused until 15:31:07 (27m45s left); next in line");
    // The pause is over, the question not yet asked again.
    CHECK(on_terminal(say_waiting({key, in_pause(false), 1666s, 1666s, sample_refusal(), k_now})) ==
          "jobthrottle: waiting for acme: 14 ahead, starts in about 14 s (rate 20/min)");
}

TEST_CASE("messages: the line of a terminal begins with the time, and is cut at a word", "[unit]") {
    const WaitView rate{sample_key("slow"), in_line(), 40s, 3s, std::nullopt, k_now};
    CHECK(live_line(rate, 100) == "jobthrottle: slow: starts in 2 s, 14 ahead (rate 20/min)");
    CHECK(live_line(rate, 39) == "slow: starts in 2 s, 14 ahead (rate..");
    WaitView next = rate;
    next.since_answer = 43s;
    next.answer.ahead = 0;
    CHECK(live_line(next, 59) == "slow: starts any moment, next in line (rate 20/min)");

    WaitView paused{sample_key("gh"), in_pause(true), 0s, 3s, sample_pause_by_hand(), k_now};
    CHECK(live_line(paused, 120) ==
          "jobthrottle: gh: 27m45s left, paused by hand until 15:31:07, 14 ahead: deploy window, by dev on "
          "box");
    CHECK(live_line(paused, 37) == "gh: 27m45s left, paused by hand..");
    CHECK(live_line(paused, 20) == "gh: 27m45s left..");
    paused.answer.paused_for = paused.answer.earliest = Duration{k_forever_us};
    paused.note = std::nullopt;
    CHECK(live_line(paused, 120) == "jobthrottle: gh: paused by hand until it is resumed, 14 ahead");
    paused.answer = in_pause(false);
    paused.key = sample_key(std::string(480, 'k'));
    CHECK_THAT(live_line(paused, 37), Catch::Matchers::ContainsSubstring("kk..: 27m45s left"));
    paused.key = sample_key("日本語のキー日本語のキー");
    paused.note = sample_refusal();
    for (int width = 2; width < 140; ++width) {
        INFO(width << ": " << live_line(paused, width));
        CHECK(display_width(live_line(paused, width)) <= width);
    }
}

TEST_CASE("messages: not admitted names key, place, forecast, bound and time waited", "[unit]") {
    ThrottledView view = throttled(in_line(), 41'000'001us);
    CHECK(
        off_terminal(say_not_now(view)) ==
        "jobthrottle: acme is busy: 14 ahead, could start in about 41.1 s (rate 20/min). With --no-wait: not "
        "run.  key=acme why=line ahead=14 wait_s=42 waited_ms=0 max_wait_ms=1200000 exit=75");
    view.exit_code = 0;
    view.max_wait = std::nullopt;
    CHECK(
        off_terminal(say_not_now(view)) ==
        "jobthrottle: acme is busy: 14 ahead, could start in about 41.1 s (rate 20/min). With --no-wait: not "
        "run.  key=acme why=line ahead=14 wait_s=42 waited_ms=0 exit=0");

    view = throttled(in_line(), 30min);
    CHECK(on_terminal(say_too_long(view)) ==
          "jobthrottle: acme is busy: 14 ahead, could start in about 30m00s (rate 20/min). Longer than "
          "--max-wait 20m: not run.");
    view.waited = 3min;
    view.ran_before = true;
    CHECK(on_terminal(say_too_long(view)) ==
          "jobthrottle: acme is busy: 14 ahead, could start in about 30m00s (rate 20/min). Has waited 3m00s, "
          "and would wait longer than --max-wait 20m: not run again.");
    view.waited = 20min + 6ms;
    view.answer.ahead = 0;
    CHECK(off_terminal(say_waited_out(view)) ==
          "jobthrottle: acme is busy: could start in about 30m00s (rate 20/min). Has waited 20m00s, all of "
          "--max-wait 20m: not run again.  key=acme why=line ahead=0 wait_s=1800 waited_ms=1200006 "
          "max_wait_ms=1200000 exit=75");
}

TEST_CASE("messages: not admitted because of a pause names its evidence", "[unit]") {
    ThrottledView view = throttled(in_pause(false), 28min);
    view.note = sample_refusal();
    view.answer.ahead = 0;
    CHECK(off_terminal(say_too_long(view)) ==
          "jobthrottle: acme is paused until 15:31:07 (27m45s left): HTTP 429, Retry-After: 1800, seen by gh "
          "on "
          "ci-07. Longer than --max-wait 20m: not run.  key=acme why=paused ahead=0 wait_s=1680 waited_ms=0 "
          "max_wait_ms=1200000 exit=75");
    view.answer.ahead = 14;
    CHECK(on_terminal(say_not_now(view)) ==
          "jobthrottle: acme is paused until 15:31:07 (27m45s left): HTTP 429, Retry-After: 1800, seen by gh "
          "on "
          "ci-07; 14 ahead, could start in about 28m00s. With --no-wait: not run.");
    // The answer is a minute old.
    view.wait = 27min;
    view.now.wall += 1min;
    CHECK_THAT(on_terminal(say_not_now(view)),
               Catch::Matchers::ContainsSubstring("until 15:31:07 (26m45s left)"));
    view.answer.paused_by_hand = true;
    view.note = sample_pause_by_hand();
    view.answer.paused_for = view.wait = Duration{k_forever_us};
    view.waited = 20min;
    CHECK(off_terminal(say_waited_out(view)) ==
          "jobthrottle: acme is paused by hand until it is resumed: deploy window, by dev on box. Has waited "
          "20m00s, all of --max-wait 20m: not run.  key=acme why=paused ahead=14 waited_ms=1200000 "
          "max_wait_ms=1200000 exit=75");
}

TEST_CASE("messages: waited out without any answer", "[unit]") {
    ThrottledView view = throttled(Answer{}, 0s);
    view.waited = 20min;
    CHECK(on_terminal(say_waited_out(view)) ==
          "jobthrottle: acme: no start was possible yet. Has waited 20m00s, all of --max-wait 20m: not run.");
}

TEST_CASE("messages: no control character or broken UTF-8 from outside reaches the line", "[unit]") {
    for (const std::string& bad : troublesome_bytes()) {
        const std::string text = "x" + bad + "y";
        const Key key = sample_key(text);
        PauseNote note{text, text, text, text, text + "@" + text + ":1", text, 0};
        PauseNote by_hand = note;
        by_hand.summary.clear();
        const Registration registered{sample_terms({"80/min"}), 0, text};
        Answer answer = in_pause(false);
        answer.registered = answer.other = sample_terms({"80/min"});
        const Error error = unavailable_error(text);
        const ThrottledView view{key, answer, 1min, 1s, 1min, note, k_now};
        const RefusalView refusal{key, note, 1min, k_now};
        for (const Line& line : {say_waiting({key, answer, 0s, 0s, note, k_now}),
                                 say_retrying({key, text, 3, 0, 2, 1s}),
                                 say_no_limit(key, sample_terms({"5/s"}, 2), {}),
                                 *say_beside_registered(key, sample_terms({"5/s"}), registered.terms),
                                 say_crowded(view, 3),
                                 say_lease_lost(key, 1s, false),
                                 say_lease_lost(key, 1s, true),
                                 say_lease_retaken(key, 1s),
                                 say_too_costly(key, 5, answer, registered),
                                 say_nested(key),
                                 say_lost(key, 1s, 75),
                                 say_not_held(key, 75),
                                 say_waiting({key, answer, 0s, 0s, by_hand, k_now}),
                                 say_not_answered(key, text, 1s),
                                 say_not_now(view),
                                 say_too_long(view),
                                 say_waited_out(view),
                                 say_refused(refusal, true, true),
                                 say_rerun_never(refusal, 75),
                                 say_max_refusals(refusal, 1, 75),
                                 say_half_read_input(refusal, 75),
                                 say_other_numbers(key, Terms{}, answer, registered),
                                 say_state_lost(key, 1s),
                                 say_store_away(text, error, std::nullopt),
                                 say_store_back(text),
                                 say_store_unusable(text, error, true),
                                 say_warning(text),
                                 say_error(error),
                                 say_no_limit(key, Terms{}, {text}),
                                 say_conflict(key, Terms{}, answer, registered)}) {
            INFO(render(line, false));
            CHECK(is_clean_line(render(line, true)));
            CHECK(is_clean_line(render(line, false)));
        }
        CHECK(is_clean_line(live_line({key, answer, 0s, 0s, note, k_now}, 300)));
        CHECK(is_clean_line(pause_text(key, {1min, false, true}, k_now)));
        CHECK(is_clean_line(resume_text(key, true)));
        CHECK(is_clean_line(register_text(key, registered.terms, registered)));
        CHECK(is_clean_line(unregister_text(key, registered)));
        const std::string released = released_text({sample_holder(1s, 1s, 1s, text + " " + text)});
        CHECK(is_clean_line(std::string_view(released).substr(0, released.size() - 1)));
    }
}
