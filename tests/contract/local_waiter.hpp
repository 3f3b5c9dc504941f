// SPDX-License-Identifier: MIT
// Waiters for a lease on the local store, and those whom they wait for.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "contract/local_support.hpp"
#include "support/spawn.hpp"
#include "support/temp_dir.hpp"

namespace jobthrottle::test {

// A store whose clock stands still, so that nobody comes late, however slow the machine is.
LocalOptions timeless_options_in(const std::string& folder);

constexpr int k_patience_ms = 30'000;

// Whether one of them is readable within this time.
bool woken(const std::vector<int>& descriptors, int within_ms);

// A waiter for the one place of a key, as run's gate is one. What goes wrong throws std::runtime_error.
class LeaseWaiter {
public:
    LeaseWaiter(const LocalOptions& options, TicketId place, const std::string& key = "k");

    Answer ask();
    std::vector<int> listen();
    bool wait();  // until it starts; false when nobody wakes it
    Store& store() { return *m_store; }
    const Key& key() const { return m_key; }

private:
    std::unique_ptr<Store> m_store;
    Key m_key;
    TicketId m_place;
    std::int64_t m_wake = 0;
};

// Takes the one place of "k" for an hour; without processes its holder cannot be seen.
StartId take_place(Store& store, const std::string& processes = {});

std::string wake_file(const TempDir& folder, TicketId place);  // REQUIRES: place < 16
extern const std::vector<std::string> k_no_wake_files;         // what the folder holds but for them

void expect_byte(const Pipe& pipe);
pid_t start_sleeper();  // a child that does nothing but live
void end_by_force(pid_t child);

}  // namespace jobthrottle::test
