// SPDX-License-Identifier: MIT
#include "store/redis/connection.hpp"

#include <hiredis/hiredis.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "store/redis/reply_guard.hpp"
#include "store/redis/server_error.hpp"

namespace jobthrottle {

namespace {

constexpr std::size_t k_longest_answer = std::size_t{64} << 20;  // more is no answer to us

void append_command(std::string& out, const Command& command) {
    out += "*" + std::to_string(command.size()) + "\r\n";
    for (const auto& word : command) {
        out += "$" + std::to_string(word.size()) + "\r\n";
        out += word;
        out += "\r\n";
    }
}

std::string words_of(int error) {
    return std::generic_category().message(error);
}

Error no_redis() {
    return refused_error("what answers there is no Redis (for TLS, rediss:// is not in this version)");
}

Patience at_most(Duration allowed, const Patience& patience) {
    const BootTime now = BootClock::now();
    const Duration left = std::max(Duration::zero(), patience.until - now);
    return {now + std::min(allowed, left), patience.interrupt_fd, std::min(allowed, left)};
}

Reply take(const redisReply& from) {
    Reply reply;
    switch (from.type) {
        case REDIS_REPLY_STRING:
        case REDIS_REPLY_STATUS:
        case REDIS_REPLY_ERROR:
            reply.kind = from.type == REDIS_REPLY_ERROR ? Reply::Kind::error : Reply::Kind::text;
            reply.text.assign(from.str, static_cast<std::size_t>(from.len));
            break;
        case REDIS_REPLY_INTEGER:
            reply.kind = Reply::Kind::integer;
            reply.integer = from.integer;
            break;
        case REDIS_REPLY_ARRAY:
            reply.kind = Reply::Kind::list;
            for (std::size_t i = 0; i < static_cast<std::size_t>(from.elements); ++i)
                reply.items.push_back(take(*from.element[i]));
            break;
        default:
            break;
    }
    return reply;
}

}  // namespace

struct Connection::Reader {
    struct Free {
        void operator()(redisReader* reader) const { redisReaderFree(reader); }
    };
    std::unique_ptr<redisReader, Free> parser{redisReaderCreate()};
    ReplyGuard guard;
    std::size_t received = 0;  // bytes of the answer under way

    // False when this is no Redis.
    bool feed(std::string_view bytes) {
        received += bytes.size();
        return received <= k_longest_answer && guard.take(bytes) &&
               redisReaderFeed(parser.get(), bytes.data(), bytes.size()) == REDIS_OK;
    }

