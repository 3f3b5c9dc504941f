// SPDX-License-Identifier: MIT
// What the gate asks of each key.
#include <algorithm>

#include "run/gate_wait.hpp"

namespace jobthrottle {

std::vector<Asked> Gate::questions_for(const Wait& wait) {
    std::vector<Asked> asked;
    asked.reserve(m_options.claims.size());
    for (const auto& claim : m_options.claims)
        asked.push_back({claim.key, question_for(wait, claim)});
    return asked;
}

Question Gate::question_for(const Wait& wait, const Claim& claim) {
    Question question;
    question.id = wait.id;
    question.place = wait.place;
    question.fresh = wait.fresh;
    question.terms = claim.terms;
    question.pause_only = claim.pause_only;
    question.override_registered = claim.override_registered;
    question.cost = claim.cost;
    question.count_successes = claim.count_successes;
    question.settles = claim.settles;
    question.lock_for = first_lock(claim.lock_for);
    question.max_waiting = m_options.max_waiting;
    question.ancestors = m_options.ancestors;
    question.who = m_options.who;
    if (claim.terms.concurrency() || m_at_once) question.processes = processes();
    question.caller = m_options.no_wait && m_options.ticket.has_value();
    question.keep = m_options.ticket ? m_options.ticket_keep : k_runner_keep;
    if (m_options.no_wait && !m_options.ticket) question.taking = Taking::start;
    if (m_options.peek) question.taking = Taking::nothing;
    return question;
}

const std::string& Gate::processes() {
    if (!m_processes) m_processes = m_options.holder ? store().processes(*m_options.holder, 0) : "";
    return *m_processes;
}

bool Gate::wants_concurrency() const {
    return m_at_once || std::any_of(m_options.claims.begin(), m_options.claims.end(),
                                    [](const Claim& claim) { return claim.terms.concurrency().has_value(); });
}

}  // namespace jobthrottle
