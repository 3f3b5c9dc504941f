// SPDX-License-Identifier: MIT
#pragma once

#include <map>

#include "core/memory_records.hpp"
#include "store/store.hpp"

namespace jobthrottle {

// A whole store in memory with a clock that its owner moves: for tests, and the measure of the others. Nobody
// is woken; records(key).take_woken() says who would have been.
class MemoryStore final : public Store {
public:
    explicit MemoryStore(StoreTraits traits = {std::chrono::seconds{2}}) : m_traits(traits) {}

    void set_clock(Instant now) { m_now = now; }
    void advance(Duration d) { m_now += d; }
    Instant clock() const { return m_now; }
    // The next calls fail with this error, until it is taken back.
    void fail_with(std::optional<Error> error) { m_failure = std::move(error); }
    MemoryRecords& records(const Key& key) { return m_keys[key]; }

    using Store::ask;
    Result<std::vector<Answer>> ask(const std::vector<Asked>&) override;
    Result<void> cancel(const Key&, TicketId) override;
    Result<std::vector<int>> listen(const std::vector<WakeUp>&) override { return std::vector<int>{}; }
    Result<LeaseAnswer> renew(const Key&, const Renewal&) override;
    Result<LeaseAnswer> release(const Key&, const Release&) override;
    Result<std::vector<Holder>> release_leases(const Key&, bool only_dead) override;
    Result<SettleAnswer> settle(const Key&, const Settlement&) override;
    Result<bool> give_back(const Key&, const GiveBack&) override;
    std::string processes(pid_t, pid_t) const override { return {}; }
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
