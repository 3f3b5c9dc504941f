// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "core/lease.hpp"

// The processes that live as long as an attempt does. A pid says who it is only within its pid namespace and
// together with the time its process began; across a reboot it says nothing.
namespace jobthrottle::local {

struct Process {
    pid_t pid = 0;
    std::int64_t began = 0;  // clock ticks since boot
};
struct ProcessGroup {
    std::uint64_t space = 0;  // pid namespace: the number of /proc/self/ns/pid
    std::vector<Process> members;
};

// "SPACE PID:BEGAN PID:BEGAN", as it is kept with a lease; "" without members.
std::string encode(const ProcessGroup&);
std::optional<ProcessGroup> decode_processes(std::string_view text);

// What a line of /proc/PID/stat says.
struct ProcessStat {
    char state = '?';
    std::int64_t threads = 0;
    std::int64_t began = 0;
    // A process whose first thread has ended is a zombie to look at, and lives on in its other threads.
    bool lives() const { return (state != 'Z' && state != 'X' && state != 'x') || threads > 1; }
};
std::optional<ProcessStat> parse_process_stat(std::string_view line);

// Those of the two that live, as text; "" where none does, or where /proc does not show this pid namespace. A
// pid of 0 or less is nobody.
std::string processes_text(pid_t wrapper, pid_t command);

// `unknown` for text of another pid namespace, "", and what the system does not show.
HolderLife life_of(std::string_view processes);

// A descriptor that becomes readable when the process ends, closed on exec; none where the kernel has no such
// thing, or where it does not live.
Fd watch(const Process&);
HolderLife life_of(const Process&);
// Nothing but where the text is of this pid namespace.
std::optional<ProcessGroup> processes_in_sight(std::string_view text);

}  // namespace jobthrottle::local
