// SPDX-License-Identifier: MIT
#include "cli/machine.hpp"

#include <fcntl.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <array>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string_view>

#include "base/fd.hpp"
#include "base/text.hpp"

namespace jobthrottle {

namespace {

// By hand: the library's way loads other libraries and may ask a server, at every start of every job.
std::optional<std::string> user_in_passwd(uid_t uid) {
    const Fd file{open("/etc/passwd", O_RDONLY | O_CLOEXEC)};
    if (!file) return std::nullopt;
    std::string rest;
    std::array<char, 4096> chunk;
    ssize_t size = 0;
    while ((size = read(file.get(), chunk.data(), chunk.size())) > 0) {
        rest.append(chunk.data(), static_cast<std::size_t>(size));
        const auto lines = split(rest, '\n');
        for (const auto line : lines) {
            const auto fields = split(line, ':');
            if (fields.size() > 3 && parse_whole_number(fields[2]) == std::int64_t{uid})
                return std::string(fields[0]);
        }
        rest = std::string(lines.back());  // it may go on in the next chunk
    }
    return std::nullopt;
}

std::string user_name() {
    const uid_t uid = geteuid();
    if (auto name = user_in_passwd(uid)) return std::move(name).value();
    for (const char* variable : {"LOGNAME", "USER"}) {
        const char* value = std::getenv(variable);
        if (value != nullptr && *value != '\0') return value;
    }
    return std::to_string(uid);
}

std::string host_name() {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
    return name.data();
}

}  // namespace

void map_large_memory() {
#ifdef __GLIBC__
    constexpr int k_large = 512 * 1024;
    (void)mallopt(M_MMAP_THRESHOLD, k_large);
#endif
}

int utc_offset_s(WallTime when) {
    const std::time_t seconds =
        std::chrono::duration_cast<std::chrono::seconds>(when.time_since_epoch()).count();
    std::tm local{};
    if (localtime_r(&seconds, &local) == nullptr) return 0;
    return static_cast<int>(local.tm_gmtoff);
}

LocalTime local_now() {
    const WallTime now = wall_now();
    return {now, utc_offset_s(now)};
}

std::string user_and_host() {
    return user_name() + "@" + host_name();
}

std::string who_runs() {
    return user_and_host() + ":" + std::to_string(getpid());
}

}  // namespace jobthrottle
