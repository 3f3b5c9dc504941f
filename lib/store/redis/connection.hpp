// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "store/redis/socket.hpp"
#include "store/redis/url.hpp"

namespace jobthrottle {

using Command = std::vector<std::string>;  // any bytes

struct Reply {
    enum class Kind { text, error, integer, nil, list };
    Kind kind = Kind::nil;
    std::string text;  // of text and error
    std::int64_t integer = 0;
    std::vector<Reply> items;
};

struct ConnectionOptions {
    RedisUrl url;
    Duration connect_timeout{};
    Duration command_timeout{};
};

// The one door to a Redis server. Not thread-safe.
class Connection {
public:
    explicit Connection(ConnectionOptions options);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // Sends the commands in one write and gives their replies in order; an error reply is a Reply here. Where
    // there is no connection it makes one, and the same write begins with user, password and database; where
    // the server refuses one of these, that is the error. Takes at most connect_timeout and command_timeout,
    // and ends with `patience`.
    //
    // Errors: unavailable (not reached, too slow, closed), refused (user, password or database; no Redis),
    // interrupted. They give the reason alone, never a password. After one the connection is closed.
    Result<std::vector<Reply>> run(const std::vector<Command>& commands, const Patience& patience);

    // Sends a command that is answered when something happens elsewhere (BLPOP), and waits for no reply. The
    // descriptor, borrowed until the next call, is readable once it is answered, or the connection broken;
    // maybe before, without need. Nothing where the server has refused such a command before. The next run()
    // or listen() uses the connection on when the answer has come by then, else drops it: such a command
    // cannot be taken back.
    Result<std::optional<int>> listen(const Command&, const Patience&);

    bool is_open() const { return static_cast<bool>(m_fd); }
    void close();
    // The last run() failed because the server had closed a connection that was opened before: a restart, or
    // it was idle for too long. A new one may do better.
    bool was_stale() const { return m_was_stale; }

private:
    struct Reader;

    // Makes a connection where there is none; returns the greeting that it begins with.
    Result<std::vector<Command>> open(const Patience&);
    std::vector<Command> greeting() const;
    std::optional<Error> greeting_error(const std::vector<Command>& greetings,
                                        const std::vector<Reply>& replies) const;
    Result<std::vector<Reply>> exchange(const std::string& request, std::size_t expected,
                                        const Patience& patience);
    void end_listening();
    Result<void> send_some(std::string_view& unsent);
    Result<bool> receive_some(int events, const Patience& patience);
    Error closed_error(const std::vector<Reply>& replies);

    ConnectionOptions m_options;
    Fd m_fd;
    std::unique_ptr<Reader> m_reader;
    std::vector<Command> m_unanswered;  // of a listen(), with the greeting before it; empty: none
    bool m_refuses_to_listen = false;
    bool m_was_stale = false;
};

}  // namespace jobthrottle
