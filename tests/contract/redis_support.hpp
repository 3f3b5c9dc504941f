// SPDX-License-Identifier: MIT
// Redis stores for tests, and servers that are none.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "store/redis/redis_store.hpp"
#include "support/net.hpp"
#include "support/redis_server.hpp"

namespace jobthrottle::test {

Key key_named(std::string bytes);
// A question with an id of its own that brings this rate.
Question question_at(const Rate&);
Rate rate_of(std::int64_t allow, Duration period);
Terms terms_of(const std::vector<Rate>& rates, std::optional<std::int64_t> concurrency = {});

// Which record names are where, see record_names().
constexpr std::size_t k_registered = 5, k_note = 6, k_log1 = 7, k_leases = 10, k_first_wake = 11;

// Counts small and large, 2/h and 50000/d: with a log of its own beside the one in the state.
Question large_question();
// A key with starts, attempts under way, waiters in line, one who came late, a note and a registration. Moves
// the clock that the store goes by.
void fill(Store& store, const Key& key, std::int64_t& clock_us);

// Limits that a loaded machine keeps: 20 s each. The throwing kind of make_redis_store().
jobthrottle::RedisOptions options_for(const std::string& url);
std::unique_ptr<Store> redis_at(const std::string& url);

// A server on a port of 127.0.0.1 that does as a test says: the handler is called for every connection, one
// after the other, in a thread of its own, and returns soon after `stop` is set.
class FakeServer {
public:
    using Handler = std::function<void(const Fd& connection, const std::atomic<bool>& stop)>;
    explicit FakeServer(Handler handler);
    // Answers every connection with these bytes once something has come, then waits for its end.
    explicit FakeServer(std::string answer);
    FakeServer(const FakeServer&) = delete;
    FakeServer& operator=(const FakeServer&) = delete;
    ~FakeServer();

    std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_of(m_listener)); }

private:
    Fd m_listener = listen_on_any_port();
    std::atomic<bool> m_stop{false};
    std::thread m_thread;
};

// Whether a call whose limits are well under a second ended in time: far less than a hang, far more than a
// loaded machine needs.
bool ended_in_time(BootTime began);

}  // namespace jobthrottle::test
