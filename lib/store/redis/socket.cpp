// SPDX-License-Identifier: MIT
#include "store/redis/socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>

#include "core/duration.hpp"
#include "store/redis/address.hpp"

namespace jobthrottle {

namespace {

constexpr Duration k_backlog_retry = std::chrono::milliseconds{5};

std::string words_of(int error) {
    return std::generic_category().message(error);
}

Error connect_error(int error) {
    const std::string message = "connect: " + words_of(error);
    if (error == EACCES || error == EPERM) return refused_error(message);
    return unavailable_error(message);
}

int milliseconds_until(BootTime until) {
    const auto left = std::max(Duration::zero(), until - BootClock::now());
    const auto rounded_up = (left.count() + 999) / 1000;
    return static_cast<int>(std::min<std::int64_t>(rounded_up, std::numeric_limits<int>::max()));
}

Fd new_socket(int family) {
    return Fd(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

// Waits for a connection under way.
Result<void> finish(const Fd& fd, const Patience& patience) {
    const Woken woken = wait_for(fd.get(), POLLOUT, patience);
    if (woken == Woken::interrupted) return interrupted_error();
    if (woken == Woken::late) return late_error("connect", patience);
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    if (error != 0) return connect_error(error);
    return {};
}

Result<Fd> connect_one(const Address& address, const Patience& patience) {
    Fd fd = new_socket(address.storage.ss_family);
    if (!fd) return connect_error(errno);
    const int on = 1;
    if (address.storage.ss_family != AF_UNIX) {
        setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    for (;;) {
        const auto* target = reinterpret_cast<const sockaddr*>(&address.storage);
        if (connect(fd.get(), target, address.length) == 0) return fd;
        if (errno == EINPROGRESS || errno == EINTR) {
            if (const auto done = finish(fd, patience); !done) return done.error();
            return fd;
        }
        // A Unix socket says so when its backlog is full, and gives no sign when it no longer is.
        if (errno != EAGAIN) return connect_error(errno);
        const BootTime again = BootClock::now() + k_backlog_retry;
        const Woken woken = wait_for(-1, 0, {std::min(again, patience.until), patience.interrupt_fd, {}});
        if (woken == Woken::interrupted) return interrupted_error();
        if (BootClock::now() >= patience.until) return late_error("connect", patience);
    }
}

Address address_of(const std::string& path) {
    Address address;
    sockaddr_un unix_address{};
    unix_address.sun_family = AF_UNIX;
    std::memcpy(unix_address.sun_path, path.data(), std::min(path.size(), sizeof unix_address.sun_path - 1));
    std::memcpy(&address.storage, &unix_address, sizeof unix_address);
    address.length = sizeof unix_address;
    return address;
}

}  // namespace

Error late_error(const char* what, const Patience& patience) {
    return unavailable_error(std::string(what) + ": timed out after " +
                             format_duration_exactly(patience.allowed));
}

Error interrupted_error() {
    return {ErrorKind::interrupted, "interrupted by a signal"};
}

Woken wait_for(int fd, short events, const Patience& patience) {
    std::array<pollfd, 2> polled = {pollfd{fd, events, 0}, pollfd{patience.interrupt_fd, POLLIN, 0}};
    for (;;) {
        const int ready = poll(polled.data(), polled.size(), milliseconds_until(patience.until));
        if (ready > 0 && polled[0].revents != 0) return Woken::ready;
        if (ready > 0 && polled[1].revents != 0) return Woken::interrupted;
        if (BootClock::now() >= patience.until) return Woken::late;
    }
}

bool is_readable(int fd) {
    pollfd polled{fd, POLLIN, 0};
    return fd >= 0 && poll(&polled, 1, 0) > 0;
}

Result<Fd> connect_to(const RedisUrl& url, const Patience& patience) {
    if (url.host.empty()) return connect_one(address_of(url.socket_path), patience);
    const auto addresses = find_addresses(url.host, url.port, patience);
    if (!addresses) return addresses.error();
    Error last = unavailable_error("connect: no address");
    for (std::size_t i = 0; i < addresses->size(); ++i) {
        // One that does not answer must not use up the time of the others.
        const auto left = std::max(Duration::zero(), patience.until - BootClock::now());
        const auto share = left / static_cast<std::int64_t>(addresses->size() - i);
        auto fd =
            connect_one((*addresses)[i], {BootClock::now() + share, patience.interrupt_fd, patience.allowed});
        if (fd || fd.error().kind == ErrorKind::interrupted) return fd;
        last = fd.error();
    }
    return last;
}

}  // namespace jobthrottle
