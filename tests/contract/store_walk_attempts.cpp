// SPDX-License-Identifier: MIT
// The attempts under way of a random history.
#include "contract/store_walk.hpp"

namespace jobthrottle::test {

using namespace std::chrono_literals;

// Rather one that started lately, and that has a lease.
std::size_t Walk::some_started() {
    const std::uint64_t lately = m_dice.chance(80) ? 8 : 40;
    std::size_t at = 0;
    for (int i = 0; i < 4; ++i) {
        at = m_started.size() - 1 - m_dice.below(std::min<std::uint64_t>(m_started.size(), lately));
        if (m_started[at].leased) break;
    }
    m_key = m_dice.one_of(m_started[at].keys);
    return at;
}

std::string Walk::attempt_step(std::uint64_t draw) {
    if (m_started.empty()) return arrive();
    if (draw < 82) return renew();
    if (draw < 92) return release();
    if (draw < 95) return settle();
    if (draw < 98) return give_back();
    return release_leases();
}

std::string Walk::renew() {
    Renewal renewal;
    renewal.id = m_started[some_started()].questions.front().id;
    if (m_dice.chance(30)) renewal.lock_for = m_dice.up_to(60s);
    if (m_dice.chance(30)) {  // as when the state that the lease was taken in is lost
        renewal.lock_for = 1s + m_dice.up_to(60s);
        renewal.concurrency = 1 + static_cast<std::int64_t>(m_dice.chance(50));
        renewal.who = "again dev@host:1";
    }
    return compare("renewal", [&](Store& store) { return said(store.renew(key(), renewal)); });
}

// On all keys, as an attempt ends.
std::string Walk::release() {
    const std::size_t at = some_started();
    const Job ended = m_started[at];
    if (m_dice.chance(70)) m_started.erase(m_started.begin() + static_cast<std::ptrdiff_t>(at));
    std::string difference;
    for (std::size_t i = 0; i < ended.keys.size(); ++i) {
        m_key = ended.keys[i];
        const bool gives_back = m_dice.chance(ended.questions[i].count_successes ? 60 : 10);
        const Release release{ended.questions[i].id, gives_back};
        difference += compare("release", [&](Store& store) { return said(store.release(key(), release)); });
    }
    return difference;
}

std::string Walk::settle() {
    Settlement settlement;
    settlement.id = m_started[some_started()].questions.front().id;
    settlement.cost = m_dice.from_1_to(m_dice.chance(90) ? 8 : m_dice.chance(50) ? 5'000 : k_most_cost) - 1;
    return compare("settlement", [&](Store& store) { return said(store.settle(key(), settlement)); });
}

// On one key, as though another had refused: the job waits again.
std::string Walk::give_back() {
    const std::size_t at = some_started();
    const Job job = m_started[at];
    std::size_t i = 0;
    while (job.keys[i] != m_key)
        ++i;
    const Question& q = job.questions[i];
    GiveBack given{q.id, q.cost, q.place, job.numbers[i], m_dice.up_to(1s), q.who};
    if (m_dice.chance(70)) {
        m_started.erase(m_started.begin() + static_cast<std::ptrdiff_t>(at));
        if (q.taking == Taking::place) {
            m_waiting.push_back(job);
            m_waiting.back().known = true;
        }
    }
    return compare("giving back", [&](Store& store) { return said(store.give_back(key(), given)); }) +
           inspect();
}

std::string Walk::release_leases() {
    const bool only_dead = m_dice.chance(60);
    return compare("release of all",
                   [&](Store& store) { return said(store.release_leases(key(), only_dead)); });
}

}  // namespace jobthrottle::test
