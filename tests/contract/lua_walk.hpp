// SPDX-License-Identifier: MIT
// A random history on three keys, which a memory store and a Redis store go through alike.
#pragma once

#include <array>
#include <random>
#include <string>
#include <vector>

#include "lua_compare_support.hpp"

namespace jobthrottle::test {

class LuaWalk {
public:
    LuaWalk(Pair& pair, std::uint64_t seed);

    // What differs after one step, or nothing.
    std::string step();
    const std::string& what() const { return m_what; }

private:
    // A job that waits, or one that was started.
    struct Job {
        std::vector<Asked> asked;
        Instant told;
        std::int64_t number = 0;  // of its ticket with the first key
    };

    std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : m_random() % n; }
    bool chance(unsigned percent) { return below(100) < percent; }
    Duration up_to(Duration d);
    template <typename T>
    T& any_of(std::vector<T>& from) {
        return from[below(from.size())];
    }

    Terms some_terms();
    const Key& some_key() { return m_keys[chance(70) ? 0 : below(m_keys.size())]; }
    std::vector<Key> some_keys();
    Question question(const Key&);
    std::vector<Asked> question();
    std::int64_t cost();
    void move_clock();
    void move_to(Instant told);

    std::string put(Job&, bool& waits);
    std::string arrive();
    std::string come_back();
    std::string leave(bool gives_back);
    std::string pause();
    std::string repeat();
    std::string set_registration();
    std::string look();
    std::string line_step(std::uint64_t draw);
    std::string lease_step(std::uint64_t draw);
    std::string renew(const Job&);
    std::string release(std::size_t job);
    std::string settle(const Job&);
    std::string give_back(std::size_t job);
    std::size_t some_started();  // rather a recent one; REQUIRES: there is one

    Pair& m_pair;
    std::mt19937_64 m_random;
    std::vector<Key> m_keys;
    std::vector<std::vector<Terms>> m_terms;  // of each key, the usual ones more than once
    bool m_pause_only = false;
    bool m_quick = false;
    bool m_costly = false;
    bool m_successes = false;
    unsigned m_together = 0;  // percent of questions that speak of several keys
    std::vector<Job> m_waiting;
    std::vector<Job> m_started;
    std::string m_what;
};

}  // namespace jobthrottle::test
