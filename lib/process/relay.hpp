// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <cstddef>
#include <memory>
#include <optional>

#include "base/fd.hpp"
#include "process/child.hpp"

namespace jobthrottle {

// Passes what comes out of a pipe on to a descriptor, unchanged. Never blocks as long as nobody else fills
// the destination between a poll and the write after it.
class OutputRelay {
public:
    static constexpr std::size_t k_polls = 2;

    // `destination` is borrowed.
    OutputRelay(Fd source, int destination, Stream stream);

    // Whether there is, or may come, something to pass on.
    bool is_open() const { return static_cast<bool>(m_source); }
    // What to wait for, k_polls entries; act() takes them back with their answers.
    void prepare(pollfd* polls) const;
    void act(const pollfd* polls, OutputWatcher& watcher);
    // The command has ended: what is in the pipe now is passed on, and nothing that comes later.
    void finish();
    int error() const { return m_error; }  // errno of the write that lost output; 0 is none

private:
    void read_some(OutputWatcher& watcher);
    void write_some();
    void close_if_done();
    bool has_pending() const { return m_begin < m_end; }

    Fd m_source;
    int m_destination;
    Stream m_stream;
    bool m_to_pipe = false;
    bool m_to_socket = false;
    std::unique_ptr<char[]> m_buffer;
    std::size_t m_begin = 0;
    std::size_t m_end = 0;
    std::optional<std::size_t> m_left;  // still to read, once the command has ended
    int m_error = 0;
};

}  // namespace jobthrottle
