// SPDX-License-Identifier: MIT
// What is said of refusals and pauses, of the store, and of the attempts.
#include "core/slots.hpp"
#include "output/messages.hpp"
#include "support/catch.hpp"
#include "unit/output_samples.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

const LocalTime k_now{k_sample_time, 3600};  // 15:03:22 there

std::string on_terminal(const Line& line) {
    return render(line, true);
}

std::string off_terminal(const Line& line) {
    return render(line, false);
}

}  // namespace

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
        "input. Give it a file instead, as in jobthrottle run ... < FILE  key=acme why=refused job=gh "
        "pause_ms=0 exit=9");
    view.pause = Duration{k_forever_us};
    view.note = PauseNote{};
    CHECK(off_terminal(say_refused(view, false, true)) ==
          "jobthrottle: acme: refused: paused until it is resumed; lines up again  key=acme why=refused");
}

TEST_CASE("messages: what a client said stands for itself", "[unit]") {
    RefusalView view{sample_key("acme"), sample_refusal(), 1min, k_now};
    view.note.summary = "said by curl";
    view.note.line = "curl: (22) The requested URL returned error: 429";
    CHECK(on_terminal(say_refused(view, false, true)) ==
          "jobthrottle: acme: \"curl: (22) The requested URL returned error: 429\", seen by gh on ci-07: "
          "paused "
          "for 1m00s, until 15:04:22; lines up again");
    view.note.line.clear();
    CHECK_THAT(on_terminal(say_refused(view, false, true)),
               Catch::Matchers::ContainsSubstring("acme: said by curl, seen by gh on ci-07: paused"));
}

TEST_CASE("messages: evidence of any length is cut", "[unit]") {
    RefusalView view{sample_key("acme"), sample_refusal(), 1s, k_now};
    view.note.summary = "HTTP 429, Retry-After: " + std::string(100'000, '9');
    CHECK(on_terminal(say_refused(view, true, true)).size() < 400);
    view.note.summary = "said by curl";
    view.note.line = std::string(100'000, '9');
    CHECK(on_terminal(say_refused(view, true, true)).size() < 400);
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
    const Key key = sample_key("acme");
    CHECK(off_terminal(say_retrying({key, "curl", 3, 0, 1, 1200ms})) ==
          "jobthrottle: acme: curl failed (exit 3): trying again in 1.2 s, 1 try left"
          "  key=acme job=curl exit=3 tries_left=1 backoff_ms=1200");
    CHECK(on_terminal(say_retrying({key, "curl", 137, 9, 2, 0s})) ==
          "jobthrottle: acme: curl failed (signal 9): trying again, 2 tries left");
    CHECK(off_terminal(say_output_lost(28)) ==
          "jobthrottle: some output of the command is lost: No space left on device  errno=28");
    CHECK(off_terminal(say_warning("odd")) == "jobthrottle: odd");
}

TEST_CASE("messages: what pause and resume print", "[unit]") {
    const Key key = sample_key("acme");
    CHECK(pause_text(key, {10min, false, true}, k_now) == "acme is paused for 10m00s, until 15:13:22");
    CHECK(pause_text(key, {10min, false, false}, k_now) ==
          "acme stays paused for 10m00s, until 15:13:22: a pause that ends no sooner is in force");
    CHECK(pause_text(key, {Duration{k_forever_us}, true, true}, k_now) ==
          "acme is paused until it is resumed");
    CHECK(pause_text(key, {0s, false, false}, k_now) == "acme is not paused");
    CHECK(resume_text(key, true) == "acme is no longer paused");
    CHECK(resume_text(key, false) == "acme was not paused");
}
