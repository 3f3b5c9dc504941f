// SPDX-License-Identifier: MIT
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include "base/result.hpp"

namespace jobthrottle {

// Standard input as it was before the first attempt, so that a further attempt can have the same. Never
// reads.
class StandardInput {
public:
    static StandardInput look();

    // Puts a file back to where it stood. True: a further attempt sees what the first one saw (a file, a
    // terminal, a device, nothing at all, or a pipe nobody has read from). False: an attempt has read from a
    // pipe or socket and what it took is gone. An error: the file could not be put back.
    Result<bool> put_back() const;

private:
    enum class Kind { closed, file, stream, device };
    static int unread();

    Kind m_kind = Kind::closed;
    off_t m_offset = 0;      // of a file
    timespec m_last_read{};  // of a stream: the kernel notes when one was read
    int m_unread = 0;        // of a stream, bytes
};

}  // namespace jobthrottle
