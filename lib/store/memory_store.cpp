// SPDX-License-Identifier: MIT
#include "store/memory_store.hpp"

#include "store/glob.hpp"

namespace jobthrottle {

Result<std::vector<Answer>> MemoryStore::ask(const std::vector<Asked>& asked) {
    if (m_failure) return *m_failure;
    std::vector<KeyQuestion> questions;
    for (const auto& one : asked)
        questions.push_back({&m_keys[one.key], &one.question});
    return jobthrottle::ask(questions, to_us(m_now), m_traits);
}

Result<void> MemoryStore::cancel(const Key& key, TicketId id) {
    if (m_failure) return *m_failure;
    jobthrottle::cancel(m_keys[key], to_us(m_now), id);
    return {};
}

Result<LeaseAnswer> MemoryStore::renew(const Key& key, const Renewal& renewal) {
    if (m_failure) return *m_failure;
    return jobthrottle::renew(m_keys[key], to_us(m_now), renewal);
}

Result<LeaseAnswer> MemoryStore::release(const Key& key, const Release& release) {
    if (m_failure) return *m_failure;
    return jobthrottle::release(m_keys[key], to_us(m_now), release);
}

Result<std::vector<Holder>> MemoryStore::release_leases(const Key& key, bool only_dead) {
    if (m_failure) return *m_failure;
    return release_holders(m_keys[key], to_us(m_now), only_dead);
}

Result<SettleAnswer> MemoryStore::settle(const Key& key, const Settlement& settlement) {
    if (m_failure) return *m_failure;
    return jobthrottle::settle(m_keys[key], to_us(m_now), settlement);
}

Result<bool> MemoryStore::give_back(const Key& key, const GiveBack& given) {
    if (m_failure) return *m_failure;
    return jobthrottle::give_back(m_keys[key], to_us(m_now), given);
}

Result<PauseAnswer> MemoryStore::pause(const Key& key, const PauseRequest& request) {
    if (m_failure) return *m_failure;
    return jobthrottle::pause(m_keys[key], to_us(m_now), request);
}

Result<PauseAnswer> MemoryStore::resume(const Key& key) {
    if (m_failure) return *m_failure;
    return jobthrottle::resume(m_keys[key], to_us(m_now));
}

Result<std::optional<Registration>> MemoryStore::set_registration(const Key& key,
                                                                  const std::optional<Registration>& wanted) {
    if (m_failure) return *m_failure;
    auto before = m_keys[key].registration();
    m_keys[key].put_registration(wanted);
    return before;
}

Result<std::optional<Registration>> MemoryStore::registration(const Key& key) {
    if (m_failure) return *m_failure;
    return m_keys[key].registration();
}

Result<KeyReport> MemoryStore::inspect(const Key& key) {
    if (m_failure) return *m_failure;
    return report_on(m_keys[key], to_us(m_now));
}

Result<std::vector<KeySummary>> MemoryStore::keys(const std::string& pattern) {
    if (m_failure) return *m_failure;
    std::vector<KeySummary> found;
    for (const auto& [key, records] : m_keys) {
        if (!glob_matches(pattern, key.bytes())) continue;
        auto report = report_on(records, to_us(m_now));
        if (report.known) found.push_back({key, std::move(report)});
    }
    return found;
}

Result<ForgetAnswer> MemoryStore::forget(const Key& key, bool force) {
    if (m_failure) return *m_failure;
    return forget_records(m_keys[key], report_on(m_keys[key], to_us(m_now)), force);
}

}  // namespace jobthrottle
