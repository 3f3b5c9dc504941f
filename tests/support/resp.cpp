// SPDX-License-Identifier: MIT
#include "support/resp.hpp"

#include <cstddef>
#include <stdexcept>

#include "support/net.hpp"

namespace jobthrottle::test {
namespace {

class ReplyReader {
public:
    explicit ReplyReader(const Fd& connection) : m_connection(connection) {}

    std::string read() {
        const std::string line = take_line();
        const std::string rest = line.substr(1);
        switch (line.at(0)) {
            case '-':
                return "(error) " + rest;
            case '$':
                return rest == "-1" ? "(nil)" : take_bytes(std::stoul(rest));
            case '*':
                return rest == "-1" ? "(nil)" : take_list(std::stoul(rest));
            default:
                return rest;
        }
    }

private:
    void more() {
        const std::string got = receive_some(m_connection);
        if (got.empty()) throw std::runtime_error("no reply from the Redis of the test");
        m_buffer += got;
    }

    std::string take_line() {
        std::size_t end = 0;
        while ((end = m_buffer.find("\r\n")) == std::string::npos)
            more();
        std::string line = m_buffer.substr(0, end);
        m_buffer.erase(0, end + 2);
        if (line.empty()) throw std::runtime_error("an empty reply from the Redis of the test");
        return line;
    }

    std::string take_bytes(std::size_t size) {
        while (m_buffer.size() < size + 2)
            more();
        std::string bytes = m_buffer.substr(0, size);
        m_buffer.erase(0, size + 2);
        return bytes;
    }

    std::string take_list(std::size_t count) {
        std::string text;
        for (std::size_t i = 0; i < count; ++i)
            text += (i == 0 ? "" : "\n") + read();
        return text;
    }

    const Fd& m_connection;
    std::string m_buffer;
};

}  // namespace

std::string redis_command(const Fd& connection, const std::vector<std::string>& args) {
    std::string request = "*" + std::to_string(args.size()) + "\r\n";
    for (const std::string& arg : args)
        request += "$" + std::to_string(arg.size()) + "\r\n" + arg + "\r\n";
    if (!send_all(connection, request)) throw std::runtime_error("the Redis of the test takes no command");
    return ReplyReader(connection).read();
}

}  // namespace jobthrottle::test
