// SPDX-License-Identifier: MIT
#include "lua_compare_support.hpp"

#include <stdexcept>
#include <utility>

#include "lua_records.hpp"
#include "lua_text.hpp"
#include "store/redis/key_names.hpp"

namespace jobthrottle::test {

namespace {

template <typename T>
T sure(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return std::move(result).value();
}

}  // namespace

Pair::Pair()
    : m_connection({sure(parse_redis_url(m_server.socket_url())), std::chrono::seconds{20},
                    std::chrono::seconds{20}}) {
    jobthrottle::RedisOptions options;
    options.url = sure(parse_redis_url(m_server.socket_url()));
    options.connect_timeout = options.command_timeout = std::chrono::seconds{20};
    options.clock_us = [this] { return to_us(m_memory.clock()); };
    m_redis = make_redis_store(options);
}

std::vector<Reply> Pair::redis(const std::vector<Command>& commands) {
    return sure(m_connection.run(commands, {BootClock::now() + std::chrono::seconds{20}, -1, {}}));
}

std::string Pair::difference(const Key& key) {
    const auto replies = redis(looks_at(record_names("jobthrottle", key)));
    const BootTime before = std::exchange(m_looked_at, BootClock::now());
    return records_difference(m_memory.records(key), replies, m_looked_at - before < std::chrono::seconds{8});
}

std::string Pair::ask_only(const std::vector<Asked>& asked, std::vector<Answer>& answers) {
    answers = sure(m_memory.ask(asked));
    const auto redis = sure(m_redis->ask(asked));
    std::string difference;
    for (std::size_t i = 0; i < asked.size(); ++i)
        difference += differ("answer " + std::to_string(i), text_of(answers[i]), text_of(redis.at(i)));
    return difference;
}

std::string Pair::ask(const std::vector<Asked>& asked, std::vector<Answer>& answers) {
    std::string difference = ask_only(asked, answers);
    for (const auto& one : asked)
        difference += this->difference(one.key);
    return difference;
}

std::string Pair::ask_only(const Key& key, const Question& question, Answer& answer) {
    std::vector<Answer> answers;
    auto difference = ask_only({{key, question}}, answers);
    answer = answers.front();
    return difference;
}

std::string Pair::ask(const Key& key, const Question& question, Answer& answer) {
    auto difference = ask_only(key, question, answer);
    return difference + this->difference(key);
}

std::string Pair::cancel(const Key& key, TicketId id) {
    if (!m_memory.cancel(key, id) || !m_redis->cancel(key, id)) return "cancel failed";
    return difference(key);
}

std::string Pair::renew(const Key& key, const Renewal& renewal) {
    const auto memory = sure(m_memory.renew(key, renewal)), redis = sure(m_redis->renew(key, renewal));
    return differ("the renewal", text_of(memory), text_of(redis)) + difference(key);
}

std::string Pair::release(const Key& key, const Release& release) {
    const auto memory = sure(m_memory.release(key, release)), redis = sure(m_redis->release(key, release));
    return differ("the release", text_of(memory), text_of(redis)) + difference(key);
}

std::string Pair::release_leases(const Key& key, bool only_dead) {
    std::string memory, redis;
    for (const auto& holder : sure(m_memory.release_leases(key, only_dead)))
        memory += text_of(holder);
    for (const auto& holder : sure(m_redis->release_leases(key, only_dead)))
        redis += text_of(holder);
    return differ("what was released", memory, redis) + difference(key);
}

std::string Pair::settle(const Key& key, const Settlement& settlement) {
    const auto memory = sure(m_memory.settle(key, settlement)),
               redis = sure(m_redis->settle(key, settlement));
    return differ("the settlement", text_of(memory), text_of(redis)) + difference(key);
}

std::string Pair::give_back(const Key& key, const GiveBack& given) {
    const bool memory = sure(m_memory.give_back(key, given)), redis = sure(m_redis->give_back(key, given));
    return differ("given back", std::to_string(memory), std::to_string(redis)) + difference(key);
}

std::string Pair::pause(const Key& key, const PauseRequest& request) {
    const auto memory = sure(m_memory.pause(key, request)), redis = sure(m_redis->pause(key, request));
    return differ("the pause", text_of(memory), text_of(redis)) + difference(key);
}

std::string Pair::resume(const Key& key) {
    const auto memory = sure(m_memory.resume(key)), redis = sure(m_redis->resume(key));
    return differ("the resume", text_of(memory), text_of(redis)) + difference(key);
}

std::string Pair::set_registration(const Key& key, const std::optional<Registration>& wanted) {
    const auto memory = sure(m_memory.set_registration(key, wanted));
    const auto redis = sure(m_redis->set_registration(key, wanted));
    return differ("the registration before", memory ? encode(*memory) : "", redis ? encode(*redis) : "") +
           difference(key);
}

std::string Pair::forget(const Key& key, bool force) {
    const auto memory = sure(m_memory.forget(key, force)), redis = sure(m_redis->forget(key, force));
    // Memory has only looked; Redis has put away what was over, like any decision.
    if (!memory.forgotten) sure(m_memory.release(key, {}));
    return differ("known", std::to_string(memory.known), std::to_string(redis.known)) +
           differ("forgotten", std::to_string(memory.forgotten), std::to_string(redis.forgotten)) +
           differ("who waited", std::to_string(memory.waiting.size()), std::to_string(redis.waiting.size())) +
           differ("who held", std::to_string(memory.holding.size()), std::to_string(redis.holding.size())) +
           difference(key);
}

std::string Pair::inspect(const Key& key) {
    const auto memory = sure(m_memory.inspect(key)), redis = sure(m_redis->inspect(key));
    return differ("the report", text_of(memory), text_of(redis)) + difference(key);
}

}  // namespace jobthrottle::test
