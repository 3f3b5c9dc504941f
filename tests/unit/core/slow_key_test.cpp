// SPDX-License-Identifier: MIT
#include "support/slow_key.hpp"

#include <map>
#include <random>
#include <string>

#include "support/catch.hpp"
#include "support/desk.hpp"

using namespace jobthrottle;
using namespace jobthrottle::testing;
using namespace std::chrono_literals;

namespace {

// What the jobs of a history may be like.
enum class Kind { one_rate, several, leases, costs, successes };

const std::vector<const char*>& limits_of(Kind kind) {
    static const std::vector<const char*> rates = {
        "8/s",    "1/s",         "7/s",     "3/500ms",         "60/min,burst=5",
        "1000/s", "5/s,burst=5", "1/250ms", "100/min,burst=9", "2/1h",
        "9/90s",  "2000/s",      "1/ms",    "40/s,burst=2"};
    static const std::vector<const char*> several = {
        "10/s and 30/10s", "8/s and 60/min and 500/h", "5/s,burst=5 and 20/10s,burst=3",
        "1000/s and 2000/5s and 40/100ms and 1/ms", "2/s and 7/5s"};
    static const std::vector<const char*> leases = {"1 at once",
                                                    "2 at once",
                                                    "5 at once",
                                                    "8/s, 1 at once",
                                                    "20/s and 100/10s, 3 at once",
                                                    "100 at once",
                                                    "5/s,burst=5, 2 at once"};
    static const std::vector<const char*> costs = {"60/min", "90/min and 2000/h", "50/10s,burst=30", "1000/s",
                                                   "40/s, 3 at once"};
    static const std::vector<const char*> successes = {"5/2s", "1/s", "20/10s and 60/min", "8/s, 2 at once"};
    switch (kind) {
        case Kind::one_rate:
            return rates;
        case Kind::several:
            return several;
        case Kind::leases:
            return leases;
        case Kind::costs:
            return costs;
        default:
            return successes;
    }
}

// Plays one random history on the decision and on its slow reading.
class Duel {
public:
    Duel(std::uint64_t seed, Kind kind) : m_random(seed), m_kind(kind), m_desk("8/s", 2s), m_slow(2'000'000) {
        m_places = 1 + below(below(4) == 0 ? 90 : 14);
        m_steps_clock = below(2) == 0;
        m_changes_limit = below(2) == 0;
        m_pauses = below(2) == 0;
        m_desk.usual().count_successes = kind == Kind::successes;
        m_desk.usual().lock_for = below(2) == 0 ? Duration{60s} : Duration{3s};
        const auto life = [this](const std::string& who) { return m_lives[who]; };
        m_slow.know_life(life);
        m_desk.records().know_life([life](const Lease& lease) { return life(lease.who); });
        change_limit();
    }

    // The first difference, empty where there was none.
    std::string play(int steps) {
        for (int step = 0; step < steps; ++step) {
            move_clock();
            auto difference = act();
            if (difference.empty() && m_desk.woken() != m_slow.woken()) difference = "others were woken";
            if (!difference.empty()) return "step " + std::to_string(step) + ": " + difference;
        }
        return {};
    }
    int starts() const { return m_starts; }
    int waits() const { return m_waits; }

private:
    std::uint64_t below(std::uint64_t n) { return m_random() % n; }

