// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <array>
#include <cstddef>
#include <optional>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "process/child.hpp"
#include "process/relay.hpp"

namespace jobthrottle {

// The pipes through which a command's watched streams pass: none, one for both, or one each.
class OutputPipes {
public:
    static constexpr std::size_t k_polls = 2 * OutputRelay::k_polls;

    // `watcher` is borrowed; null means that nothing is watched.
    static Result<OutputPipes> open(const Command& command, OutputWatcher* watcher);

    int child_output() const { return m_child_output; }  // what the command gets; -1: what it has
    int child_error() const { return m_child_error; }
    void close_child_ends();  // once the command has them, or the end is never seen

    bool is_open() const;
    void prepare(pollfd* polls) const;
    void act(const pollfd* polls);
    void finish();
    int error() const;

private:
    explicit OutputPipes(OutputWatcher* watcher) : m_watcher(watcher) {}
    Result<int> add(int destination, Stream stream);

    OutputWatcher* m_watcher;
    std::array<std::optional<OutputRelay>, 2> m_relays;
    std::array<Fd, 2> m_child_ends;
    std::size_t m_count = 0;
    int m_child_output = -1;
    int m_child_error = -1;
};

}  // namespace jobthrottle
