// SPDX-License-Identifier: MIT
#include "process/standard_descriptors.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace jobthrottle {

void reserve_standard_descriptors() {
    // The lowest free number is taken, so in rising order each lands on the one that is closed. A path-only
    // descriptor can neither be read nor written, as if it were closed.
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        if (fcntl(fd, F_GETFD) < 0) (void)open("/", O_PATH | O_CLOEXEC);
    }
}

bool is_closed(int fd) {
    const int flags = fcntl(fd, F_GETFL);
    return flags < 0 || (flags & O_PATH) != 0;
}

}  // namespace jobthrottle
