// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/run_program.hpp"
#include "support/temp_dir.hpp"

namespace jobthrottle::test {

// nginx as a provider that allows `per_second` requests a second, evenly spaced (limit_req, burst=1 nodelay),
// and answers 429 to the others and 200 with "ok" to the rest. Its own configuration, on a port of 127.0.0.1;
// gone with this object. Everything that fails throws.
class NginxLimiter {
public:
    explicit NginxLimiter(int per_second);

    std::string url() const { return "http://127.0.0.1:" + std::to_string(m_port) + "/"; }

    struct Answer {
        Duration at{};  // since the epoch, when the answer was sent; whole milliseconds
        int status = 0;
    };
    // All requests answered so far, in the order of the answers. Complete once the clients have their
    // answers: waits until there are `at_least`, and throws after 10 s without them.
    std::vector<Answer> answers(std::size_t at_least = 0) const;

private:
    bool try_start(int per_second, std::uint16_t port);

    TempDir m_dir;
    std::optional<Program> m_server;
    std::uint16_t m_port = 0;
};

// How many of them have this status.
std::size_t count_of(const std::vector<NginxLimiter::Answer>& answers, int status);

}  // namespace jobthrottle::test
