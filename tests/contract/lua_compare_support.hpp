// SPDX-License-Identifier: MIT
// A memory store and a Redis store that are driven alike, and what differs between them.
#pragma once

#include <memory>
#include <string>

#include "store/memory_store.hpp"
#include "store/redis/connection.hpp"
#include "store/redis/redis_store.hpp"
#include "support/redis_server.hpp"

namespace jobthrottle::test {

std::string text_of(const Answer&);
std::string text_of(const PauseAnswer&);

// Both stores on one clock, which only the test moves. The Redis one is a server of its own.
class Pair {
public:
    Pair();

    Instant now() const { return m_memory.clock(); }
    void advance(Duration d) { m_memory.advance(d); }
    // Of both, by turns; each returns what differs in the answers and in the records afterwards, or nothing.
    std::string ask(const Key&, const Question&, Answer& answer);
    // Answers alone, for when the records are looked at later.
    std::string ask_only(const Key&, const Question&, Answer& answer);
    std::string cancel(const Key&, TicketId);
    std::string pause(const Key&, const PauseRequest&);
    std::string resume(const Key&);
    std::string set_registration(const Key&, const std::optional<Registration>&);
    std::string forget(const Key&);  // forced
    std::string inspect(const Key&);

    RedisServer& server() { return m_server; }

private:
    // Byte by byte, and that every record in Redis has an expiry that it may have.
    std::string difference(const Key&);

    RedisServer m_server;
    MemoryStore m_memory{StoreTraits{std::chrono::seconds{5}}};
    std::unique_ptr<Store> m_redis;
    Connection m_connection;
};

}  // namespace jobthrottle::test
