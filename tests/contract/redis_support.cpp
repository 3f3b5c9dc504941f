// SPDX-License-Identifier: MIT
#include "redis_support.hpp"

#include <sys/socket.h>

#include <stdexcept>

namespace jobthrottle::test {

using namespace std::chrono_literals;

Key key_named(std::string bytes) {
    const auto key = Key::make(std::move(bytes));
    if (!key) throw std::runtime_error(key.error().message);
    return *key;
}

Rate rate_of(std::int64_t allow, Duration period) {
    return *Rate::make(allow, period);
}

Question question_at(const Rate& rate) {
    static std::atomic<std::uint64_t> next{1};
    Question question;
    question.id = next++;
    question.place = question.id;
    question.rate = rate;
    question.who = "job me@here:1";
    return question;
}

jobthrottle::RedisOptions options_for(const std::string& url) {
    auto parsed = parse_redis_url(url);
    if (!parsed) throw std::runtime_error(parsed.error().message);
    jobthrottle::RedisOptions options;
    options.url = std::move(*parsed);
    options.connect_timeout = options.command_timeout = 20s;
    return options;
}

std::unique_ptr<Store> redis_at(const std::string& url) {
    return make_redis_store(options_for(url));
}

FakeServer::FakeServer(Handler handler) {
    m_thread = std::thread([this, handler = std::move(handler)] {
        while (!m_stop) {
            const Fd connection(accept(m_listener.get(), nullptr, nullptr));
            if (connection && !m_stop) handler(connection, m_stop);
        }
    });
}

FakeServer::FakeServer(std::string answer)
    : FakeServer([answer = std::move(answer)](const Fd& connection, const std::atomic<bool>&) {
          if (!receive_some(connection).empty()) send_all(connection, answer);
          while (!receive_some(connection).empty()) {
          }
      }) {}

FakeServer::~FakeServer() {
    m_stop = true;
    shutdown(m_listener.get(), SHUT_RDWR);
    m_thread.join();
}

bool ended_in_time(BootTime began) {
    return BootClock::now() - began < 15s;
}

}  // namespace jobthrottle::test
