// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

// The kinds of records of a key, and how their keys and payloads are laid out; doc/local-store.md has the
// table.
namespace jobthrottle::local {

constexpr char k_note = 'P', k_registration = 'R';
// What clear() drops is in small letters, which sort after the capitals.
constexpr char k_first_cleared = 'a';
constexpr char k_lease = 'a', k_deadline = 'd', k_header = 'h', k_log = 'l', k_in_line = 'o', k_recent = 'r',
               k_open = 's', k_ticket = 't', k_lease_deadline = 'u', k_away = 'w';

constexpr std::int64_t k_all = std::numeric_limits<std::int64_t>::max();  // for walk()

constexpr std::size_t k_number_at = 10;           // in a key: 'K', id, kind, then a number
constexpr std::size_t k_id_at = k_number_at + 8;  // in an order: behind what it is ordered by

}  // namespace jobthrottle::local
