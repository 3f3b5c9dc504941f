// SPDX-License-Identifier: MIT
#include "support/http_server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <list>
#include <mutex>
#include <sstream>
#include <thread>

#include "base/fd.hpp"
#include "support/net.hpp"
#include "support/spawn.hpp"

namespace jobthrottle::test {
namespace {

struct Connection {
    Fd fd;
    std::string received;
    std::string unsent;
    bool answered = false;
};

std::string serialize(const HttpAnswer& answer) {
    std::string text = "HTTP/1.1 " + std::to_string(answer.status) + " Scripted\r\n";
    for (const std::string& header : answer.headers)
        text += header + "\r\n";
    text += "Content-Length: " + std::to_string(answer.body.size()) + "\r\nConnection: close\r\n\r\n";
    return text + answer.body;
}

// False when the other side has gone or all is said.
bool send_answer(Connection& connection) {
    while (!connection.unsent.empty()) {
        const ssize_t put =
            send(connection.fd.get(), connection.unsent.data(), connection.unsent.size(), MSG_NOSIGNAL);
        if (put < 0 && errno == EAGAIN) return true;
        if (put < 0 && errno != EINTR) return false;
        if (put > 0) connection.unsent.erase(0, static_cast<std::size_t>(put));
    }
    return false;
}

}  // namespace

struct HttpServer::Loop {
    explicit Loop(Handler given) : handler(std::move(given)) {
        set_nonblocking(listener.get());
        thread = std::thread([this] { run(); });
    }
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    ~Loop() {
        stop.write_end.reset();
        thread.join();
    }

    void run();
    void accept_all();
    bool serve(Connection& connection);
    void answer(Connection& connection);

    Handler handler;
    Fd listener = listen_on_any_port();
    Pipe stop = make_pipe();
    std::list<Connection> connections;
    mutable std::mutex mutex;
    std::vector<HttpRecord> records;
    std::thread thread;
};

void HttpServer::Loop::run() {
    for (;;) {
        std::vector<pollfd> fds = {{stop.read_end.get(), POLLIN, 0}, {listener.get(), POLLIN, 0}};
        for (const Connection& one : connections) {
            fds.push_back({one.fd.get(), static_cast<short>(one.answered ? POLLOUT : POLLIN), 0});
        }
        if (poll(fds.data(), fds.size(), -1) < 0) continue;
        if (fds[0].revents != 0) return;
        auto it = connections.begin();
        for (std::size_t i = 2; i < fds.size(); ++i) {
            const auto current = it++;
            if (fds[i].revents != 0 && !serve(*current)) connections.erase(current);
        }
        if (fds[1].revents != 0) accept_all();
    }
}

void HttpServer::Loop::accept_all() {
    for (;;) {
        Fd fd(accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        if (!fd) return;
        connections.push_back({std::move(fd), {}, {}, false});
    }
}

bool HttpServer::Loop::serve(Connection& connection) {
    if (connection.answered) return send_answer(connection);
    std::array<char, 16384> buffer;
    const ssize_t got = recv(connection.fd.get(), buffer.data(), buffer.size(), 0);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    connection.received.append(buffer.data(), static_cast<std::size_t>(got));
    if (connection.received.find("\r\n\r\n") == std::string::npos) return true;
    answer(connection);
    return send_answer(connection);
}

void HttpServer::Loop::answer(Connection& connection) {
    HttpRecord record;
    record.request.at = BootClock::now();
    record.request.head = connection.received.substr(0, connection.received.find("\r\n\r\n") + 4);
    std::istringstream(record.request.head) >> record.request.method >> record.request.path;
    {
        const std::lock_guard lock(mutex);
        record.request.number = records.size() + 1;
    }
    record.answer = handler(record.request);
    connection.unsent = serialize(record.answer);
    connection.answered = true;
    const std::lock_guard lock(mutex);
    records.push_back(std::move(record));
}

HttpServer::HttpServer(Handler handler) : m_loop(std::make_unique<Loop>(std::move(handler))) {}

HttpServer::~HttpServer() = default;

std::string HttpServer::url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_of(m_loop->listener)) + path;
}

std::vector<HttpRecord> HttpServer::records() const {
    const std::lock_guard lock(m_loop->mutex);
    return m_loop->records;
}

}  // namespace jobthrottle::test
