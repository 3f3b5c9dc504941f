// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>

#include <vector>

#include "store/redis/socket.hpp"

namespace jobthrottle {

struct Address {
    sockaddr_storage storage{};
    socklen_t length = 0;
};

// The addresses of a host, at least one. A numeric host and localhost ask nobody. Everything else asks the
// system's resolver in a thread of its own, which is left to itself when it takes longer than the patience.
Result<std::vector<Address>> find_addresses(const std::string& host, std::uint16_t port, const Patience&);

}  // namespace jobthrottle
