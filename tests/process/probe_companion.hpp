// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "process/child.hpp"

namespace jobthrottle::test {

// Says so when the command has started; once the file is there, sends the command signals, each the given
// time after the one before.
class Sender final : public Companion {
public:
    void plan(const std::string& entry) {  // MILLISECONDS:SIGNAL, 0 is none
        const auto colon = entry.find(':');
        m_plan.emplace_back(std::chrono::milliseconds{std::atoi(entry.c_str())},
                            std::atoi(entry.c_str() + colon + 1));
    }
    void wait_for(const std::string& file) { m_file = file; }
    void started(pid_t command) override {
        m_next = 0;
        std::fprintf(stderr, "started %d\n", static_cast<int>(command));
        set_due();
    }
    BootTime due() const override { return m_due; }
    std::optional<int> act() override {
        if (!m_file.empty() && access(m_file.c_str(), F_OK) != 0) {
            m_due = BootClock::now() + std::chrono::milliseconds{5};
            return std::nullopt;
        }
        const int signal = m_plan.at(m_next++).second;
        set_due();
        std::fprintf(stderr, "act %d\n", signal);
        return signal == 0 ? std::nullopt : std::optional<int>{signal};
    }

private:
    void set_due() {
        m_due = m_next < m_plan.size() ? BootClock::now() + m_plan[m_next].first : BootTime::max();
    }
    std::string m_file;
    std::vector<std::pair<Duration, int>> m_plan;
    std::size_t m_next = 0;
    BootTime m_due{};
};

}  // namespace jobthrottle::test
