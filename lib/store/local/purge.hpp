// SPDX-License-Identifier: MIT
#pragma once

#include "store/local/key_table.hpp"

namespace jobthrottle::local {

// Drops a little of what is not needed any more, so that the file does not grow for ever and no call pays for
// many keys: at most two keys and 64 leftover records.
void purge(Transaction&, KeyTable&, const Moment&);

}  // namespace jobthrottle::local
