// SPDX-License-Identifier: MIT
#include "support/net.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "support/spawn.hpp"

namespace jobthrottle::test {
namespace {

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

Fd make_socket(int family) {
    Fd fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd) throw std::runtime_error(std::string("socket: ") + std::strerror(errno));
    const timeval limit{10, 0};
    setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return above_standard(std::move(fd));
}

template <typename Address>
const sockaddr* generic(const Address& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

}  // namespace

Fd listen_on_any_port() {
    Fd fd = make_socket(AF_INET);
    const sockaddr_in address = loopback(0);
    if (bind(fd.get(), generic(address), sizeof address) != 0 || listen(fd.get(), 1024) != 0) {
        throw std::runtime_error(std::string("cannot listen on 127.0.0.1: ") + std::strerror(errno));
    }
    return fd;
}

std::uint16_t port_of(const Fd& listener) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        throw std::runtime_error(std::string("getsockname: ") + std::strerror(errno));
    }
    return ntohs(address.sin_port);
}

std::uint16_t spare_port() {
    return port_of(listen_on_any_port());
}

Fd connect_to_port(std::uint16_t port) {
    Fd fd = make_socket(AF_INET);
    const sockaddr_in address = loopback(port);
    if (connect(fd.get(), generic(address), sizeof address) != 0) return Fd();
    return fd;
}

Fd connect_to_socket(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) throw std::runtime_error("too long for a socket: " + path);
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    Fd fd = make_socket(AF_UNIX);
    if (connect(fd.get(), generic(address), sizeof address) != 0) return Fd();
    return fd;
}

bool send_all(const Fd& fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t put = send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
}

std::string receive_some(const Fd& fd) {
    std::array<char, 16384> buffer;
    ssize_t got = 0;
    do {
        got = recv(fd.get(), buffer.data(), buffer.size(), 0);
    } while (got < 0 && errno == EINTR);
    return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : std::string();
}

}  // namespace jobthrottle::test