    void move_clock() {
        const auto forward = [&](std::uint64_t most) {
            m_desk.after(Duration{static_cast<std::int64_t>(below(most))});
        };
        const auto kind = below(12);
        if (kind == 0) forward(30'000'000);
        if (kind == 1) forward(1'500'000);
        if (kind >= 2 && kind <= 4) forward(130'000);
        if (kind == 5 || kind == 6) forward(3000);
        if (m_steps_clock && below(150) == 0) m_desk.after(below(2) == 0 ? 1h : -1h);
        if (below(400) == 0) forward(4'000'000'000);
    }

    void change_limit() {
        const auto& limits = limits_of(m_kind);
        m_desk.set_limit(limits[below(limits.size())]);
    }

    std::string act() {
        const auto kind = below(100);
        if (kind < 3) return cancel();
        if (kind < 5 && m_pauses) return pause();
        if (kind == 5 && m_changes_limit) change_limit();
        if (kind == 6 && m_changes_limit && below(4) == 0) m_desk.set_pause_only();
        if (kind >= 7 && kind < 30 && m_kind >= Kind::leases && m_desk.last_id() > 0) return attend();
        if (kind == 30) m_lives[std::to_string(below(5))] = static_cast<HolderLife>(below(3));
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

    // An attempt is renewed, is over, has failed or is settled. Most are of the last ones that were asked
    // for.
    std::string attend() {
        const LeaseId last = m_desk.last_id();
        const LeaseId id = below(4) == 0 ? 1 + below(last) : last - below(std::min<LeaseId>(last, 12));
        const auto differ = [](const char* what, LeaseState fast, LeaseState slow) {
            return fast == slow ? std::string{} : what + say(fast) + " but slowly " + say(slow);
        };
        const std::int64_t now = m_desk.now_us();
        switch (below(m_kind == Kind::leases ? 4 : 6)) {
            case 0:
                return differ("renew: ", m_desk.renew(id, 5s).state, m_slow.renew(now, id, 5'000'000));
            case 1:
            case 2:
            case 3:
                return differ("release: ", m_desk.release(id).state, m_slow.release(now, id, false));
            case 4:
                return differ("fail: ", m_desk.fail(id).state, m_slow.release(now, id, true));
            default:
                const auto cost = static_cast<std::int64_t>(below(30));
                return differ("settle: ", m_desk.settle(id, cost).state, m_slow.settle(now, id, cost));
        }
    }

    std::string ask() {
        Question question = m_desk.question(1 + below(m_places));
        question.caller = question.place % 5 == 0;
        question.who = std::to_string(question.place % 5);
        if (question.caller) question.keep = question.place % 2 == 0 ? 120s : 50ms;
        if (m_kind == Kind::costs) {
            question.cost = 1 + static_cast<std::int64_t>(below(below(3) == 0 ? 30 : 4));
            question.settles = below(2) == 0;
        }
        if (below(10) == 0) question.taking = below(2) == 0 ? Taking::nothing : Taking::start;
        if (below(10) == 0) {
            question.id = 1 + below(m_desk.last_id());
            question.fresh = false;
        }
        const Answer fast = m_desk.ask(question);
        const Answer slow = m_slow.ask(m_desk.now_us(), question, fast.wait);
        ++(fast.kind == AnswerKind::start ? m_starts : m_waits);
        if (fast.wait > 60s && !question.caller && question.taking == Taking::place) return "too long a wait";
        if (fast.kind == slow.kind && fast.wait == slow.wait && fast.earliest == slow.earliest &&
            fast.ahead == slow.ahead && fast.number == slow.number && fast.birth_us == slow.birth_us &&
            fast.leased == slow.leased && fast.wake == slow.wake && fast.places == slow.places &&
            fast.waiting == slow.waiting)
            return {};
        return describe(fast) + ", but slowly " + describe(slow);
    }

    static std::string describe(const Answer& a) {
        return say(a) + ", number " + std::to_string(a.number) + ", ahead " + std::to_string(a.ahead) +
               ", earliest " + format_duration_exactly(a.earliest) + ", wake " + std::to_string(a.wake) +
               ", places " + std::to_string(a.places) + ", waiting " + std::to_string(a.waiting) +
               (a.leased ? ", leased" : "");
    }

    std::mt19937_64 m_random;
    Kind m_kind;
    Desk m_desk;
    SlowKey m_slow;
    std::map<std::string, HolderLife> m_lives;
    std::uint64_t m_places = 1;
    bool m_steps_clock = false, m_changes_limit = false, m_pauses = false;
    int m_starts = 0, m_waits = 0;
};

std::uint64_t histories(std::uint64_t otherwise) {
    const char* more = std::getenv("JOBTHROTTLE_TEST_HISTORIES");
    return more == nullptr ? otherwise : std::stoull(more);
}

void play(Kind kind, std::uint64_t count) {
    int starts = 0, waits = 0;
    for (std::uint64_t seed = 1; seed <= histories(count); ++seed) {
        Duel duel(seed, kind);
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

}  // namespace

TEST_CASE("decision: answers as a slow reading of the rule does, over random histories", "[unit]") {
    play(Kind::one_rate, 300);
}

TEST_CASE("decision: as a slow reading does with several limits", "[unit]") {
    play(Kind::several, 200);
}

TEST_CASE("decision: as a slow reading does with leases, in whose hands they may be", "[unit]") {
    play(Kind::leases, 300);
}

TEST_CASE("decision: as a slow reading does with costs that are settled", "[unit]") {
    play(Kind::costs, 300);
}

TEST_CASE("decision: as a slow reading does where successes count", "[unit]") {
    play(Kind::successes, 200);
}
