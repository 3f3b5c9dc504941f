// SPDX-License-Identifier: MIT
#include "redis_support.hpp"

#include <sys/socket.h>

#include <stdexcept>

#include "support/catch.hpp"

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

Terms terms_of(const std::vector<Rate>& rates, std::optional<std::int64_t> concurrency) {
    return Terms::make(rates, concurrency).value();
}

Question question_at(const Rate& rate) {
    static std::atomic<std::uint64_t> next{1};
    Question question;
    question.id = next++;
    question.place = question.id;
    question.terms = terms_of({rate});
    question.who = "job me@here:1";
    return question;
}

Question large_question() {
    const Rate slow = rate_of(2, 1h);
    auto question = question_at(slow);
    question.terms = terms_of({slow, rate_of(50'000, 24h)});
    return question;
}

void fill(Store& store, const Key& key, std::int64_t& clock_us) {
    const Rate slow = rate_of(2, 1h);
    PauseRequest request;
    request.length = 1s;
    request.note = encode(PauseNote{"HTTP 429", "HTTP/2 429", "stdout", "job", "me@here:1", "", 1});
    REQUIRE(store.pause(key, request).ok());
    REQUIRE(store.resume(key).ok());
    auto attempt = large_question();
    attempt.terms = terms_of({rate_of(2, 1s), rate_of(50'000, 24h)}, 5);
    attempt.count_successes = true;
    attempt.lock_for = 90min;
    REQUIRE(store.ask(key, attempt)->leased);
    REQUIRE(store.ask(key, question_at(rate_of(2, 1s))).ok());
    auto late = question_at(slow);
    late.caller = true;
    late.keep = 24h;
    const auto told = store.ask(key, late);
    REQUIRE(told->kind == AnswerKind::wait);
    clock_us += told->wait.count() + 200'000;
    REQUIRE(store.set_registration(key, Registration{terms_of({slow}), 1, "ops@box"}).ok());
    for (int i = 0; i < 4; ++i)
        REQUIRE(store.ask(key, question_at(slow)).ok());
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
