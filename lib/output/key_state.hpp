// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/report.hpp"
#include "output/inspect.hpp"
#include "output/wall_clock.hpp"

namespace jobthrottle {

// How a key stands for a job that comes now, what holds it most first.
enum class KeyState { paused, busy, free };

KeyState state_of(const KeyReport&);

bool all_places_taken(const KeyReport&);  // of its concurrency

// "FREE, the next job starts at once", "BUSY, 20 waiting; a job coming now starts in about 15 s" or "when a
// place is free", "PAUSED until 14:31:07, 27m45s left".
std::string state_sentence(const KeyReport&, const LocalTime& now);

// The first word, which names the state, in the state's colour.
std::string coloured(const std::string& sentence, KeyState, bool colour);

std::int64_t count_in_line(const KeyReport&);

// Paused first, the longest first; then busy likewise; then free; of equals by the bytes of the key.
std::vector<NamedReport> most_limited_first(std::vector<NamedReport>);

}  // namespace jobthrottle
