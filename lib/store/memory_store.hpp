// SPDX-License-Identifier: MIT
#pragma once

#include <map>

#include "core/memory_records.hpp"
#include "store/store.hpp"

namespace jobthrottle {

// A whole store in memory with a clock that its owner moves: for tests, and the measure of the others.
class MemoryStore final : public Store {
public:
    explicit MemoryStore(StoreTraits traits = {std::chrono::seconds{2}}) : m_traits(traits) {}

    void set_clock(Instant now) { m_now = now; }
    void advance(Duration d) { m_now += d; }
    Instant clock() const { return m_now; }
    // The next calls fail with this error, until it is taken back.
    void fail_with(std::optional<Error> error) { m_failure = std::move(error); }
    MemoryRecords& records(const Key& key) { return m_keys[key]; }

    Result<Answer> ask(const Key&, const Question&) override;
    Result<void> cancel(const Key&, TicketId) override;
    Result<PauseAnswer> pause(const Key&, const PauseRequest&) override;
    Result<PauseAnswer> resume(const Key&) override;
    Result<std::optional<Registration>> set_registration(const Key&,
                                                         const std::optional<Registration>&) override;
    Result<std::optional<Registration>> registration(const Key&) override;
    Result<KeyReport> inspect(const Key&) override;
    Result<std::vector<KeySummary>> keys(const std::string& pattern) override;
    Result<ForgetAnswer> forget(const Key&, bool force) override;
    std::string name() const override { return "memory:"; }
    void hurry(Duration) override {}
    void rest() override {}

private:
    StoreTraits m_traits;
    Instant m_now = instant_us(1'700'000'000'000'000);
    std::map<Key, MemoryRecords> m_keys;
    std::optional<Error> m_failure;
};

}  // namespace jobthrottle
