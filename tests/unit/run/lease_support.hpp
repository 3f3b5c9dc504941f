// SPDX-License-Identifier: MIT
// A store of which only leases matter, and somebody who listens for them.
#pragma once

#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fakes.hpp"
#include "support/catch.hpp"
#include "support/silent_events.hpp"

namespace jobthrottle::test {

using Calls = std::vector<std::string>;

// What the stores of a test share: it is used by two threads.
struct Ledger {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::string, LeaseState> states;  // of a key; held where none is given
    std::set<std::string> away;                // keys for which the store does not answer
    bool hangs = false;
    int under_way = 0;
    Calls calls;
    int opened = 0;
    int rests = 0;
    bool signals_blocked = true;
    std::set<std::thread::id> threads;

    void set(const std::function<void(Ledger&)>& change) {
        {
            const std::lock_guard lock(mutex);
            change(*this);
        }
        changed.notify_all();
    }
    Calls take_calls() {
        const std::lock_guard lock(mutex);
        return std::exchange(calls, {});
    }
};

// A store of which only leases matter.
class LeaseStore final : public DoorTo {
public:
    LeaseStore(Ledger& ledger, std::string processes)
        : DoorTo(m_other), m_ledger(ledger), m_processes(std::move(processes)) {}

    Result<LeaseAnswer> renew(const Key& key, const Renewal& renewal) override {
        std::unique_lock lock(m_ledger.mutex);
        m_ledger.calls.push_back(key.bytes() + " " + std::to_string(renewal.id) + " " +
                                 std::to_string(renewal.lock_for / 1s) + " " + renewal.processes);
        m_ledger.threads.insert(std::this_thread::get_id());
        sigset_t mask;
        pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        m_ledger.signals_blocked =
            m_ledger.signals_blocked && sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGCHLD) == 1;
        ++m_ledger.under_way;
        m_ledger.changed.notify_all();
        m_ledger.changed.wait(lock, [this] { return !m_ledger.hangs; });
        --m_ledger.under_way;
        if (m_ledger.away.count(key.bytes()) != 0) return unavailable_error("connect: timed out");
        const auto state = m_ledger.states.find(key.bytes());
        return LeaseAnswer{state == m_ledger.states.end() ? LeaseState::held : state->second, 3s};
    }
    std::string processes(pid_t wrapper, pid_t command) const override {
        if (m_processes.empty()) return {};
        return m_processes + (wrapper == getpid() ? " us " : " others ") + std::to_string(command);
    }
    void rest() override {
        m_ledger.set([](Ledger& l) { ++l.rests; });
    }

private:
    MemoryStore m_other;
    Ledger& m_ledger;
    std::string m_processes;
};

// Keeps what it is told of leases.
class LeaseEvents final : public SilentEvents {
public:
    void lease_lost(const Key& key, Duration lost_for, bool killed) override {
        tell(key, std::string(killed ? "killed " : "lost ") + std::to_string(lost_for / 1s));
    }
    void lease_retaken(const Key& key, Duration lost_for) override {
        tell(key, "retaken " + std::to_string(lost_for / 1s));
    }
    Calls take() { return std::exchange(m_told, {}); }

private:
    void tell(const Key& key, const std::string& what) {
        CHECK(std::this_thread::get_id() == m_thread);
        m_told.push_back(key.bytes() + " " + what);
    }
    std::thread::id m_thread = std::this_thread::get_id();
    Calls m_told;
};

}  // namespace jobthrottle::test
