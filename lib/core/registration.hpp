// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/terms.hpp"

namespace jobthrottle {

// The limits that a team keeps with the key itself, without expiry. In a store they are one text: "AT_S
// CONCURRENCY RATES" (concurrency 0: none; how many rates), then for each rate " ALLOW PERIOD_US BURST
// WINDOW_BURST", then " " and WHO, free text to the end. AT_S is the wall time in seconds.
struct Registration {
    Terms terms;            // not empty
    std::int64_t at_s = 0;  // seconds since the epoch
    std::string who;        // "user@host"
};

std::string encode(const Registration&);
std::optional<Registration> decode_registration(std::string_view bytes);

}  // namespace jobthrottle
