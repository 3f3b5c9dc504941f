// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace jobthrottle::local {

enum class Pages : std::uint8_t {
    sound,
    torn,     // or no file of LMDB
    foreign,  // of another version of LMDB, which says so itself
};

// Reads the file page by page, without mapping it, and looks at everything that LMDB relies on and does not
// check when it changes a page: the bounds, the nodes and the order of every page of both trees, the list of
// free pages, and that no page is used twice. A page with a wrong bound can be read well, and ends whoever
// writes to it. REQUIRES: nobody changes the file meanwhile.
Pages check_pages(int fd);

}  // namespace jobthrottle::local
