// SPDX-License-Identifier: MIT
#include "support/slow_key.hpp"

#include <random>
#include <string>

#include "support/catch.hpp"
#include "support/desk.hpp"

using namespace jobthrottle;
using namespace jobthrottle::testing;
using namespace std::chrono_literals;

namespace {

const char* const k_limits[] = {"8/s",    "1/s",         "7/s",     "3/500ms",         "60/min,burst=5",
                                "1000/s", "5/s,burst=5", "1/250ms", "100/min,burst=9", "2/1h",
                                "9/90s",  "2000/s",      "1/ms",    "40/s,burst=2"};

// Plays one random history on the decision and on its slow reading.
class Duel {
public:
    explicit Duel(std::uint64_t seed) : m_random(seed), m_desk("8/s", 2s), m_slow(2'000'000) {
        m_places = 1 + below(below(4) == 0 ? 90 : 14);
        m_steps_clock = below(2) == 0;
        m_changes_limit = below(2) == 0;
        m_pauses = below(2) == 0;
        m_desk.set_limit(k_limits[below(std::size(k_limits))]);
    }

    // The first difference, empty where there was none.
    std::string play(int steps) {
        for (int step = 0; step < steps; ++step) {
            move_clock();
            if (auto difference = act(); !difference.empty())
                return "step " + std::to_string(step) + ": " + difference;
        }
        return {};
    }
    int starts() const { return m_starts; }
    int waits() const { return m_waits; }

private:
    std::uint64_t below(std::uint64_t n) { return m_random() % n; }

    void move_clock() {
        switch (below(12)) {
            case 0:
                m_desk.after(Duration{static_cast<std::int64_t>(below(30'000'000))});
                break;
            case 1:
                m_desk.after(Duration{static_cast<std::int64_t>(below(1'500'000))});
                break;
            case 2:
            case 3:
            case 4:
                m_desk.after(Duration{static_cast<std::int64_t>(below(130'000))});
                break;
            case 5:
            case 6:
                m_desk.after(Duration{static_cast<std::int64_t>(below(3000))});
                break;
            default:
                break;
        }
        if (m_steps_clock && below(150) == 0) m_desk.after(below(2) == 0 ? 1h : -1h);
        if (below(400) == 0) m_desk.after(Duration{static_cast<std::int64_t>(below(4'000'000'000))});
    }

    std::string act() {
        const auto kind = below(100);
        if (kind < 3) return cancel();
        if (kind < 5 && m_pauses) return pause();
        if (kind == 5 && m_changes_limit) m_desk.set_limit(k_limits[below(std::size(k_limits))]);
        if (kind == 6 && m_changes_limit && below(4) == 0) m_desk.set_pause_only();
        return ask();
    }

    std::string cancel() {
        const TicketId place = 1 + below(m_places);
        const bool here = m_desk.cancel(place);
        return here == m_slow.cancel(m_desk.now_us(), place) ? "" : "cancel";
    }

    std::string pause() {
        if (below(4) == 0) {
            m_desk.resume();
            m_slow.resume(m_desk.now_us());
        } else if (below(10) == 0) {
            m_desk.pause_for_ever();
            m_slow.pause(m_desk.now_us(), -1);
        } else {
            const auto length = static_cast<std::int64_t>(1'000'000 + below(20'000'000));
            m_desk.pause(Duration{length});
            m_slow.pause(m_desk.now_us(), length);
        }
        return {};
    }

    std::string ask() {
        Question question = m_desk.question(1 + below(m_places));
        question.caller = question.place % 5 == 0;
        if (question.caller) question.keep = question.place % 2 == 0 ? 120s : 50ms;
        if (below(10) == 0) question.taking = below(2) == 0 ? Taking::nothing : Taking::start;
        if (below(10) == 0) {
            question.id = 1 + below(m_desk.last_id());
            question.fresh = false;
        }
        const Answer slow = m_slow.ask(m_desk.now_us(), question);
        const Answer fast = m_desk.ask(question);
        ++(fast.kind == AnswerKind::start ? m_starts : m_waits);
        if (fast.kind == slow.kind && fast.wait == slow.wait && fast.earliest == slow.earliest &&
            fast.ahead == slow.ahead && fast.number == slow.number && fast.birth_us == slow.birth_us)
            return {};
        return say(fast) + " but slowly " + say(slow) + ", number " + std::to_string(fast.number) + " but " +
               std::to_string(slow.number) + ", ahead " + std::to_string(fast.ahead) + " but " +
               std::to_string(slow.ahead);
    }

    std::mt19937_64 m_random;
    Desk m_desk;
    SlowKey m_slow;
    std::uint64_t m_places = 1;
    bool m_steps_clock = false, m_changes_limit = false, m_pauses = false;
    int m_starts = 0, m_waits = 0;
};

std::uint64_t histories() {
    const char* more = std::getenv("JOBTHROTTLE_TEST_HISTORIES");
    return more == nullptr ? 300 : std::stoull(more);
}

}  // namespace

TEST_CASE("decision: answers as a slow reading of the rule does, over random histories", "[unit]") {
    int starts = 0, waits = 0;
    for (std::uint64_t seed = 1; seed <= histories(); ++seed) {
        Duel duel(seed);
        const std::string difference = duel.play(400);
        INFO("history " << seed);
        REQUIRE(difference == "");
        starts += duel.starts();
        waits += duel.waits();
    }
    // The histories are worth something: both answers are common.
    CHECK(starts > waits / 20);
    CHECK(waits > starts / 20);
}
