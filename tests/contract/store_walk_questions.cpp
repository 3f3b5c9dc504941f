// SPDX-License-Identifier: MIT
// The jobs of a random history: what they ask, and what they do with the answer.
#include <algorithm>

#include "contract/store_walk.hpp"

namespace jobthrottle::test {

using namespace std::chrono_literals;

// What is for one key.
void Walk::ask_of_key(std::size_t key, Question& q) {
    q.override_registered = m_dice.chance(10);
    if (m_dice.chance(92)) {
        q.terms = m_dice.chance(85) ? m_own_terms[key][0] : m_own_terms[key][1];
    } else {
        q.pause_only = m_dice.chance(70);
    }
    if (m_costly && m_dice.chance(60)) q.cost = m_dice.from_1_to(m_dice.chance(95) ? 4 : 3'000);
    q.count_successes = m_successes && m_dice.chance(90);
    q.settles = m_dice.chance(m_costly ? 50 : 3);
}

Walk::Job Walk::job() {
    Job job;
    job.keys = {m_key};
    if (m_dice.chance(m_together)) {
        job.keys.push_back((m_key + 1 + m_dice.below(2)) % 3);
        if (m_dice.chance(30)) job.keys.push_back(3 - job.keys[0] - job.keys[1]);
    }
    Question common;
    common.id = m_dice.any();
    common.place = m_dice.any() >> (m_dice.chance(20) ? 0U : 1U);
    common.who = std::string(m_dice.below(m_dice.chance(5) ? 300 : 20), 'w') +
                 std::string(1, static_cast<char>(m_dice.below(256)));
    common.caller = m_dice.chance(20);
    common.keep = m_dice.chance(80) ? (common.caller ? k_caller_keep : k_runner_keep) : m_dice.up_to(5s);
    common.lock_for = m_dice.chance(50) ? Duration{60s} : 1ms + m_dice.up_to(3s);
    if (m_dice.chance(10)) common.taking = Taking::start;
    if (m_dice.chance(5)) common.max_waiting = static_cast<std::int64_t>(m_dice.below(4));
    if (m_dice.chance(5) && !m_started.empty())
        common.ancestors = {m_dice.any(), m_started.back().questions.front().id};
    bool paced = true;
    for (const std::size_t key : job.keys) {
        job.questions.push_back(common);
        ask_of_key(key, job.questions.back());
        paced = paced && !job.questions.back().terms.rates().empty();
    }
    // The pace of pauses alone is quick, so that the come-back times differ.
    for (auto& q : job.questions)
        q.caller = q.caller || (m_even && !paced);
    const bool alone = job.keys.size() == 1 && common.taking == Taking::place;
    if (alone && (paced || !m_even)) job.questions.front().hold = m_dice.chance(8);
    return job;
}

std::vector<Asked> Walk::asked_of(const std::vector<Key>& keys, const Job& job) {
    std::vector<Asked> asked;
    for (std::size_t i = 0; i < job.keys.size(); ++i)
        asked.push_back({keys[job.keys[i]], job.questions[i]});
    return asked;
}

// Asks for the job; it is to come back when one of the stores says so.
std::string Walk::put(const std::string& what, Job& job, bool& waits) {
    const auto asked = asked_of(m_keys, job);
    const std::size_t told_by = m_dice.below(2);
    std::vector<std::vector<Answer>> told;
    auto difference = compare(what, [&](Store& store) {
        const auto answers = store.ask(asked);
        told.push_back(answers ? *answers : std::vector<Answer>(asked.size()));
        return said(answers);
    });
    const auto& answers = told[told_by];
    const Answer& first = answers.front();
    job.told_us = m_stores.clock_us() + first.wait.count();
    const bool held = job.questions.front().hold && first.kind == AnswerKind::start;
    waits = (first.kind == AnswerKind::wait || held) && job.questions.front().taking == Taking::place;
    job.numbers.clear();
    job.leased = false;
    for (const auto& answer : answers) {
        job.numbers.push_back(answer.number);
        job.leased = job.leased || answer.leased;
    }
    if (first.kind == AnswerKind::start && !held) m_started.push_back(job);
    ++m_seen[held ? "held back" : waits ? "told to wait" : "told at once"];
    if (asked.size() > 1) ++m_seen["several keys"];
    for (const auto& answer : answers) {
        if (answer.wake > 0) ++m_seen["wake-up"];
    }
    return difference;
}

std::string Walk::arrive() {
    Job arrived = job();
    bool waits = false;
    auto difference = put("arrival", arrived, waits);
    if (waits) m_waiting.push_back(std::move(arrived));
    return difference;
}

std::string Walk::come_back() {
    if (m_waiting.empty()) return arrive();
    const auto at = m_dice.below(m_waiting.size());
    Job& job = m_waiting[at];
    m_key = job.keys.front();
    const bool anew = m_dice.chance(10), holds = m_dice.chance(20);
    job.known = job.known && !anew;
    const bool fresh = !job.known && m_dice.chance(50);
    const StartId id = m_dice.any();
    for (auto& q : job.questions) {
        q.fresh = fresh;
        q.hold = q.hold && holds;
        if (anew) q.id = id;
    }
    bool waits = false;
    auto difference = put("return", job, waits);
    if (!waits) m_waiting.erase(m_waiting.begin() + static_cast<std::ptrdiff_t>(at));
    return difference;
}

std::string Walk::leave() {
    if (m_waiting.empty() || m_dice.chance(10)) {
        const TicketId nobody = m_dice.any();
        return compare("cancel", [&](Store& store) { return said(store.cancel(key(), nobody)); });
    }
    const auto at = m_dice.below(m_waiting.size());
    const Job job = m_waiting[at];
    m_waiting.erase(m_waiting.begin() + static_cast<std::ptrdiff_t>(at));
    if (m_dice.chance(40)) return {};  // it died
    std::string difference;
    for (const std::size_t key_of_job : job.keys) {
        m_key = key_of_job;
        difference += compare(
            "cancel", [&](Store& store) { return said(store.cancel(key(), job.questions.front().place)); });
    }
    return difference;
}

std::string Walk::repeat() {
    if (m_started.empty()) return arrive();
    Job& started = m_started[some_started()];
    // Where its start was forgotten it starts anew, and without the ticket that it had.
    started.numbers.assign(started.keys.size(), 0);
    Job job = started;
    for (auto& q : job.questions) {
        q.fresh = false;
        q.taking = Taking::start;  // forgotten, it must not leave a ticket that nobody holds
    }
    const auto asked = asked_of(m_keys, job);
    return compare("repetition", [&](Store& store) { return said(store.ask(asked)); });
}

// By somebody new, or by one who waits for the key.
std::string Walk::look() {
    Job looks = job();
    const auto own = std::find_if(m_waiting.begin(), m_waiting.end(),
                                  [this](const Job& one) { return one.keys.front() == m_key; });
    if (own != m_waiting.end() && m_dice.chance(50)) looks = *own;
    for (auto& q : looks.questions)
        q.taking = Taking::nothing;
    const auto asked = asked_of(m_keys, looks);
    return compare("peek", [&](Store& store) { return said(store.ask(asked)); });
}

}  // namespace jobthrottle::test
