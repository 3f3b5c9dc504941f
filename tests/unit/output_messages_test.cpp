// SPDX-License-Identifier: MIT
#include "core/duration.hpp"
#include "core/slots.hpp"
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
    answer.rate = sample_rate("20/min");
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
    // The pause is over, the question not yet asked again.
    CHECK(on_terminal(say_waiting({key, in_pause(false), 1666s, 1666s, sample_refusal(), k_now})) ==
          "jobthrottle: waiting for acme: 14 ahead, starts in about 14 s (rate 20/min)");
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
    view.waited = 20min;
    view.answer.ahead = 0;
    CHECK(off_terminal(say_waited_out(view)) ==
          "jobthrottle: acme is busy: could start in about 30m00s (rate 20/min). Has waited 20m00s, all of "
          "--max-wait 20m: not run again.  key=acme why=line ahead=0 wait_s=1800 waited_ms=1200000 "
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

TEST_CASE("messages: a refusal says what was seen, by whom, and what follows", "[unit]") {
    RefusalView view{sample_key("acme"), sample_refusal(), 30min, k_now};
    CHECK(off_terminal(say_refused(view, false, true)) ==
          "jobthrottle: acme: HTTP 429, Retry-After: 1800, seen by gh on ci-07: paused for 30m00s, until "
          "15:33:22; lines up again  key=acme why=refused job=gh pause_ms=1800000");
    CHECK(on_terminal(say_refused(view, true, false)) ==
          "jobthrottle: acme: HTTP 429, Retry-After: 1800, seen by gh on ci-07: paused for 30m00s, until "
          "15:33:22 (the default: its delay cannot be read)");
    CHECK(
        off_terminal(say_rerun_never(view, 75)) ==
        "jobthrottle: acme: HTTP 429, Retry-After: 1800, seen by gh on ci-07: paused for 30m00s, until "
        "15:33:22. With --rerun never: not run again.  key=acme why=refused job=gh pause_ms=1800000 exit=75");
    CHECK_THAT(
        on_terminal(say_max_refusals(view, 1, 75)),
        Catch::Matchers::EndsWith(". Refused once, which is all that --max-refusals allows: not run again."));
    CHECK_THAT(on_terminal(say_max_refusals(view, 3, 75)),
               Catch::Matchers::EndsWith(
                   ". Refused 3 times, which is all that --max-refusals allows: not run again."));
    view.pause = 0s;
    CHECK(
        off_terminal(say_half_read_input(view, 9)) ==
        "jobthrottle: acme: HTTP 429, Retry-After: 1800, seen by gh on ci-07. It has read from a pipe on its "
        "standard input, which cannot be given again as a file could be: not run again with half of its "
        "input.  key=acme why=refused job=gh pause_ms=0 exit=9");
    view.pause = Duration{k_forever_us};
    view.note = PauseNote{};
    CHECK(off_terminal(say_refused(view, false, true)) ==
          "jobthrottle: acme: refused: paused until it is resumed; lines up again  key=acme why=refused");
}

TEST_CASE("messages: evidence of any length is cut", "[unit]") {
    RefusalView view{sample_key("acme"), sample_refusal(), 1s, k_now};
    view.note.summary = "HTTP 429, Retry-After: " + std::string(100'000, '9');
    CHECK(on_terminal(say_refused(view, true, true)).size() < 400);
}

TEST_CASE("messages: other numbers name both, and who registered", "[unit]") {
    const Key key = sample_key("acme");
    const Registration by_ops{sample_rate("80/min"), 0, "ops@db1"};
    Answer answer;
    answer.rate = answer.registered = sample_rate("80/min");
    CHECK(
        off_terminal(say_other_numbers(key, sample_rate("100/min"), answer, by_ops)) ==
        "jobthrottle: acme is registered at 80/min by ops@db1: this job is held to that, not to its 100/min "
        "(--override lets it)  key=acme rate=100/min registered=80/min");
    CHECK(
        on_terminal(say_other_numbers(key, sample_rate("100/min"), answer, std::nullopt)) ==
        "jobthrottle: acme is registered at 80/min: this job is held to that, not to its 100/min (--override "
        "lets it)");
    answer.rate = sample_rate("60/min");
    answer.registered = sample_rate("80/min");
    CHECK_THAT(on_terminal(say_other_numbers(key, sample_rate("60/min,burst=9"), answer, std::nullopt)),
               Catch::Matchers::ContainsSubstring("held to 60/min, not to its 60/min,burst=9"));
    answer.registered = std::nullopt;
    answer.other_rate = sample_rate("90/min");
    CHECK(
        off_terminal(say_other_numbers(key, sample_rate("60/min"), answer, std::nullopt)) ==
        "jobthrottle: acme was last asked for with 90/min, this job comes with 60/min: each is judged by its "
        "own numbers  key=acme rate=60/min other_rate=90/min");
}

TEST_CASE("messages: a store that is away, back, or says no", "[unit]") {
    const Error timed_out = unavailable_error("connect: timed out after 1 s");
    const std::string away =
        "jobthrottle: store redis://ci-redis:6379 is away (connect: timed out after 1 s): ";
    const auto say = [&](std::optional<OnStoreError> policy) {
        return off_terminal(say_store_away("redis://ci-redis:6379", timed_out, policy));
    };
    CHECK(say(OnStoreError::local) == away +
                                          "throttling on this machine only until it is back  "
                                          "store=redis://ci-redis:6379 policy=local");
    CHECK(say(OnStoreError::open) == away + "running unthrottled  store=redis://ci-redis:6379 policy=open");
    CHECK(say(OnStoreError::closed) == away + "nothing is run  store=redis://ci-redis:6379 policy=closed");
    CHECK(say(std::nullopt) == away + "waiting for it to come back  store=redis://ci-redis:6379 policy=wait");
    CHECK(off_terminal(say_store_back("local:/a b")) ==
          "jobthrottle: store local:/a b is back  store=\"local:/a b\"");
    CHECK(off_terminal(say_store_unusable("redis://ci-redis:6379", timed_out, false)) ==
          away +
              "nothing was run (--on-store-error local or open would go on)  store=redis://ci-redis:6379 "
              "exit=69");
    CHECK(on_terminal(say_store_unusable("redis://x", refused_error("NOPERM no rights"), true)) ==
          "jobthrottle: store redis://x: NOPERM no rights; not run again");
    CHECK(on_terminal(say_state_lost(sample_key("acme"), 12s)) ==
          "jobthrottle: the store lost what it knew of acme: this job lines up again; the 12 s it has waited "
          "still count");
    CHECK(on_terminal(say_state_lost(sample_key("acme"), 0s)) ==
          "jobthrottle: the store lost what it knew of acme: this job lines up again");
}

TEST_CASE("messages: attempts and output", "[unit]") {
    CHECK(off_terminal(say_retrying(1, 1200ms)) ==
          "jobthrottle: the command failed: trying again in 1.2 s, 1 try left  tries_left=1 backoff_ms=1200");
    CHECK(on_terminal(say_retrying(2, 0s)) == "jobthrottle: the command failed: trying again, 2 tries left");
    CHECK(off_terminal(say_output_lost(28)) ==
          "jobthrottle: some output of the command is lost: No space left on device  errno=28");
    CHECK(off_terminal(say_warning("odd")) == "jobthrottle: odd");
}

TEST_CASE("messages: a job without a limit names the nearest key", "[unit]") {
    CHECK(off_terminal(say_no_limit(sample_key("amce"), {"acme"})) ==
          "jobthrottle: no limit known for key 'amce' (nearest: acme). Give --rate, register one, or say "
          "--pause-only. Nothing was run.  key=amce exit=78");
    CHECK_THAT(on_terminal(say_no_limit(sample_key("amce"), {"acme", "a\nb"})),
               Catch::Matchers::ContainsSubstring("(nearest: acme, a\\nb)."));
    CHECK_THAT(on_terminal(say_no_limit(sample_key("amce"), {})),
               Catch::Matchers::ContainsSubstring("for key 'amce'. Give"));
    Answer answer;
    answer.registered = sample_rate("80/min");
    CHECK(off_terminal(say_conflict(sample_key("acme"), sample_rate("5/s"), answer,
                                    Registration{sample_rate("80/min"), 0, "ops@db1"})) ==
          "jobthrottle: acme is registered at 80/min by ops@db1; 5/s has another period and cannot stand "
          "beside "
          "it. Leave the rate away, or say --override. Nothing was run.  key=acme exit=78");
}

TEST_CASE("messages: what pause, resume, register and unregister print", "[unit]") {
    const Key key = sample_key("acme");
    CHECK(pause_text(key, {10min, false, true}, k_now) == "acme is paused for 10m00s, until 15:13:22");
    CHECK(pause_text(key, {10min, false, false}, k_now) ==
          "acme stays paused for 10m00s, until 15:13:22: a pause that ends no sooner is in force");
    CHECK(pause_text(key, {Duration{k_forever_us}, true, true}, k_now) ==
          "acme is paused until it is resumed");
    CHECK(pause_text(key, {0s, false, false}, k_now) == "acme is not paused");
    CHECK(resume_text(key, true) == "acme is no longer paused");
    CHECK(resume_text(key, false) == "acme was not paused");
    const Registration before{sample_rate("60/min"), 0, "ops@db1"};
    CHECK(register_text(key, sample_rate("80/min"), std::nullopt) == "acme is registered at 80/min");
    CHECK(register_text(key, sample_rate("80/min"), before) ==
          "acme is registered at 80/min, before at 60/min by ops@db1");
    CHECK(unregister_text(key, before) == "acme is no longer registered (it was at 60/min by ops@db1)");
    CHECK(unregister_text(key, std::nullopt) == "acme was not registered");
}

TEST_CASE("messages: no control character or broken UTF-8 from outside reaches the line", "[unit]") {
    for (const std::string& bad : troublesome_bytes()) {
        const std::string text = "x" + bad + "y";
        const Key key = sample_key(text);
        PauseNote note{text, text, text, text, text + "@" + text + ":1", text, 0};
        PauseNote by_hand = note;
        by_hand.summary.clear();
        const Registration registered{sample_rate("80/min"), 0, text};
        Answer answer = in_pause(false);
        answer.registered = answer.other_rate = sample_rate("80/min");
        const Error error = unavailable_error(text);
        const ThrottledView view{key, answer, 1min, 1s, 1min, note, k_now};
        const RefusalView refusal{key, note, 1min, k_now};
        for (const Line& line :
             {say_waiting({key, answer, 0s, 0s, note, k_now}),
              say_waiting({key, answer, 0s, 0s, by_hand, k_now}), say_not_answered(key, text, 1s),
              say_not_now(view), say_too_long(view), say_waited_out(view), say_refused(refusal, true, true),
              say_rerun_never(refusal, 75), say_max_refusals(refusal, 1, 75),
              say_half_read_input(refusal, 75), say_other_numbers(key, std::nullopt, answer, registered),
              say_state_lost(key, 1s), say_store_away(text, error, std::nullopt), say_store_back(text),
              say_store_unusable(text, error, true), say_warning(text), say_error(error),
              say_no_limit(key, {text}), say_conflict(key, std::nullopt, answer, registered)}) {
            INFO(render(line, false));
            CHECK(is_clean_line(render(line, true)));
            CHECK(is_clean_line(render(line, false)));
        }
        CHECK(is_clean_line(pause_text(key, {1min, false, true}, k_now)));
        CHECK(is_clean_line(resume_text(key, true)));
        CHECK(is_clean_line(register_text(key, registered.rate, registered)));
        CHECK(is_clean_line(unregister_text(key, registered)));
    }
}
