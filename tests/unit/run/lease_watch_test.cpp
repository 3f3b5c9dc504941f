// SPDX-License-Identifier: MIT
#include "run/lease_watch.hpp"

#include <csignal>

#include "support/catch.hpp"

using namespace jobthrottle;
using namespace std::chrono_literals;

namespace {

constexpr BootTime k_taken{1h};

BootTime at(Duration since_taken) {
    return k_taken + since_taken;
}

const Result<LeaseAnswer> k_held = LeaseAnswer{LeaseState::held, {}};
const Result<LeaseAnswer> k_lost = LeaseAnswer{LeaseState::lost, 3s};
const Result<LeaseAnswer> k_retaken = LeaseAnswer{LeaseState::retaken, 4s};
const Result<LeaseAnswer> k_unknown = LeaseAnswer{LeaseState::unknown, {}};
const Result<LeaseAnswer> k_away = unavailable_error("connect: timed out");

std::string text_of(const LeaseNews& news) {
    if (news.what == LeaseNews::What::nothing) return "";
    const std::string what = news.what == LeaseNews::What::lost ? "lost " : "retaken ";
    return what + std::to_string(news.lost_for / 1ms) + (news.killed ? " killed" : "");
}

// A question and its answer at once.
std::string ask(LeaseWatch& watch, Duration now, const Result<LeaseAnswer>& answer) {
    CHECK(watch.wants_renewal(at(now)));
    watch.asking(at(now));
    CHECK_FALSE(watch.wants_renewal(at(now)));
    return text_of(watch.answered(at(now), answer, at(now)));
}

// What is told and sent at the times at which something is due, up to `end`, with a store that gives the same
// answer to all questions.
std::vector<std::string> history(LeaseWatch& watch, Duration end, const Result<LeaseAnswer>& answer) {
    std::vector<std::string> seen;
    const auto add = [&seen](Duration now, const std::string& text) {
        if (!text.empty()) seen.push_back(std::to_string(now / 1ms) + ": " + text);
    };
    while (watch.due() <= at(end)) {
        const Duration now = watch.due() - k_taken;
        if (watch.wants_renewal(at(now))) add(now, ask(watch, now, answer));
        const auto step = watch.at(at(now));
        add(now, text_of(step.news));
        if (step.signal) add(now, *step.signal == SIGTERM ? "TERM" : "KILL");
        REQUIRE(watch.due() > at(now));
    }
    return seen;
}

using Seen = std::vector<std::string>;

}  // namespace

TEST_CASE("lease: is renewed after a third of its time, from when it was asked", "[unit]") {
    LeaseWatch watch{60s, k_taken, OnLeaseLost::warn};
    CHECK(watch.due() == at(20s));
    CHECK_FALSE(watch.wants_renewal(at(19999ms)));
    CHECK(watch.wants_renewal(at(20s)));
    watch.asking(at(20s));
    CHECK(watch.is_asking());
    CHECK(text_of(watch.answered(at(21s), k_held, at(22s))).empty());
    CHECK_FALSE(watch.is_asking());
    CHECK(watch.due() == at(41s));
    CHECK(history(watch, 10h, k_held).empty());
}

TEST_CASE("lease: a renewal that failed is tried again soon", "[unit]") {
    const struct { Duration lock_for, again; } cases[] = {{1s, 100ms}, {60s, 2s}, {1h, 5s}};
    for (const auto& [lock_for, again] : cases) {
        LeaseWatch watch{lock_for, k_taken, OnLeaseLost::warn};
        CHECK(ask(watch, lock_for / 2, k_away).empty());
        CHECK(watch.due() == at(lock_for / 2 + again));
        CHECK(ask(watch, lock_for / 2 + again, k_held).empty());
        CHECK(watch.due() == at(lock_for / 2 + again + lock_for / 3));
    }
}

TEST_CASE("lease: it is lost when its time comes with the store away, and so told once", "[unit]") {
    LeaseWatch watch{60s, k_taken, OnLeaseLost::warn};
    CHECK(ask(watch, 20s, k_held).empty());
    CHECK(history(watch, 200s, k_away) == Seen{"80000: lost 0"});
    CHECK(ask(watch, 202s, k_retaken) == "retaken 4000");
    CHECK(history(watch, 300s, k_away) == Seen{"262000: lost 0"});
    // One that the store never took for lost: it sees the processes of the holder.
    CHECK(ask(watch, 302s, k_held) == "retaken 40000");
    CHECK(history(watch, 400s, k_held).empty());
}

