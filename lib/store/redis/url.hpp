// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace jobthrottle {

// Where a Redis listens and as whom to speak to it.
struct RedisUrl {
    std::string host;  // without brackets; empty: `socket_path` counts
    std::uint16_t port = 6379;
    std::string socket_path;
    std::string user;  // empty: the server's default user
    std::optional<std::string> password;
    int database = 0;

    std::string shown() const;  // a URL again, with *** for the password
};

// redis://[[USER]:PASSWORD@]HOST[:PORT][/DB] and unix://[[USER]:PASSWORD@]/PATH[?db=N], each part
// percent-decoded. A user without a password is taken: the password may come from elsewhere.
// Error: usage for anything ill-formed, config for the schemes of Redis that this version does not speak. No
// error message holds a password.
Result<RedisUrl> parse_redis_url(std::string_view text);

// For messages about a URL that may be ill-formed: everything before the last @ becomes ***, and what a
// terminal should not see is escaped.
std::string mask_url(std::string_view text);

}  // namespace jobthrottle
