// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/net.hpp"
#include "support/run_program.hpp"
#include "support/temp_dir.hpp"

namespace jobthrottle::test {

struct RedisOptions {
    std::string password;            // empty: none is asked for
    std::vector<std::string> extra;  // more arguments of the server, such as "--maxmemory", "1mb"
};

// A Redis of the test's own, on a Unix socket and a port of 127.0.0.1, without persistence; gone with this
// object and with the test. The program is redis-server or what JT_REDIS_SERVER names. Everything that fails
// throws.
class RedisServer {
public:
    explicit RedisServer(RedisOptions options = {});

    std::string socket_url() const { return "unix://" + socket_path(); }
    std::string tcp_url() const { return "redis://127.0.0.1:" + std::to_string(m_port); }
    std::string socket_path() const { return m_dir.file("s"); }
    std::uint16_t port() const { return m_port; }
    pid_t pid() const { return m_server->pid(); }

    enum class Data { lost, kept };
    // Ends the server at once. `kept` saves what it holds for the next start().
    void stop(Data data = Data::lost);
    void start();  // on the same socket and port. REQUIRES: stopped
    void restart(Data data = Data::lost) {
        stop(data);
        start();
    }
    void freeze() { m_server->freeze(); }  // accepts connections, answers nothing
    void thaw() { m_server->thaw(); }

    // One command on a connection of its own; the reply as redis-cli shows it: numbers in digits, lists one
    // item a line, "(nil)", and "(error) ..." for an error reply.
    std::string cli(const std::vector<std::string>& args);
    // How many times a command ran since the start or the last reset, by `INFO commandstats`; lower case.
    std::int64_t calls(const std::string& command);
    std::int64_t script_calls() { return calls("evalsha") + calls("eval"); }
    std::int64_t commands_processed();  // by `INFO stats`; the asking of earlier times included
    void reset_stats() { cli({"CONFIG", "RESETSTAT"}); }

private:
    bool try_start(std::uint16_t port);
    bool answers();

    RedisOptions m_options;
    TempDir m_dir;
    std::optional<Program> m_server;
    std::uint16_t m_port = 0;
};

}  // namespace jobthrottle::test
