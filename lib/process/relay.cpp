// SPDX-License-Identifier: MIT
#include "process/relay.hpp"

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace jobthrottle {

namespace {

constexpr std::size_t k_buffer_size = std::size_t{64} * 1024;  // what a pipe holds

}  // namespace

OutputRelay::OutputRelay(Fd source, int destination, Stream stream)
    : m_source(std::move(source)),
      m_destination(destination),
      m_stream(stream),
      m_buffer(new char[k_buffer_size]) {
    struct stat status {};
    if (fstat(destination, &status) != 0) return;
    m_to_pipe = S_ISFIFO(status.st_mode);
    m_to_socket = S_ISSOCK(status.st_mode);
}

void OutputRelay::prepare(pollfd* polls) const {
    polls[0] = {-1, 0, 0};
    polls[1] = {-1, 0, 0};
    if (!is_open()) return;
    if (has_pending()) {
        polls[1] = {m_destination, POLLOUT, 0};
        return;
    }
    polls[0] = {m_source.get(), POLLIN, 0};
    // A pipe tells of a reader that goes away without being written to.
    if (m_to_pipe) polls[1] = {m_destination, 0, 0};
}

void OutputRelay::act(const pollfd* polls, OutputWatcher& watcher) {
    if (!is_open()) return;
    if (m_to_pipe && (polls[1].revents & POLLERR) != 0) {
        m_source.reset();
        return;
    }
    if (has_pending()) {
        if (polls[1].revents != 0) write_some();
    } else if (polls[0].revents != 0) {
        read_some(watcher);
    }
    close_if_done();
}

void OutputRelay::finish() {
    int waiting = 0;
    if (!is_open()) return;
    if (ioctl(m_source.get(), FIONREAD, &waiting) != 0) waiting = 0;
    m_left = static_cast<std::size_t>(waiting);
    close_if_done();
}

void OutputRelay::close_if_done() {
    if (m_left == std::size_t{0} && !has_pending()) m_source.reset();
}

void OutputRelay::read_some(OutputWatcher& watcher) {
    const std::size_t want = std::min(k_buffer_size, m_left.value_or(k_buffer_size));
    const ssize_t got = read(m_source.get(), m_buffer.get(), want);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {
        m_source.reset();
        return;
    }
    m_begin = 0;
    m_end = static_cast<std::size_t>(got);
    if (m_left) *m_left -= m_end;
    watcher.saw(m_stream, {m_buffer.get(), m_end});
}

void OutputRelay::write_some() {
    const char* from = m_buffer.get() + m_begin;
    const std::size_t size = m_end - m_begin;
    // The descriptor is shared, so it cannot be made non-blocking. A pipe that polls as writable takes
    // PIPE_BUF bytes without blocking, and no more is promised.
    const ssize_t put =
        m_to_socket ? send(m_destination, from, size, MSG_DONTWAIT | MSG_NOSIGNAL)
                    : write(m_destination, from, m_to_pipe ? std::min<std::size_t>(size, PIPE_BUF) : size);
    if (put >= 0) {
        m_begin += static_cast<std::size_t>(put);
        return;
    }
    if (errno == EINTR || errno == EAGAIN) return;
    // Closing our end is the one way to tell the command that its output goes nowhere.
    if (errno != EPIPE && errno != ECONNRESET) m_error = errno;
    m_source.reset();
}

}  // namespace jobthrottle
