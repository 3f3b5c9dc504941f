// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <utility>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace jobthrottle {

// Tells whether a signal that reached this process was sent to its whole process group (a key of the
// terminal, a shell's `kill %1`, timeout(1)) or to this process alone. Nothing in the signal itself says so;
// hence a small process in the same group that holds back all signals and is asked which it got. It dies with
// us.
class GroupWitness {
public:
    static Result<GroupWitness> start();

    GroupWitness(GroupWitness&& other) noexcept
        : m_socket(std::move(other.m_socket)), m_pid(std::exchange(other.m_pid, -1)) {}
    GroupWitness& operator=(GroupWitness&&) = delete;
    ~GroupWitness();

    // Whether the group got `signal` since it was last asked about it, or since the start.
    bool saw(int signal);
    // Process 1 reaps whatever ends, so also this.
    void reaped(pid_t pid);

private:
    GroupWitness(Fd socket, pid_t pid) : m_socket(std::move(socket)), m_pid(pid) {}
    Fd m_socket;
    pid_t m_pid;
};

// Returns when every signal that was being sent to a process group at the call has reached all of its
// members.
void settle_group_signals();

}  // namespace jobthrottle
