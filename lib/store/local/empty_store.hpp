// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>

#include "store/store.hpp"

namespace jobthrottle::local {

// What is seen where nobody has made a store yet. To be looked at only: what would change it is an error
// (internal).
class EmptyStore final : public Store {
public:
    explicit EmptyStore(std::string name) : m_name(std::move(name)) {}

    Result<std::vector<Answer>> ask(const std::vector<Asked>&) override { return not_for_that(); }
    Result<void> cancel(const Key&, TicketId) override { return not_for_that(); }
    Result<std::vector<int>> listen(const std::vector<WakeUp>&) override { return std::vector<int>{}; }
    Result<LeaseAnswer> renew(const Key&, const Renewal&) override { return not_for_that(); }
    Result<LeaseAnswer> release(const Key&, const Release&) override { return not_for_that(); }
    Result<std::vector<Holder>> release_leases(const Key&, bool) override { return not_for_that(); }
    Result<SettleAnswer> settle(const Key&, const Settlement&) override { return not_for_that(); }
    Result<bool> give_back(const Key&, const GiveBack&) override { return not_for_that(); }
    std::string processes(pid_t, pid_t) const override { return {}; }
    Result<PauseAnswer> pause(const Key&, const PauseRequest&) override { return not_for_that(); }
    Result<PauseAnswer> resume(const Key&) override { return not_for_that(); }
    Result<std::optional<Registration>> set_registration(const Key&,
                                                         const std::optional<Registration>&) override {
        return not_for_that();
    }
    Result<std::optional<Registration>> registration(const Key&) override {
        return std::optional<Registration>{};
    }
    Result<KeyReport> inspect(const Key&) override { return KeyReport{}; }
    Result<std::vector<KeySummary>> keys(const std::string&) override { return std::vector<KeySummary>{}; }
    Result<ForgetAnswer> forget(const Key&, bool) override { return not_for_that(); }
    std::string name() const override { return m_name; }
    void hurry(Duration) override {}
    void rest() override {}

private:
    static Error not_for_that() { return internal_error("the store was opened to be looked at only"); }

    std::string m_name;
};

}  // namespace jobthrottle::local
