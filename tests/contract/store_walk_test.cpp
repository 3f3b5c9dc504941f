// SPDX-License-Identifier: MIT
// Random histories: the same calls to all stores, and everything they say compared.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "contract/side_by_side.hpp"
#include "contract/store_walk_choices.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;

constexpr int k_default_steps = 3'000;
constexpr int k_history_steps = 300;
constexpr std::uint64_t k_seed = 20'261'201;

int steps_wanted() {
    const char* text = std::getenv("JT_SUITE_STEPS");
    return text == nullptr ? k_default_steps : std::atoi(text);
}

// One random history over a few keys. In an even one the come-back times of the stores make no difference.
class Walk {
public:
    Walk(std::uint64_t seed, bool even, std::map<std::string, int>& seen)
        : m_dice(seed),
          m_even(even),
          m_stores(even),
          m_rates(even ? slow_rates() : quick_rates()),
          m_seen(seen) {
        m_quick = !even && m_dice.chance(30);
        if (m_dice.chance(40)) m_stores.set_clock(5'000'000'000);
        for (const std::string& bytes :
             {std::string("a b{c}\n"), std::string(480, '\xff'), std::string("\0*", 2)})
            m_keys.push_back(key_named(bytes));
        // Few numbers on a key, as in life.
        for (auto& own : m_own_rates)
            own = {m_dice.one_of(m_rates), m_dice.one_of(m_rates)};
    }

    // What differs after one step, or nothing.
    std::string step() {
        auto difference = move_clock();
        if (!difference.empty()) return difference;
        if (m_dice.chance(3)) rest();
        m_key = m_dice.below(m_keys.size());
        const auto draw = m_dice.below(100);
        if (draw < 30) return arrive();
        if (draw < 66) return come_back();
        if (draw < 71) return leave();
        if (draw < 75) return pause();
        if (draw < 77) return resume();
        if (draw < 83) return repeat();
        if (draw < 87) return set_registration();
        if (draw < 89) return forget();
        if (draw < 95) return look();
        return inspect();
    }

    std::string compare_all() {
        std::string all;
        for (std::size_t i = 0; i < m_keys.size(); ++i) {
            m_key = i;
            all += inspect();
        }
        return all + compare("keys", [](Store& store) { return said(store.keys("*")); });
    }

private:
    template <typename Call>
    std::string compare(const std::string& what, const Call& call) {
        ++m_seen[what];
        const std::string difference = m_stores.compare(call);
        return difference.empty() ? "" : what + " of " + key().shown() + " differs\n" + difference;
    }
    void advance(Duration d) { m_stores.set_clock(m_stores.clock_us() + d.count()); }
    const Key& key() const { return m_keys[m_key]; }
    void rest() {
        (m_dice.chance(50) ? m_stores.local() : m_stores.redis()).rest();
        ++m_seen["rest"];
    }

    // What differs when they look at the time before a step back, or nothing.
    std::string move_clock() {
        const auto draw = m_dice.below(m_quick ? 115 : 1000);
        if (draw < 980) {
            move_on(draw);
            return {};
        }
        // A store may drop what has run out before anybody asks for it. Stepped back, one that has not would
        // know more than one that has; so all see the time that is left.
        std::string difference;
        for (std::size_t i = 0; i < m_keys.size(); ++i) {
            m_key = i;
            difference += look();
        }
        advance(draw < 988 ? Duration{-1h} : -m_dice.up_to(1s));
        return difference;
    }

    void move_on(std::uint64_t draw) {
        const Rate& pace = m_dice.one_of(m_rates);
        if (draw < 60) return;
        if (draw < 115) return advance(m_dice.up_to(m_quick ? 20us : 2ms));
        if (draw < 600 && !m_askers.empty()) return move_to(m_dice.one_of(m_askers).told_us);
        if (draw < 900)
            return advance(std::min<Duration>(m_dice.up_to(3 * Duration{pace.spacing_us() + 1}), 1h));
        if (draw < 940) return advance(std::min<Duration>(m_dice.up_to(pace.period()), 24h));
        if (draw < 960) return advance(m_dice.up_to(20min));
        if (draw < 972) return advance(1h);
        // Never near 2^51 us, the end of time.
        if (m_stores.clock_us() < 2'000'000'000'000'000) advance(pace.period() + m_dice.up_to(1h));
    }

    void move_to(std::int64_t told_us) {
        Duration by{told_us - m_stores.clock_us()};
        if (by < Duration::zero() || by > 24h) by = Duration::zero();
        if (m_dice.chance(40)) by += m_dice.up_to(90ms);
        if (m_dice.chance(10)) by += 100ms + Duration{static_cast<std::int64_t>(m_dice.below(3)) - 1};
        if (m_dice.chance(8)) by += m_dice.up_to(2s);
        advance(by);
    }

    Question question() {
        Question q;
        q.id = m_dice.any();
        q.place = m_dice.any() >> (m_dice.chance(20) ? 0U : 1U);
        q.who = std::string(m_dice.below(m_dice.chance(5) ? 300 : 20), 'w') +
                std::string(1, static_cast<char>(m_dice.below(256)));
        q.caller = m_dice.chance(20);
        q.keep = m_dice.chance(80) ? (q.caller ? k_caller_keep : k_runner_keep) : m_dice.up_to(5s);
        q.override_registered = m_dice.chance(10);
        if (m_dice.chance(10)) q.taking = Taking::start;
        if (m_dice.chance(8)) {
            q.pause_only = m_dice.chance(70);
            if (m_even) q.caller = true;  // the pace of pauses alone is quick
        } else {
            q.rate = m_dice.chance(85) ? m_own_rates[m_key][0] : m_own_rates[m_key][1];
        }
        return q;
    }

    // Puts the question; the asker is told to come back when one of the stores says so.
    std::string put(const std::string& what, Asker& asker, bool& waits) {
        const std::size_t place = m_dice.below(2);
        Duration told[2] = {};
        std::size_t asked = 0;
        waits = false;
        auto difference = compare(what, [&](Store& store) {
            const auto answer = store.ask(key(), asker.question);
            if (answer && asked < 2) {
                told[asked] = answer->wait;
                waits = waits || answer->kind == AnswerKind::wait;
                if (answer->kind == AnswerKind::start && asked == 0)
                    m_started.push_back({m_key, asker.question, 0});
            }
            ++asked;
            return said(answer);
        });
        asker.told_us = m_stores.clock_us() + told[place].count();
        ++m_seen[waits ? "told to wait" : "told at once"];
        return difference;
    }

    std::string arrive() {
        Asker asker{m_key, question(), 0};
        bool waits = false;
        auto difference = put("arrival", asker, waits);
        if (waits && asker.question.taking == Taking::place) m_askers.push_back(asker);
        return difference;
    }

    std::string come_back() {
        if (m_askers.empty()) return arrive();
        const auto at = m_dice.below(m_askers.size());
        Asker& asker = m_askers[at];
        m_key = asker.key;
        asker.question.fresh = m_dice.chance(50);
        if (m_dice.chance(10)) asker.question.id = m_dice.any();
        bool waits = false;
        auto difference = put("return", asker, waits);
        if (!waits) m_askers.erase(m_askers.begin() + static_cast<std::ptrdiff_t>(at));
        return difference;
    }

    std::string leave() {
        TicketId id = m_dice.any();
        if (!m_askers.empty() && m_dice.chance(90)) {
            const auto at = m_dice.below(m_askers.size());
            m_key = m_askers[at].key;
            id = m_askers[at].question.place;
            m_askers.erase(m_askers.begin() + static_cast<std::ptrdiff_t>(at));
            if (m_dice.chance(40)) return {};  // it died
        }
        return compare("cancel", [&](Store& store) { return said(store.cancel(key(), id)); });
    }

    std::string pause() {
        PauseRequest request;
        request.length = 1s + m_dice.up_to(m_dice.chance(10) ? 24h : 20s);
        request.forever = !m_even && m_dice.chance(5);
        request.by_hand = m_dice.chance(30);
        if (m_dice.chance(80))
            request.note = encode(note_saying(std::to_string(m_dice.below(1000)) + "\n\xff"));
        return compare("pause", [&](Store& store) { return said(store.pause(key(), request)); });
    }

    std::string resume() {
        return compare("resume", [&](Store& store) { return said(store.resume(key())); });
    }

    std::string repeat() {
        if (m_started.empty()) return arrive();
        const auto back = m_dice.below(std::min<std::size_t>(m_started.size(), 40));
        Asker started = m_started[m_started.size() - 1 - back];
        m_key = started.key;
        started.question.fresh = false;
        started.question.taking = Taking::start;  // forgotten, it must not leave a ticket that nobody holds
        return compare("repetition", [&](Store& store) { return said(store.ask(key(), started.question)); });
    }

    std::string set_registration() {
        std::optional<Registration> wanted;
        if (m_dice.chance(50))
            wanted = Registration{m_dice.one_of(m_own_rates[m_key]), 1'700'000'000, "ops@box"};
        return compare("registration",
                       [&](Store& store) { return said(store.set_registration(key(), wanted)); }) +
               compare("registered", [&](Store& store) { return said(store.registration(key())); });
    }

    std::string forget() {
        const bool force = m_dice.chance(30);
        // A forget that is refused need not see the time nor who is late by it, but may: first all see both.
        std::string difference;
        for (int i = 0; i < 4; ++i)
            difference += look();
        return difference + compare("forget", [&](Store& store) { return said(store.forget(key(), force)); });
    }

    // By somebody new, or by one who waits for the key.
    std::string look() {
        Question q = question();
        const auto own = std::find_if(m_askers.begin(), m_askers.end(),
                                      [this](const Asker& asker) { return asker.key == m_key; });
        if (own != m_askers.end() && m_dice.chance(50)) q = own->question;
        q.taking = Taking::nothing;
        return compare("peek", [&](Store& store) { return said(store.ask(key(), q)); });
    }

    std::string inspect() {
        return compare("report", [&](Store& store) { return said(store.inspect(key())); });
    }

    Dice m_dice;
    bool m_even;
    bool m_quick = false;
    SideBySide m_stores;
    std::vector<Rate> m_rates;
    std::map<std::string, int>& m_seen;
    std::vector<Key> m_keys;
    std::array<std::vector<Rate>, 3> m_own_rates;
    std::size_t m_key = 0;
    std::vector<Asker> m_askers, m_started;
};

}  // namespace

TEST_CASE("store: random histories get the same answers and reports from all", "[contract]") {
    const int wanted = steps_wanted();
    std::map<std::string, int> seen;
    int steps = 0;
    for (std::uint64_t seed = k_seed; steps < wanted; ++seed) {
        const bool even = seed % 3 == 0;
        Walk walk(seed, even, seen);
        for (int i = 0; i < k_history_steps && steps < wanted; ++i, ++steps) {
            INFO("history " << seed << (even ? ", even" : "") << ", step " << i);
            const std::string difference = walk.step();
            if (!difference.empty()) FAIL(difference);
        }
        INFO("after history " << seed);
        CHECK(walk.compare_all() == "");
    }
    CHECK(steps == wanted);
    // Enough of everything, so that a walk that stands still is seen.
    for (const char* what : {"arrival", "return", "told to wait", "told at once", "cancel", "pause", "resume",
                             "repetition", "registration", "forget", "peek", "report", "rest"}) {
        INFO(what << ": " << seen[what]);
        CHECK(seen[what] >= steps / 150);
    }
}

}  // namespace jobthrottle::test
