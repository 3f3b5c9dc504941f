// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "core/key.hpp"
#include "core/report.hpp"

namespace jobthrottle {

// What `inspect` shows, as text and as JSON.
struct InspectView {
    Key key;
    std::string store;        // its name, any password masked
    std::string shared_note;  // "shared by user dev only", or empty
    KeyReport report;
    WallTime now{};
    int utc_offset_s = 0;
    std::vector<std::string> nearest;  // known keys near this one, raw; for a key that is not known
    bool everybody = false;            // all of the waiting list, however long
};

// For a person: lines that each end with a newline, none wider than `width` columns (20 at least; what does
// not fit is wrapped or left out). `colour` marks the state with ANSI sequences, which take no column.
std::string inspect_text(const InspectView&, int width, bool colour);

using NamedReport = std::pair<Key, KeyReport>;

// A table with one line for each key, what is paused first, then what is busy; empty for no keys.
std::string keys_text(const std::vector<NamedReport>&, int width, bool colour);

// Those that hold something of a key and those that wait, as inspect_text shows them; for `forget` that found
// somebody.
std::string jobs_text(const std::vector<Waiter>&, const std::vector<Holder>&, int width);

}  // namespace jobthrottle
