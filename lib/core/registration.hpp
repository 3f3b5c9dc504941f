// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/rate.hpp"

namespace jobthrottle {

// The limit that a team keeps with the key itself, without expiry. In a store it is one text:
// "ALLOW PERIOD_US BURST AT_S WHO", AT_S the wall time in seconds, WHO free text to the end.
struct Registration {
    Rate rate;
    std::int64_t at_s = 0;  // seconds since the epoch
    std::string who;        // "user@host"
};

std::string encode(const Registration&);
std::optional<Registration> decode_registration(std::string_view bytes);

}  // namespace jobthrottle
