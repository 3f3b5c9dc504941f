// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace jobthrottle {

// The code word that an error reply begins with. Redis before 7 puts one of a script's command behind a
// description of the script; then it is the word after that. NOPERM, too, where a script lacks a right and
// the server has no code for it.
std::string_view error_code(std::string_view text);

// What an error reply means: `unavailable` where the server starts, fails over or is too busy, `refused`
// otherwise. The message is the reason alone, without the store's name; the server's own words are in it
// where they help, with `secret` (if not empty) taken out.
Error error_of_reply(std::string_view text, std::string_view secret);

// It was said by a server that is no master any more: a new connection may reach the new one.
bool is_failover(std::string_view text);

}  // namespace jobthrottle
