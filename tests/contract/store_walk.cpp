// SPDX-License-Identifier: MIT
#include "contract/store_walk.hpp"

#include <algorithm>

namespace jobthrottle::test {

using namespace std::chrono_literals;

Walk::Walk(std::uint64_t seed, bool even, std::map<std::string, int>& seen)
    : m_dice(seed), m_even(even), m_stores(even), m_rates(even ? slow_rates() : quick_rates()), m_seen(seen) {
    m_quick = !even && m_dice.chance(30);
    m_costly = m_dice.chance(30);
    m_successes = m_dice.chance(20);
    m_together = m_dice.chance(50) ? 0 : 40;
    if (m_dice.chance(40)) m_stores.set_clock(5'000'000'000);
    for (const std::string& bytes :
         {std::string("a b{c}\n"), std::string(Key::k_max_bytes, '\xff'), std::string("\0*", 2)})
        m_keys.push_back(key_named(bytes));
    // Few numbers on a key, as in life.
    for (auto& own : m_own_terms)
        own = {some_terms(m_dice, m_rates, even), some_terms(m_dice, m_rates, even)};
}

std::string Walk::step() {
    auto difference = move_clock();
    if (!difference.empty()) return difference;
    if (m_dice.chance(3)) rest();
    m_key = m_dice.below(m_keys.size());
    const auto draw = m_dice.below(100);
    return draw < 76 ? line_step(draw) : attempt_step(draw);
}

std::string Walk::line_step(std::uint64_t draw) {
    if (draw < 24) return arrive();
    if (draw < 50) return come_back();
    if (draw < 54) return leave();
    if (draw < 57) return pause();
    if (draw < 59) return resume();
    if (draw < 63) return repeat();
    if (draw < 66) return set_registration();
    if (draw < 68) return forget();
    if (draw < 73) return look();
    return inspect();
}

std::string Walk::compare_all() {
    std::string all;
    for (std::size_t i = 0; i < m_keys.size(); ++i) {
        m_key = i;
        all += inspect();
    }
    return all + compare("keys", [](Store& store) { return said(store.keys("*")); });
}

void Walk::rest() {
    (m_dice.chance(50) ? m_stores.local() : m_stores.redis()).rest();
    ++m_seen["rest"];
}

// What differs when they look at the time before a step back, or nothing.
std::string Walk::move_clock() {
    const auto draw = m_dice.below(m_quick ? 115 : 1000);
    if (draw < 980) {
        move_on(draw);
        return {};
    }
    // A store may drop what has run out before anybody asks for it. Stepped back, one that has not would know
    // more than one that has; so all see the time that is left.
    std::string difference;
    for (std::size_t i = 0; i < m_keys.size(); ++i) {
        m_key = i;
        difference += look();
    }
    advance(draw < 988 ? Duration{-1h} : -m_dice.up_to(1s));
    return difference;
}

void Walk::move_on(std::uint64_t draw) {
    const Rate& pace = m_dice.one_of(m_rates);
    if (draw < 60) return;
    if (draw < 115) return advance(m_dice.up_to(m_quick ? 20us : 2ms));
    if (draw < 550 && !m_waiting.empty()) return move_to(m_dice.one_of(m_waiting).told_us);
    if (draw < 840) return advance(std::min<Duration>(m_dice.up_to(3 * Duration{pace.spacing_us() + 1}), 1h));
    if (draw < 900) return advance(m_dice.up_to(1s));
    if (draw < 940) return advance(std::min<Duration>(m_dice.up_to(pace.period()), 24h));
    if (draw < 955) return advance(m_dice.up_to(70s));
    if (draw < 965) return advance(m_dice.up_to(20min));
    if (draw < 973) return advance(1h);
    // Never near 2^51 us, the end of time.
    if (m_stores.clock_us() < 2'000'000'000'000'000) advance(pace.period() + m_dice.up_to(1h));
}

void Walk::move_to(std::int64_t told_us) {
    Duration by{told_us - m_stores.clock_us()};
    if (by < Duration::zero() || by > 24h) by = Duration::zero();
    if (m_dice.chance(40)) by += m_dice.up_to(90ms);
    if (m_dice.chance(10)) by += 100ms + Duration{static_cast<std::int64_t>(m_dice.below(3)) - 1};
    if (m_dice.chance(8)) by += m_dice.up_to(2s);
    advance(by);
}

std::string Walk::pause() {
    PauseRequest request;
    request.length = 1s + m_dice.up_to(m_dice.chance(10) ? 24h : 20s);
    request.forever = !m_even && m_dice.chance(5);
    request.by_hand = m_dice.chance(30);
    if (m_dice.chance(80)) request.note = encode(note_saying(std::to_string(m_dice.below(1000)) + "\n\xff"));
    return compare("pause", [&](Store& store) { return said(store.pause(key(), request)); });
}

std::string Walk::resume() {
    return compare("resume", [&](Store& store) { return said(store.resume(key())); });
}

std::string Walk::set_registration() {
    std::optional<Registration> wanted;
    if (m_dice.chance(40)) {
        const Terms terms =
            m_dice.chance(70) ? m_dice.one_of(m_own_terms[m_key]) : some_terms(m_dice, m_rates, m_even);
        wanted = Registration{terms, 1'700'000'000, "ops@box"};
    }
    return compare("registration",
                   [&](Store& store) { return said(store.set_registration(key(), wanted)); }) +
           compare("registered", [&](Store& store) { return said(store.registration(key())); });
}

std::string Walk::forget() {
    const bool force = m_dice.chance(30);
    // A forget that is refused need not see the time nor who is late by it, but may: first all see both.
    std::string difference;
    for (int i = 0; i < 4; ++i)
        difference += look();
    return difference + compare("forget", [&](Store& store) { return said(store.forget(key(), force)); });
}

std::string Walk::inspect() {
    return compare("report", [&](Store& store) { return said(store.inspect(key())); });
}

}  // namespace jobthrottle::test
