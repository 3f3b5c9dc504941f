// SPDX-License-Identifier: MIT
#include "store/local/processes.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "base/text.hpp"

namespace jobthrottle::local {

namespace {

constexpr std::size_t k_most_members = 2;
#ifdef SYS_pidfd_open
constexpr long k_pidfd_open = SYS_pidfd_open;
#else
constexpr long k_pidfd_open = 434;  // the same on all machines
#endif

// The pid namespace of this process, where /proc shows it.
std::optional<std::uint64_t> own_space() {
    std::array<char, 24> self{};
    const ssize_t size = readlink("/proc/self", self.data(), self.size());
    if (size <= 0) return std::nullopt;
    // A /proc of an outer namespace has other numbers for the same processes.
    if (std::string_view(self.data(), static_cast<std::size_t>(size)) != std::to_string(getpid()))
        return std::nullopt;
    struct stat space {};
    if (stat("/proc/self/ns/pid", &space) != 0) return std::nullopt;
    return static_cast<std::uint64_t>(space.st_ino);
}

std::optional<ProcessStat> stat_of(pid_t pid) {
    const std::string path = "/proc/" + std::to_string(pid) + "/stat";
    const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 2048> line{};
    const ssize_t size = fd ? read(fd.get(), line.data(), line.size()) : -1;
    if (size <= 0) return std::nullopt;
    return parse_process_stat({line.data(), static_cast<std::size_t>(size)});
}

std::optional<Process> process_of(std::string_view text) {
    const auto parts = split(text, ':');
    if (parts.size() != 2) return std::nullopt;
    const auto pid = parse_whole_number(parts[0]), began = parse_whole_number(parts[1]);
    if (!pid || !began || *pid < 1 || *pid > std::numeric_limits<pid_t>::max()) return std::nullopt;
    return Process{static_cast<pid_t>(*pid), *began};
}

}  // namespace

std::string encode(const ProcessGroup& group) {
    if (group.members.empty()) return {};
    std::string text = std::to_string(group.space);
    for (const auto& member : group.members)
        text += " " + std::to_string(member.pid) + ":" + std::to_string(member.began);
    return text;
}

std::optional<ProcessGroup> decode_processes(std::string_view text) {
    const auto words = split(text, ' ');
    const auto space = parse_whole_number(words.front());
    if (!space || words.size() < 2 || words.size() > 1 + k_most_members) return std::nullopt;
    ProcessGroup group{static_cast<std::uint64_t>(*space), {}};
    for (std::size_t i = 1; i < words.size(); ++i) {
        const auto member = process_of(words[i]);
        if (!member) return std::nullopt;
        group.members.push_back(*member);
    }
    return group;
}

std::optional<ProcessStat> parse_process_stat(std::string_view line) {
    // The name before it may hold anything, parentheses and newlines, too.
    const auto end_of_name = line.rfind(") ");
    if (end_of_name == std::string_view::npos) return std::nullopt;
    const auto fields = split(line.substr(end_of_name + 2), ' ');
    constexpr std::size_t k_first = 3, k_threads = 20, k_began = 22;  // as proc(5) counts
    if (fields.size() <= k_began - k_first || fields[0].size() != 1) return std::nullopt;
    const auto threads = parse_whole_number(fields[k_threads - k_first]);
    const auto began = parse_whole_number(fields[k_began - k_first]);
    if (!threads || !began) return std::nullopt;
    return ProcessStat{fields[0].front(), *threads, *began};
}

std::string processes_text(pid_t wrapper, pid_t command) {
    const auto space = own_space();
    if (!space) return {};
    ProcessGroup group{*space, {}};
    for (const pid_t pid : {wrapper, command}) {
        const auto stat = pid > 0 ? stat_of(pid) : std::nullopt;
        if (stat && stat->lives()) group.members.push_back({pid, stat->began});
    }
    return encode(group);
}

HolderLife life_of(const Process& process) {
    // A /proc may hide the processes of other users (hidepid): a missing entry alone says nothing.
    if (kill(process.pid, 0) != 0 && errno == ESRCH) return HolderLife::dead;
    const auto stat = stat_of(process.pid);
    if (!stat) return HolderLife::unknown;
    return stat->lives() && stat->began == process.began ? HolderLife::alive : HolderLife::dead;
}

std::optional<ProcessGroup> processes_in_sight(std::string_view text) {
    auto group = decode_processes(text);
    if (!group || own_space() != group->space) return std::nullopt;
    return group;
}

HolderLife life_of(std::string_view processes) {
    const auto group = processes_in_sight(processes);
    if (!group) return HolderLife::unknown;
    HolderLife life = HolderLife::dead;
    for (const auto& member : group->members) {
        const auto one = life_of(member);
        if (one == HolderLife::alive) return one;
        if (one == HolderLife::unknown) life = one;
    }
    return life;
}

Fd watch(const Process& process) {
    Fd fd(static_cast<int>(syscall(k_pidfd_open, process.pid, 0U)));
    // Looked at afterwards: what is not that process is never watched.
    if (fd && life_of(process) != HolderLife::alive) fd.reset();
    return fd;
}

}  // namespace jobthrottle::local
