// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/time.hpp"
#include "core/terms.hpp"

namespace jobthrottle::test {

// Many jobs without a command that wait at the gates of one key: each with a gate and a client of the store
// of its own, as a process would have, in a thread instead of a process.
class Waiters {
public:
    Waiters(std::string store_url, std::string key, Terms terms);
    Waiters(const Waiters&) = delete;
    Waiters& operator=(const Waiters&) = delete;
    ~Waiters();  // all are told to go, and waited for

    void add_one();
    void finish();  // until all are through. Throws when one is not let through.

    struct Passed {
        std::int64_t number = 0;  // of its ticket
        BootTime at;
    };
    std::size_t count_passed() const;
    // Those that have passed up to now, by the moment at which they did.
    std::vector<Passed> passed() const;

private:
    void wait_for_a_start();

    std::string m_store_url;
    std::string m_key;
    Terms m_terms;
    std::atomic<bool> m_stop{false};
    mutable std::mutex m_mutex;  // of what follows
    std::vector<Passed> m_passed;
    std::vector<std::string> m_faults;
    std::vector<std::thread> m_threads;
};

}  // namespace jobthrottle::test
