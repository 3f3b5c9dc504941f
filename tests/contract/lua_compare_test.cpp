// SPDX-License-Identifier: MIT
// The decision in C++ and the one in Lua are the same: every answer, and every byte of the state after it.
#include <cstdlib>
#include <random>

#include "lua_compare_support.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;

constexpr int k_default_steps = 20'000;
constexpr std::uint64_t k_seed = 20'261'130;

int steps_wanted() {
    const char* text = std::getenv("JT_COMPARE_STEPS");
    return text == nullptr ? k_default_steps : std::atoi(text);
}

Rate rate(std::int64_t allow, Duration period, std::int64_t burst = 1) {
    return *Rate::make(allow, period, burst);
}

const std::vector<Rate>& rates() {
    static const std::vector<Rate> all = {rate(1, 1s),           rate(7, 1s),
                                          rate(10, 90s),         rate(5000, 1h),
                                          rate(1'000'000, 1s),   rate(8, 1s, 3),
                                          rate(3'000'000, 1min), rate(10'000, 24h, 500),
                                          rate(2044, 1min),      rate(2045, 1min),
                                          rate(60, 1min, 60),    rate(3, 1ms),
                                          rate(1, 24h * 366),    rate(20, 1s, 20),
                                          rate(100, 1s, 7),      rate(9, 1s),
                                          rate(31'622'400, 24h), rate(600, 1min, 2),
                                          rate(13, 10s),         rate(1'000'000, 24h * 366, 900'000)};
    return all;
}

struct Asker {
    Question question;
    Instant told;
};

// One random history on one key.
class Walk {
public:
    Walk(Pair& pair, std::uint64_t seed)
        : m_pair(pair), m_random(seed), m_key(*Key::make("walk " + std::to_string(seed))) {
        const std::size_t first = below(rates().size()), second = below(rates().size());
        m_rates = {rates()[first], rates()[first], rates()[second]};
        m_pause_only = chance(8);
        m_quick = chance(30);
    }

    // What differs after one step, or nothing.
    std::string step() {
        move_clock();
        const auto draw = below(100);
        if (draw < 30) return arrive();
        if (draw < 72) return come_back();
        if (draw < 78) return leave(chance(50));
        if (draw < 81) return pause();
        if (draw < 83) return resume();
        if (draw < 90) return repeat();
        if (draw < 92) return set_registration();
        if (draw < 93 && chance(20)) return m_pair.forget(m_key);
        if (draw < 95) return m_pair.inspect(m_key);
        return look();
    }
    const std::string& what() const { return m_what; }

private:
    std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : m_random() % n; }
    bool chance(unsigned percent) { return below(100) < percent; }
    Duration up_to(Duration d) {
        return Duration{static_cast<std::int64_t>(below(static_cast<std::uint64_t>(d.count()) + 1))};
    }

    void move_clock() {
        const Rate& pace = m_rates[0];
        const Duration spacing{pace.spacing_us() + 1};
        const auto draw = below(m_quick ? 110 : 1000);
        // Never to 2^52 us, the end of time, however long the periods are.
        if (draw < 60 || m_pair.now() > instant_us(k_far_us)) return;
        if (draw < 110) return m_pair.advance(up_to(m_quick ? 20us : 2ms));
        if (draw < 600 && !m_askers.empty()) return move_to(m_askers[below(m_askers.size())].told);
        if (draw < 900) return m_pair.advance(up_to(3 * spacing));
        if (draw < 930) return m_pair.advance(std::min<Duration>(up_to(pace.period()), 24h * 30));
        if (draw < 965) return m_pair.advance(up_to(20min));
        if (draw < 975) return m_pair.advance(1h);
        if (draw < 985) return m_pair.advance(-1h);
        if (draw < 993) return m_pair.advance(-up_to(1s));
        m_pair.advance(2 * pace.period() + up_to(1h));
    }

    void move_to(Instant told) {
        Duration by = told - m_pair.now();
        if (by < Duration::zero() || by > 24h * 400) by = Duration::zero();
        if (chance(40)) by += up_to(90ms);
        if (chance(10)) by += 100ms + Duration{static_cast<std::int64_t>(below(3)) - 1};
        if (chance(8)) by += up_to(2s);
        m_pair.advance(by);
    }

    Question question() {
        Question q;
        q.id = m_random();
        q.place = m_random() >> (chance(20) ? 0U : 1U);
        q.caller = chance(15);
        q.keep = chance(80) ? (q.caller ? k_caller_keep : k_runner_keep) : up_to(5s);
        q.who = std::string(below(chance(5) ? 300 : 20), 'w') + std::string(1, static_cast<char>(below(256)));
        if (m_pause_only && chance(90)) {
            q.pause_only = true;
        } else if (chance(97)) {
            q.rate = m_rates[below(m_rates.size())];
        }
        q.override_registered = chance(10);
        if (chance(10)) q.taking = Taking::start;
        return q;
    }

    std::string put(Asker& asker, bool& waits) {
        Answer answer;
        auto difference = m_pair.ask(m_key, asker.question, answer);
        asker.told = m_pair.now() + answer.wait;
        waits = answer.kind == AnswerKind::wait && asker.question.taking == Taking::place;
        if (answer.kind == AnswerKind::start) m_started.push_back(asker.question);
        return difference;
    }

    std::string arrive() {
        m_what = "arrival";
        Asker asker{question(), {}};
        bool waits = false;
        auto difference = put(asker, waits);
        if (waits) m_askers.push_back(asker);
        return difference;
    }

    std::string come_back() {
        if (m_askers.empty()) return arrive();
        m_what = "return";
        const auto at = below(m_askers.size());
        Asker& asker = m_askers[at];
        asker.question.fresh = chance(50);
        if (chance(10)) asker.question.id = m_random();
        bool waits = false;
        auto difference = put(asker, waits);
        if (!waits) m_askers.erase(m_askers.begin() + static_cast<std::ptrdiff_t>(at));
        return difference;
    }

    std::string leave(bool gives_back) {
        m_what = "leaving";
        const TicketId nobody = m_random();
        if (m_askers.empty()) return m_pair.cancel(m_key, nobody);
        const auto at = below(m_askers.size());
        const TicketId id = m_askers[at].question.place;
        m_askers.erase(m_askers.begin() + static_cast<std::ptrdiff_t>(at));
        return gives_back ? m_pair.cancel(m_key, id) : std::string{};
    }

    std::string pause() {
        m_what = "pause";
        PauseRequest request;
        request.length = 1s + up_to(chance(10) ? 24h : 20s);
        request.forever = chance(5);
        request.by_hand = chance(30);
        if (chance(80)) request.note = "note " + std::to_string(below(1000));
        return m_pair.pause(m_key, request);
    }

    std::string resume() {
        m_what = "resume";
        return m_pair.resume(m_key);
    }

    std::string repeat() {
        if (m_started.empty()) return arrive();
        m_what = "repeated question";
        Question q = m_started[m_started.size() - 1 - below(std::min<std::size_t>(m_started.size(), 40))];
        q.fresh = false;
        Answer answer;
        return m_pair.ask(m_key, q, answer);
    }

    std::string set_registration() {
        m_what = "registration";
        if (chance(60)) return m_pair.set_registration(m_key, std::nullopt);
        const Rate wanted = m_rates[below(m_rates.size())];
        return m_pair.set_registration(m_key, Registration{wanted, 1'700'000'000, "ops@box"});
    }

    std::string look() {
        m_what = "peek";
        Question q = m_askers.empty() || chance(50) ? question() : m_askers[below(m_askers.size())].question;
        q.taking = Taking::nothing;
        Answer answer;
        return m_pair.ask(m_key, q, answer);
    }

    Pair& m_pair;
    std::mt19937_64 m_random;
    Key m_key;
    std::vector<Rate> m_rates;
    bool m_pause_only = false;
    bool m_quick = false;
    std::vector<Asker> m_askers;
    std::vector<Question> m_started;
    std::string m_what;
};

}  // namespace

TEST_CASE("lua: random histories give the same answers and the same bytes as in C++", "[contract]") {
    Pair pair;
    const int wanted = steps_wanted();
    std::mt19937_64 lengths(k_seed);
    int steps = 0;
    for (std::uint64_t seed = k_seed; steps < wanted; ++seed) {
        Walk walk(pair, seed);
        const int length = lengths() % 25 == 0 ? 3000 : 50 + static_cast<int>(lengths() % 350);
        for (int i = 0; i < length && steps < wanted; ++i, ++steps) {
            INFO("history " << seed << ", step " << i << " of " << length);
            const std::string difference = walk.step();
            if (difference.empty()) continue;
            FAIL(walk.what() << ": " << difference);
        }
        pair.server().cli({"FLUSHALL"});
    }
    CHECK(steps >= wanted);
}

}  // namespace jobthrottle::test
