// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "store/redis/url.hpp"
#include "store/store.hpp"

namespace jobthrottle {

struct RedisOptions {
    RedisUrl url;
    std::string prefix = "jobthrottle";  // of all names; keeps applications apart
    Duration connect_timeout = std::chrono::seconds{1};
    Duration command_timeout = std::chrono::seconds{2};
    std::optional<std::string> password;  // wins over the one in the URL
    // Something to read there ends a call that would wait, with an `interrupted` error. -1: nothing does.
    // Borrowed.
    int interrupt_fd = -1;
    // Told, in one line without the program's name, what `keys` had to leave out.
    std::function<void(const std::string&)> notice;
    // For tests: the store's clock in microseconds, instead of the server's TIME.
    std::function<std::int64_t()> clock_us;
};

// The state of all keys in a Redis server, as doc/state.md describes it: one script call a decision. Connects
// at the first call, and again when the connection was lost. A call takes at most connect_timeout and
// command_timeout. Errors give the reason alone, never a password: who prints them names the store.
std::unique_ptr<Store> make_redis_store(const RedisOptions& options);

}  // namespace jobthrottle
