// SPDX-License-Identifier: MIT
// Sockets for tests: blocking, with a time limit of 10 s on every read and write, above descriptor 2.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.hpp"

namespace jobthrottle::test {

// A port of 127.0.0.1 that was free a moment ago: another process may take it first, so be ready to try
// again.
std::uint16_t spare_port();

Fd listen_on_any_port();  // on 127.0.0.1
std::uint16_t port_of(const Fd& listener);

// None when nobody listens there.
Fd connect_to_port(std::uint16_t port);
Fd connect_to_socket(const std::string& path);

// False when the other side is gone or too slow.
bool send_all(const Fd& fd, std::string_view bytes);
// What is there now, at least one byte; empty at the end, after an error, and after 10 s.
std::string receive_some(const Fd& fd);

}  // namespace jobthrottle::test