TEST_CASE("lease: it is lost when the store says so, and may be taken again", "[unit]") {
    LeaseWatch watch{60s, k_taken, OnLeaseLost::warn};
    CHECK(history(watch, 300s, k_lost) == Seen{"20000: lost 3000"});
    CHECK(ask(watch, 320s, k_retaken) == "retaken 4000");
    CHECK(history(watch, 400s, k_unknown) == Seen{"340000: lost 0"});
    // Taken again without our having known of it.
    LeaseWatch other{60s, k_taken, OnLeaseLost::kill};
    CHECK(ask(other, 20s, k_retaken) == "retaken 4000");
    CHECK(history(other, 400s, k_held).empty());
}

TEST_CASE("lease: a renewal that is not answered in time is a loss", "[unit]") {
    LeaseWatch watch{60s, k_taken, OnLeaseLost::warn};
    watch.asking(at(58s));
    CHECK(watch.due() == at(60s));
    CHECK(text_of(watch.at(at(59s)).news).empty());
    CHECK(text_of(watch.at(at(60s)).news) == "lost 0");
    CHECK(watch.due() == BootTime::max());
    CHECK(text_of(watch.answered(at(58s), k_away, at(61s))).empty());
    CHECK(text_of(watch.at(at(61s)).news).empty());
}

TEST_CASE("lease: after a standstill of our own the store is asked before it is called lost", "[unit]") {
    for (const auto on_lost : {OnLeaseLost::warn, OnLeaseLost::kill}) {
        LeaseWatch held{60s, k_taken, on_lost};
        CHECK(ask(held, 200s, k_held).empty());
        CHECK(history(held, 300s, k_held).empty());

        LeaseWatch waiting{60s, k_taken, on_lost};
        waiting.asking(at(200s));
        CHECK(text_of(waiting.at(at(201s)).news).empty());
        CHECK(waiting.due() == BootTime::max());
    }
    LeaseWatch warned{60s, k_taken, OnLeaseLost::warn};
    CHECK(ask(warned, 200s, k_away).empty());
    CHECK(text_of(warned.at(at(200s)).news) == "lost 140000");

    LeaseWatch killed{60s, k_taken, OnLeaseLost::kill};
    CHECK(history(killed, 100s, k_held).empty());
    CHECK(ask(killed, 300s, k_away).empty());
    const auto step = killed.at(at(300s));
    CHECK(step.news.killed);
    CHECK(step.signal == SIGTERM);
    CHECK(history(killed, 310s, k_away) == Seen{"302000: KILL"});
}

TEST_CASE("lease: kill ends the command before the lease could be another's", "[unit]") {
    const struct {
        Duration lock_for, term, kill;
    } cases[] = {{60s, 55s, 59s}, {10s, 7500ms, 9s}, {1s, 750ms, 900ms}, {1h, 3595s, 3599s}};
    for (const auto& [lock_for, term, kill] : cases) {
        LeaseWatch watch{lock_for, k_taken, OnLeaseLost::kill};
        const auto ms = [](Duration d) { return std::to_string(d / 1ms); };
        CHECK(history(watch, 2 * lock_for, k_away) ==
              Seen{ms(term) + ": lost 0 killed", ms(term) + ": TERM", ms(kill) + ": KILL"});
    }
}

TEST_CASE("lease: kill does not wait for an answer that does not come", "[unit]") {
    LeaseWatch watch{60s, k_taken, OnLeaseLost::kill};
    watch.asking(at(54s));
    CHECK(watch.due() == at(55s));
    CHECK(watch.at(at(55s)).signal == SIGTERM);
    CHECK(watch.due() == at(59s));
    CHECK_FALSE(watch.at(at(58s)).signal);
    CHECK(watch.at(at(59s)).signal == SIGKILL);
    CHECK_FALSE(watch.at(at(59s)).signal);
}

TEST_CASE("lease: kill ends the command at once when the lease is another's already", "[unit]") {
    LeaseWatch lost{60s, k_taken, OnLeaseLost::kill};
    CHECK(history(lost, 100s, k_lost) == Seen{"20000: lost 3000 killed", "20000: TERM", "22000: KILL"});
    LeaseWatch unknown{60s, k_taken, OnLeaseLost::kill};
    CHECK(history(unknown, 100s, k_unknown) == Seen{"20000: lost 0 killed", "20000: TERM", "22000: KILL"});
}

TEST_CASE("lease: a store that is back does not take a kill back", "[unit]") {
    LeaseWatch watch{60s, k_taken, OnLeaseLost::kill};
    CHECK(history(watch, 55s, k_away) == Seen{"55000: lost 0 killed", "55000: TERM"});
    CHECK(history(watch, 100s, k_held) == Seen{"59000: KILL"});
}
