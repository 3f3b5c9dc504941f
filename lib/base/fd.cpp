// SPDX-License-Identifier: MIT
#include "base/fd.hpp"

#include <unistd.h>

namespace jobthrottle {

void Fd::reset(int fd) noexcept {
    if (m_fd >= 0) ::close(m_fd);
    m_fd = fd;
}

}  // namespace jobthrottle