    // Moves what is complete to `replies`. False when this is no Redis.
    bool parse(std::vector<Reply>& replies) const {
        for (;;) {
            void* raw = nullptr;
            if (redisReaderGetReply(parser.get(), &raw) != REDIS_OK) return false;
            if (raw == nullptr) return true;
            replies.push_back(take(*static_cast<redisReply*>(raw)));
            freeReplyObject(raw);
        }
    }
    bool has_more() const { return parser->pos < parser->len; }
};

Connection::Connection(ConnectionOptions options) : m_options(std::move(options)) {}
Connection::~Connection() = default;

void Connection::close() {
    m_fd.reset();
    m_reader.reset();
    m_unanswered.clear();
}

Result<std::vector<Command>> Connection::open(const Patience& patience) {
    if (is_open()) return std::vector<Command>{};
    auto fd = connect_to(m_options.url, at_most(m_options.connect_timeout, patience));
    if (!fd) return fd.error();
    m_fd = std::move(*fd);
    m_reader = std::make_unique<Reader>();
    return greeting();
}

std::vector<Command> Connection::greeting() const {
    std::vector<Command> commands;
    const RedisUrl& url = m_options.url;
    if (url.password) {
        commands.push_back({"AUTH"});
        if (!url.user.empty()) commands.back().push_back(url.user);
        commands.back().push_back(*url.password);
    }
    if (url.database != 0) commands.push_back({"SELECT", std::to_string(url.database)});
    commands.push_back({"CLIENT", "SETNAME", "jobthrottle"});
    return commands;
}

// The first greeting that the server refused. The name of the connection does not matter, but the answer to
// it may say that a password is missing.
std::optional<Error> Connection::greeting_error(const std::vector<Command>& greetings,
                                                const std::vector<Reply>& replies) const {
    for (std::size_t i = 0; i < greetings.size(); ++i) {
        if (replies[i].kind != Reply::Kind::error) continue;
        const Error error = error_of_reply(replies[i].text, m_options.url.password.value_or(""));
        const std::string_view code = error_code(replies[i].text);
        if (error.kind == ErrorKind::unavailable || code == "NOAUTH") return error;
        if (greetings[i][0] == "AUTH") return refused_error("it does not take this user and password");
        if (greetings[i][0] != "SELECT") continue;
        if (code == "NOPERM") return error;
        return refused_error("it has no database " + greetings[i][1]);
    }
    return std::nullopt;
}

Result<std::vector<Reply>> Connection::run(const std::vector<Command>& commands, const Patience& patience) {
    m_was_stale = false;
    end_listening();
    const bool reused = is_open();
    const auto greetings = open(patience);
    if (!greetings) return greetings.error();
    std::string request;
    for (const auto& command : *greetings)
        append_command(request, command);
    for (const auto& command : commands)
        append_command(request, command);

    auto replies =
        exchange(request, greetings->size() + commands.size(), at_most(m_options.command_timeout, patience));
    if (!replies) {
        m_was_stale = m_was_stale && reused;
        close();
        return replies.error();
    }
    if (auto error = greeting_error(*greetings, *replies)) {
        close();
        return *error;
    }
    replies->erase(replies->begin(), replies->begin() + static_cast<std::ptrdiff_t>(greetings->size()));
    return replies;
}

Result<std::optional<int>> Connection::listen(const Command& command, const Patience& patience) {
    end_listening();
    if (m_refuses_to_listen) return std::optional<int>{};
    auto sent = open(patience);
    if (!sent) return sent.error();
    sent->push_back(command);
    std::string request;
    for (const auto& one : *sent)
        append_command(request, one);
    std::string_view unsent = request;
    const Patience allowed = at_most(m_options.command_timeout, patience);
    for (;;) {
        const auto done = send_some(unsent);
        if (done && unsent.empty()) break;
        const Woken woken = done ? wait_for(m_fd.get(), POLLOUT, allowed) : Woken::ready;
        if (woken == Woken::ready && done) continue;
        close();
        if (!done) return done.error();
        return woken == Woken::late ? late_error("answer", allowed) : interrupted_error();
    }
    m_unanswered = std::move(*sent);
    return std::optional<int>{m_fd.get()};
}

void Connection::end_listening() {
    if (m_unanswered.empty()) return;
    const std::vector<Command> sent = std::exchange(m_unanswered, {});
    std::vector<Reply> replies;
    m_reader->received = 0;
    bool good = true;
    while (good && replies.size() < sent.size() && is_readable(m_fd.get())) {
        const auto open = receive_some(POLLIN, {BootClock::now(), -1, {}});
        good = open && m_reader->parse(replies) && *open;
    }
    const bool answered = good && replies.size() == sent.size() && !m_reader->has_more();
    const bool failed = answered && replies.back().kind == Reply::Kind::error;
    if (failed && error_code(replies.back().text) != "UNBLOCKED")
        m_refuses_to_listen = error_of_reply(replies.back().text, "").kind == ErrorKind::refused;
    if (!answered || failed || greeting_error(sent, replies)) close();
}

Result<std::vector<Reply>> Connection::exchange(const std::string& request, std::size_t expected,
                                                const Patience& patience) {
    std::string_view unsent = request;
    std::vector<Reply> replies;
    m_reader->received = 0;
    while (replies.size() < expected) {
        // Most requests go out in one write, so that comes before any waiting.
        if (const auto sent = send_some(unsent); !sent) return sent.error();
        const auto open = receive_some(unsent.empty() ? POLLIN : POLLIN | POLLOUT, patience);
        if (!open) return open.error();
        if (!m_reader->parse(replies) || replies.size() > expected) return no_redis();
        if (replies.size() == expected) break;
        if (!*open) return closed_error(replies);
        // An answer that never ends is always ready, so that no wait meets these.
        if (is_readable(patience.interrupt_fd)) return interrupted_error();
        if (BootClock::now() >= patience.until) return late_error("answer", patience);
    }
    if (m_reader->has_more()) return refused_error("it answers more than it was asked");
    return replies;
}

// A server that turns clients away says why before it closes.
Error Connection::closed_error(const std::vector<Reply>& replies) {
    if (!replies.empty() && replies.front().kind == Reply::Kind::error) {
        return error_of_reply(replies.front().text, m_options.url.password.value_or(""));
    }
    m_was_stale = replies.empty();
    return unavailable_error("it closed the connection");
}

// A server that has closed its end may have said why, so that is left to receive_some() to find.
Result<void> Connection::send_some(std::string_view& unsent) {
    while (!unsent.empty()) {
        const ssize_t sent = send(m_fd.get(), unsent.data(), unsent.size(), MSG_NOSIGNAL);
        if (sent >= 0) {
            unsent.remove_prefix(static_cast<std::size_t>(sent));
        } else if (errno == EPIPE || errno == ECONNRESET) {
            unsent = {};
        } else if (errno == EAGAIN) {
            return {};
        } else if (errno != EINTR) {
            return unavailable_error("write: " + words_of(errno));
        }
    }
    return {};
}

// Waits for poll's `events` and takes what has come. False where the server has closed its end.
Result<bool> Connection::receive_some(int events, const Patience& patience) {
    const Woken woken = wait_for(m_fd.get(), static_cast<short>(events), patience);
    if (woken == Woken::interrupted) return interrupted_error();
    if (woken == Woken::late) return late_error("answer", patience);
    std::array<char, 65536> buffer;
    for (;;) {
        const ssize_t got = recv(m_fd.get(), buffer.data(), buffer.size(), 0);
        if (got >= 0) {
            if (!m_reader->feed({buffer.data(), static_cast<std::size_t>(got)})) return no_redis();
            return got > 0;
        }
        if (errno == EAGAIN) return true;
        if (errno == EINTR) continue;
        if (errno == ECONNRESET || errno == EPIPE) return false;
        return unavailable_error("read: " + words_of(errno));
    }
}

}  // namespace jobthrottle
