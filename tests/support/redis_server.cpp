// SPDX-License-Identifier: MIT
#include "support/redis_server.hpp"

#include <poll.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "base/text.hpp"
#include "support/resp.hpp"

namespace jobthrottle::test {
namespace {

using namespace std::chrono_literals;

constexpr int k_port_tries = 20;
constexpr Duration k_start_limit = 60s;
constexpr Duration k_ask_every = 5ms;

std::string server_program() {
    const char* chosen = std::getenv("JT_REDIS_SERVER");
    return chosen != nullptr && *chosen != '\0' ? chosen : "redis-server";
}

std::int64_t number_after(std::string_view text, std::string_view name) {
    const std::size_t at = text.find(name);
    if (at == std::string_view::npos) return 0;
    const std::string_view rest = text.substr(at + name.size());
    return parse_whole_number(rest.substr(0, rest.find_first_not_of("0123456789"))).value_or(0);
}

}  // namespace

RedisServer::RedisServer(RedisOptions options) : m_options(std::move(options)) {
    for (int attempt = 0; attempt < k_port_tries; ++attempt) {
        if (try_start(spare_port())) return;
    }
    throw std::runtime_error(server_program() + " did not start: " + read_file(m_dir.file("log")));
}

bool RedisServer::try_start(std::uint16_t port) {
    Argv argv = {server_program(),
                 "--bind",
                 "127.0.0.1",
                 "--port",
                 std::to_string(port),
                 "--unixsocket",
                 socket_path(),
                 "--daemonize",
                 "no",
                 "--protected-mode",
                 "no",
                 "--save",
                 "",
                 "--appendonly",
                 "no",
                 "--dir",
                 m_dir.path(),
                 "--dbfilename",
                 "dump.rdb",
                 "--logfile",
                 m_dir.file("log")};
    if (!m_options.password.empty()) argv.insert(argv.end(), {"--requirepass", m_options.password});
    argv.insert(argv.end(), m_options.extra.begin(), m_options.extra.end());
    ProgramOptions options;
    options.timeout = std::chrono::hours{1};
    m_server.emplace(argv, options);
    m_port = port;
    const BootTime until = BootClock::now() + k_start_limit;
    while (BootClock::now() < until) {
        if (answers()) return true;
        poll(nullptr, 0, static_cast<int>(k_ask_every / 1ms));
        m_server->service();
        if (m_server->ended()) break;
    }
    m_server.reset();
    return false;
}

// PONG and no longer LOADING; where a password is asked for, cli() has given it.
bool RedisServer::answers() {
    if (!connect_to_socket(socket_path())) return false;
    // The socket comes after the port, so a server that answers has both.
    return cli({"PING"}) == "PONG";
}

void RedisServer::stop(Data data) {
    if (data == Data::kept && cli({"SAVE"}) != "OK")
        throw std::runtime_error("the Redis of the test cannot save");
    m_server->kill(SIGKILL);
    m_server->wait();
    m_server.reset();
    if (data == Data::lost) std::filesystem::remove(m_dir.file("dump.rdb"));
    std::filesystem::remove(socket_path());
}

void RedisServer::start() {
    // Another test may have borrowed the port for a moment.
    for (int attempt = 0; attempt < k_port_tries; ++attempt) {
        if (try_start(m_port)) return;
        poll(nullptr, 0, 100);
    }
    throw std::runtime_error("the Redis of the test did not start again: " + read_file(m_dir.file("log")));
}

std::string RedisServer::cli(const std::vector<std::string>& args) {
    const Fd connection = connect_to_socket(socket_path());
    if (!connection) throw std::runtime_error("the Redis of the test is not there");
    if (!m_options.password.empty()) redis_command(connection, {"AUTH", m_options.password});
    return redis_command(connection, args);
}

std::int64_t RedisServer::calls(const std::string& command) {
    return number_after(cli({"INFO", "commandstats"}), "cmdstat_" + command + ":calls=");
}

std::int64_t RedisServer::commands_processed() {
    return number_after(cli({"INFO", "stats"}), "total_commands_processed:");
}

}  // namespace jobthrottle::test
