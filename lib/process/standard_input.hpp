// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include "base/result.hpp"

namespace jobthrottle {

// Standard input as it was before the first attempt, so that a further attempt can have the same. Never
// reads.
class StandardInput {
public:
    static StandardInput look();

    // Puts a file back to where it stood. True: a further attempt sees what the first one saw (a file, a
    // terminal, a device, nothing at all, or a pipe or socket nobody has read from). False: an attempt has
    // read from the pipe and what it took is gone. An error: the file could not be put back.
    //
    // Whether a pipe was read from is told by what waits in it: less than before, or it has come to its end.
    // One that was empty and open before and is so again counts as not read, which is what an idle one looks
    // like.
    Result<bool> put_back() const;

private:
    enum class Kind { closed, file, stream, device };
    struct Waiting {
        int bytes = 0;
        bool ended = false;  // no writer is left
    };
    static Waiting waiting();

    Kind m_kind = Kind::closed;
    off_t m_offset = 0;  // of a file
    Waiting m_waiting;   // of a stream
};

}  // namespace jobthrottle
