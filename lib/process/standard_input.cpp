// SPDX-License-Identifier: MIT
#include "process/standard_input.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "process/standard_descriptors.hpp"

namespace jobthrottle {

StandardInput::Waiting StandardInput::waiting() {
    Waiting result;
    if (ioctl(STDIN_FILENO, FIONREAD, &result.bytes) != 0) result.bytes = 0;
    pollfd query{STDIN_FILENO, POLLRDHUP, 0};
    result.ended = poll(&query, 1, 0) > 0 && (query.revents & (POLLHUP | POLLRDHUP)) != 0;
    return result;
}

StandardInput StandardInput::look() {
    StandardInput input;
    struct stat status {};
    if (is_closed(STDIN_FILENO) || fstat(STDIN_FILENO, &status) != 0) return input;
    if (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode)) {
        input.m_kind = Kind::file;
        input.m_offset = lseek(STDIN_FILENO, 0, SEEK_CUR);
    } else if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) {
        input.m_kind = Kind::stream;
        input.m_waiting = waiting();
    } else {
        input.m_kind = Kind::device;
    }
    return input;
}

Result<bool> StandardInput::put_back() const {
    if (m_kind == Kind::file) {
        if (lseek(STDIN_FILENO, m_offset, SEEK_SET) < 0)
            return internal_error(std::string("cannot rewind standard input: ") + std::strerror(errno));
        return true;
    }
    if (m_kind != Kind::stream) return true;
    const Waiting now = waiting();
    const bool came_to_its_end = now.ended && !m_waiting.ended && now.bytes == 0;
    return now.bytes >= m_waiting.bytes && !came_to_its_end;
}

}  // namespace jobthrottle
