// SPDX-License-Identifier: MIT
// A memory store and a Redis store that are driven alike, and what differs between them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/memory_store.hpp"
#include "store/redis/connection.hpp"
#include "store/redis/redis_store.hpp"
#include "support/redis_server.hpp"

namespace jobthrottle::test {

// Both stores on one clock, which only the test moves. The Redis one is a server of its own.
class Pair {
public:
    Pair();

    Instant now() const { return m_memory.clock(); }
    void advance(Duration d) { m_memory.advance(d); }
    // Of both, by turns; each returns what differs in the answers and in the records afterwards, or nothing.
    std::string ask(const std::vector<Asked>&, std::vector<Answer>& answers);
    std::string ask(const Key&, const Question&, Answer& answer);
    // Answers alone, for when the records are looked at later.
    std::string ask_only(const std::vector<Asked>&, std::vector<Answer>& answers);
    std::string ask_only(const Key&, const Question&, Answer& answer);
    std::string cancel(const Key&, TicketId);
    std::string renew(const Key&, const Renewal&);
    std::string release(const Key&, const Release&);
    std::string release_leases(const Key&, bool only_dead);
    std::string settle(const Key&, const Settlement&);
    std::string give_back(const Key&, const GiveBack&);
    std::string pause(const Key&, const PauseRequest&);
    std::string resume(const Key&);
    std::string set_registration(const Key&, const std::optional<Registration>&);
    std::string forget(const Key&, bool force);
    std::string inspect(const Key&);

    RedisServer& server() { return m_server; }

private:
    // Byte by byte, who was woken since the last look, and that every record in Redis has an expiry that it
    // may have.
    std::string difference(const Key&);
    std::vector<Reply> redis(const std::vector<Command>&);

    RedisServer m_server;
    MemoryStore m_memory{StoreTraits{std::chrono::seconds{5}}};
    std::unique_ptr<Store> m_redis;
    Connection m_connection;
    BootTime m_looked_at{};
};

}  // namespace jobthrottle::test
