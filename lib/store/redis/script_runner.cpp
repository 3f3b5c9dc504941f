// SPDX-License-Identifier: MIT
#include "store/redis/script_runner.hpp"

#include "store/redis/server_error.hpp"

namespace jobthrottle {

namespace {

bool is_unknown_script(const Reply& reply) {
    return reply.kind == Reply::Kind::error && error_code(reply.text) == "NOSCRIPT";
}

}  // namespace

ScriptRunner::ScriptRunner(ConnectionOptions options, Duration patience, int interrupt_fd)
    : m_options(std::move(options)),
      m_longest(patience),
      m_interrupt_fd(interrupt_fd),
      m_name(m_options.url.shown()),
      m_connection(m_options) {}

void ScriptRunner::hurry(Duration longest) {
    m_longest = longest;
    m_interrupt_fd = -1;
}

Patience ScriptRunner::patience() const {
    return {BootClock::now() + m_longest, m_interrupt_fd, m_longest};
}

Error ScriptRunner::error_of(const Reply& reply) const {
    return error_of_reply(reply.text, m_options.url.password.value_or(""));
}

ScriptRunner::Replies ScriptRunner::run(const std::vector<Command>& commands) {
    return run(commands, patience());
}

Result<std::optional<int>> ScriptRunner::listen(const Command& command) {
    return m_connection.listen(command, patience());
}

ScriptRunner::Replies ScriptRunner::run(const std::vector<Command>& commands, const Patience& patience) {
    const bool reused = m_connection.is_open();
    m_may_repeat = false;
    auto replies = m_connection.run(commands, patience);
    if (!replies) {
        m_may_repeat = m_connection.was_stale();
        return replies;
    }
    for (const Reply& reply : *replies) {
        if (reply.kind != Reply::Kind::error) continue;
        Error error = error_of(reply);
        if (error.kind != ErrorKind::unavailable) continue;
        m_may_repeat = reused && is_failover(reply.text);
        m_connection.close();
        return error;
    }
    return replies;
}

ScriptRunner::Replies ScriptRunner::call(const Script& script, const std::vector<Command>& words) {
    const Patience patience = this->patience();
    std::vector<Command> commands;
    for (const auto& call : words) {
        commands.push_back({"EVALSHA", script.sha1});
        commands.back().insert(commands.back().end(), call.begin(), call.end());
    }
    auto replies = run(commands, patience);
    if (!replies) return replies;
    std::vector<Command> again;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < replies->size(); ++i) {
        if (!is_unknown_script((*replies)[i])) continue;
        commands[i][0] = "EVAL";
        commands[i][1] = script.text;
        again.push_back(std::move(commands[i]));
        places.push_back(i);
    }
    if (again.empty()) return replies;
    auto second = run(again, patience);
    if (!second) return second;
    for (std::size_t i = 0; i < places.size(); ++i)
        (*replies)[places[i]] = std::move((*second)[i]);
    return replies;
}

}  // namespace jobthrottle
