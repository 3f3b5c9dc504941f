// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "run/events.hpp"

namespace jobthrottle::test {

// Tells nobody anything; a test overrides what it wants to hear.
class SilentEvents : public Events {
public:
    void answered(const Key&, const Answer&) override {}
    void waiting(const WaitStatus&) override {}
    Duration waiting_interval() const override { return std::chrono::hours{1}; }
    void status(const WaitStatus&) override {}
    void wait_over() override {}
    void attempt_begins(int, const std::string&) override {}
    void attempt_ended(int, const ChildEnd&) override {}
    void refused(const RefusalNotice&) override {}
    void other_numbers(const Key&, const Answer&) override {}
    void state_lost(const Key&, Duration) override {}
    void store_away(const std::string&, const Error&, std::optional<OnStoreError>) override {}
    void store_back(const std::string&) override {}
    void lease_lost(const Key&, Duration, bool) override {}
    void lease_retaken(const Key&, Duration) override {}
    void failed_will_retry(const FailureNotice&) override {}
    void warning(const std::string&) override {}
};

}  // namespace jobthrottle::test
