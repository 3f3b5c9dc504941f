// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "base/time.hpp"
#include "store/local/environment.hpp"
#include "store/local/key_table.hpp"
#include "store/local/place.hpp"

namespace jobthrottle::local {

// What is to be known, and done, before a data file is trusted.
struct ExaminePlan {
    std::string path;   // the file
    std::string draft;  // where a file for this boot is written, if the file is of an earlier one
    FilePlan rights;    // of the draft
    std::uint64_t boot = 0;
    Moment moment;
};

enum class Finding : std::uint8_t {
    whole,       // and a change could be written
    earlier,     // whole, of an earlier boot: the draft has what outlives a reboot
    damaged,     // torn or foreign; the file may be set aside
    newer,       // of a newer version
    system,      // the system said no: `code` is errno
    unfinished,  // the examination was killed or took too long: nothing is known
};
struct Examination {
    Finding finding = Finding::unfinished;
    int code = 0;
};

// Opens the file in a child process, since a torn one can end whoever maps it; checks every page, reads every
// record, and writes one change. REQUIRES: the store's lock is held.
Examination examine(const ExaminePlan&, Duration at_most);

}  // namespace jobthrottle::local
