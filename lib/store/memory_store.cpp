// SPDX-License-Identifier: MIT
#include "store/memory_store.hpp"

#include "store/glob.hpp"

namespace jobthrottle {

Result<Answer> MemoryStore::ask(const Key& key, const Question& question) {
    if (m_failure) return *m_failure;
    return jobthrottle::ask(m_keys[key], to_us(m_now), question, m_traits);
}

Result<void> MemoryStore::cancel(const Key& key, TicketId id) {
    if (m_failure) return *m_failure;
    jobthrottle::cancel(m_keys[key], to_us(m_now), id);
    return {};
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
