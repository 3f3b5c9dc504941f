// SPDX-License-Identifier: MIT
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "store/redis/url.hpp"

namespace jobthrottle {

// How long to wait for the network, and what else ends a wait: something to read on interrupt_fd (-1: none).
struct Patience {
    BootTime until;
    int interrupt_fd = -1;
    Duration allowed{};  // what a message says that it was
};

enum class Woken {
    ready,
    late,
    interrupted,
};

// Waits until one of `events` (poll's) is true of the descriptor; -1: of none, so until it is late. What is
// ready wins over an interruption.
Woken wait_for(int fd, short events, const Patience&);

bool is_readable(int fd);  // now; not where the descriptor is -1

// A non-blocking, close-on-exec stream to where the URL points. Errors (unavailable, refused where rights are
// missing, interrupted) give the reason alone.
Result<Fd> connect_to(const RedisUrl&, const Patience&);

Error late_error(const char* what, const Patience&);  // unavailable: "connect: timed out after 1s"
Error interrupted_error();

}  // namespace jobthrottle
