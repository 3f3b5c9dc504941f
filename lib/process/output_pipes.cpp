// SPDX-License-Identifier: MIT
#include "process/output_pipes.hpp"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "process/standard_descriptors.hpp"

namespace jobthrottle {

namespace {

bool can_watch(int fd) {
    return !is_closed(fd) && isatty(fd) == 0 && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
}

bool same_open_file(int a, int b) {
    struct stat first {};
    struct stat second {};
    if (fstat(a, &first) != 0 || fstat(b, &second) != 0) return false;
    if (first.st_dev != second.st_dev || first.st_ino != second.st_ino) return false;
    if (!S_ISREG(first.st_mode)) return true;
    // A file opened twice has two positions, which one pipe would make one. Where the kernel does not say,
    // the common case of `2>&1` is taken.
    return syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, a, b) <= 0;
}

}  // namespace

Result<OutputPipes> OutputPipes::open(const Command& command, OutputWatcher* watcher) {
    OutputPipes pipes{watcher};
    if (watcher == nullptr) return pipes;
    const bool output = command.watch_output && can_watch(STDOUT_FILENO);
    const bool error = command.watch_error && can_watch(STDERR_FILENO);
    const bool together = (output || error) && same_open_file(STDOUT_FILENO, STDERR_FILENO);
    if (output || together) {
        const auto end =
            pipes.add(STDOUT_FILENO, together ? Stream::output_and_error : Stream::standard_output);
        if (!end) return end.error();
        pipes.m_child_output = *end;
        if (together) pipes.m_child_error = *end;
    }
    if (error && !together) {
        const auto end = pipes.add(STDERR_FILENO, Stream::standard_error);
        if (!end) return end.error();
        pipes.m_child_error = *end;
    }
    return pipes;
}

Result<int> OutputPipes::add(int destination, Stream stream) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
        return internal_error(std::string("cannot make a pipe: ") + std::strerror(errno));
    m_relays[m_count].emplace(Fd{ends[0]}, destination, stream);
    m_child_ends[m_count].reset(ends[1]);
    ++m_count;
    return ends[1];
}

void OutputPipes::close_child_ends() {
    for (auto& end : m_child_ends)
        end.reset();
}

bool OutputPipes::is_open() const {
    for (const auto& relay : m_relays) {
        if (relay && relay->is_open()) return true;
    }
    return false;
}

void OutputPipes::prepare(pollfd* polls) const {
    for (const auto& relay : m_relays) {
        if (relay)
            relay->prepare(polls);
        else
            polls[0] = polls[1] = {-1, 0, 0};
        polls += OutputRelay::k_polls;
    }
}

void OutputPipes::act(const pollfd* polls) {
    for (auto& relay : m_relays) {
        if (relay) relay->act(polls, *m_watcher);
        polls += OutputRelay::k_polls;
    }
}

void OutputPipes::finish() {
    for (auto& relay : m_relays) {
        if (relay) relay->finish();
    }
}

int OutputPipes::error() const {
    for (const auto& relay : m_relays) {
        if (relay && relay->error() != 0) return relay->error();
    }
    return 0;
}

}  // namespace jobthrottle
