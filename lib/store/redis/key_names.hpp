// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/key.hpp"

namespace jobthrottle {

// The names of the records of a key in Redis: PREFIX:{KEY}:PART, so that all of a key share one hash slot. In
// PREFIX and KEY the bytes that a name or a pattern could stumble over (braces, spaces, controls, %, pattern
// characters, invalid UTF-8) are written %XX.
std::string encode_for_name(std::string_view bytes);

// In the order that the scripts take them: state recent tickets line due registered note log1 log2 log3
// leases wake1 wake2 wake3 wake4.
constexpr std::size_t k_record_names = 15;
std::vector<std::string> record_names(const std::string& prefix, const Key&);
// The list that a waiter with the n-th wake-up reads.
std::string wake_list_name(const std::string& prefix, const Key&, std::int64_t wake);

// A pattern of SCAN for the records of all keys, and the key that such a name belongs to. Nothing where the
// name is none of `state`, `registered` and `note`: every known key has one of these.
std::string names_pattern(const std::string& prefix);
std::optional<Key> key_of_name(const std::string& prefix, std::string_view name);

}  // namespace jobthrottle
