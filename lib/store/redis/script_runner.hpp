// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/redis/connection.hpp"
#include "store/redis/scripts.hpp"

namespace jobthrottle {

// Runs scripts over one connection, which it makes when needed and drops when it has become useless. Errors
// give the reason alone: who prints them names the store.
class ScriptRunner {
public:
    // `patience` counts for each call: connecting, EVALSHA and, where the server has not seen the script,
    // EVAL.
    ScriptRunner(ConnectionOptions options, Duration patience, int interrupt_fd);

    using Replies = Result<std::vector<Reply>>;
    // The script once for each list of words (the number of names, the names, the arguments), in one write.
    // A reply that says that the store is away is the error of the whole; other error replies are replies.
    Replies call(const Script&, const std::vector<Command>& words);
    Replies run(const std::vector<Command>& commands);
    Result<std::optional<int>> listen(const Command&);  // see Connection

    // The last call failed on a connection that was open before, to a server that has gone or is no master
    // any more: the same call may do better on a new one. Whether it counted is not known.
    bool may_repeat() const { return m_may_repeat; }

    void hurry(Duration longest);  // see Store
    void close() { m_connection.close(); }
    const std::string& name() const { return m_name; }
    Error error_of(const Reply&) const;  // REQUIRES: an error reply

private:
    Replies run(const std::vector<Command>& commands, const Patience&);
    Patience patience() const;

    ConnectionOptions m_options;
    Duration m_longest;
    int m_interrupt_fd;
    std::string m_name;
    Connection m_connection;
    bool m_may_repeat = false;
};

}  // namespace jobthrottle
