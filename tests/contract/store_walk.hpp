// SPDX-License-Identifier: MIT
// A random history over a few keys: the same calls to all stores, and everything they say compared.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "contract/side_by_side.hpp"
#include "contract/store_walk_choices.hpp"

namespace jobthrottle::test {

class Walk {
public:
    // In an even one the come-back times of the stores make no difference. `seen` counts what was done.
    Walk(std::uint64_t seed, bool even, std::map<std::string, int>& seen);

    std::string step();         // what differs after it, or nothing
    std::string compare_all();  // the same, of all that can be seen

private:
    // A question of a job to one key or to several.
    struct Job {
        std::vector<std::size_t> keys;
        std::vector<Question> questions;
        std::int64_t told_us = 0;           // when it was told to ask again, on the stores' clock
        std::vector<std::int64_t> numbers;  // of its tickets
        bool leased = false;                // started, with a lease on one of its keys
        bool known = false;                 // a start under its id may be known: no question of it is fresh
    };

    template <typename Call>
    std::string compare(const std::string& what, const Call& call) {
        ++m_seen[what];
        const std::string difference = m_stores.compare(call);
        return difference.empty() ? ""
                                  : what + " of key " + std::to_string(m_key) + " differs\n" + difference;
    }
    const Key& key() const { return m_keys[m_key]; }
    void advance(Duration d) { m_stores.set_clock(m_stores.clock_us() + d.count()); }
    void rest();
    std::string move_clock();
    void move_on(std::uint64_t draw);
    void move_to(std::int64_t told_us);

    Job job();
    void ask_of_key(std::size_t key, Question&);
    static std::vector<Asked> asked_of(const std::vector<Key>& keys, const Job&);
    std::string put(const std::string& what, Job&, bool& waits);
    std::string arrive();
    std::string come_back();
    std::string leave();
    std::string repeat();
    std::string look();

    std::string pause();
    std::string resume();
    std::string set_registration();
    std::string forget();
    std::string inspect();
    std::string line_step(std::uint64_t draw);

    // Of attempts under way.
    std::size_t some_started();  // one of its keys becomes the key in work. REQUIRES: there is one
    std::string attempt_step(std::uint64_t draw);
    std::string renew();
    std::string release();
    std::string settle();
    std::string give_back();
    std::string release_leases();

    Dice m_dice;
    bool m_even;
    bool m_quick = false;      // all happens within microseconds
    bool m_costly = false;     // starts count as more than one
    bool m_successes = false;  // only successes count
    unsigned m_together = 0;   // percent of questions to several keys
    SideBySide m_stores;
    std::vector<Rate> m_rates;
    std::map<std::string, int>& m_seen;
    std::vector<Key> m_keys;
    std::array<std::vector<Terms>, 3> m_own_terms;
    std::size_t m_key = 0;
    std::vector<Job> m_waiting, m_started;
};

}  // namespace jobthrottle::test
