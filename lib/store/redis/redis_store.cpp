// SPDX-License-Identifier: MIT
#include "store/redis/redis_store.hpp"

#include <utility>

#include "store/one_by_one.hpp"
#include "store/redis/key_listing.hpp"
#include "store/redis/key_names.hpp"
#include "store/redis/script_calls.hpp"
#include "store/redis/script_runner.hpp"
#include "store/redis/scripts.hpp"
#include "store/redis/server_error.hpp"

namespace jobthrottle {

namespace {

constexpr StoreTraits k_traits{std::chrono::seconds{5}};
constexpr const char* k_listened_s = "70";  // longer than any waiter sleeps

RedisUrl with_password(RedisUrl url, const std::optional<std::string>& password) {
    if (password) url.password = password;
    return url;
}

Error not_understood() {
    return refused_error("its answer is not understood");
}

class RedisStore final : public Store {
public:
    explicit RedisStore(const RedisOptions& options)
        : m_options(options),
          m_runner({with_password(options.url, options.password), options.connect_timeout,
                    options.command_timeout},
                   options.connect_timeout + options.command_timeout, options.interrupt_fd) {}

    using Store::ask;
    Result<std::vector<Answer>> ask(const std::vector<Asked>&) override;
    Result<void> cancel(const Key&, TicketId) override;
    Result<std::vector<int>> listen(const std::vector<WakeUp>&) override;
    Result<LeaseAnswer> renew(const Key&, const Renewal&) override;
    Result<LeaseAnswer> release(const Key&, const Release&) override;
    Result<std::vector<Holder>> release_leases(const Key&, bool only_dead) override;
    Result<SettleAnswer> settle(const Key&, const Settlement&) override;
    Result<bool> give_back(const Key&, const GiveBack&) override;
    std::string processes(pid_t, pid_t) const override { return {}; }
    Result<PauseAnswer> pause(const Key&, const PauseRequest&) override;
    Result<PauseAnswer> resume(const Key&) override;
    Result<std::optional<Registration>> set_registration(const Key&,
                                                         const std::optional<Registration>&) override;
    Result<std::optional<Registration>> registration(const Key&) override;
    Result<KeyReport> inspect(const Key&) override;
    Result<std::vector<KeySummary>> keys(const std::string& pattern) override;
    Result<ForgetAnswer> forget(const Key&, bool force) override;
    bool may_count_late() const override { return true; }
    std::string name() const override { return m_runner.name(); }
    void hurry(Duration longest) override { m_runner.hurry(longest); }
    void rest() override { m_runner.close(); }

private:
    ScriptSetting setting() const {
        return {m_options.prefix, m_options.url.database,
                m_options.clock_us ? std::to_string(m_options.clock_us()) : ""};
    }
    // One call of a script. `again`: the words for when it has to be sent a second time. An error reply is an
    // error here.
    Result<Reply> call(const Script&, const std::vector<const Key*>&, const Command& words,
                       const Command& again);
    // A decision on one key, and what its reply means.
    template <typename T>
    Result<T> decide(const Key& key, const Command& words, std::optional<T> (*read)(const Reply&)) {
        const auto reply = call(script_decide(), {&key}, words, words);
        if (!reply) return reply.error();
        auto meaning = read(*reply);
        if (!meaning) return not_understood();
        return std::move(*meaning);
    }
    Result<std::vector<Answer>> ask_together(const std::vector<Asked>&);
    Result<Inspected> look_at(const Key&);

    RedisOptions m_options;
    ScriptRunner m_runner;
    bool m_keys_apart = false;  // a cluster, where the keys of a job have slots of their own
};

Result<Reply> RedisStore::call(const Script& script, const std::vector<const Key*>& keys,
                               const Command& words, const Command& again) {
    auto replies = m_runner.call(script, {words});
    if (!replies && m_runner.may_repeat()) replies = m_runner.call(script, {again});
    if (!replies) return replies.error();
    Reply& reply = replies->front();
    if (reply.kind == Reply::Kind::error) {
        m_keys_apart = m_keys_apart || error_code(reply.text) == "CROSSSLOT";
        return m_runner.error_of(reply);
    }
    if (const auto fault = fault_of(reply, keys, setting())) return *fault;
    return std::move(reply);
}

Result<std::vector<Answer>> RedisStore::ask(const std::vector<Asked>& asked) {
    if (!m_keys_apart || asked.size() == 1) {
        auto answers = ask_together(asked);
        if (answers || !m_keys_apart || asked.size() == 1) return answers;
    }
    return ask_one_by_one(asked, [this](const Key&) -> Store& { return *this; });
}

Result<std::vector<Answer>> RedisStore::ask_together(const std::vector<Asked>& asked) {
    std::vector<Asked> repeated = asked;
    for (auto& one : repeated)
        one.question.fresh = false;
    std::vector<const Key*> keys;
    keys.reserve(asked.size());
    for (const auto& one : asked)
        keys.push_back(&one.key);
    const auto now = setting();
    const auto reply =
        call(script_decide(), keys, ask_words(now, asked, k_traits), ask_words(now, repeated, k_traits));
    if (!reply) return reply.error();
    auto answers = answers_of(*reply, asked.size());
    if (!answers) return not_understood();
    return std::move(*answers);
}

Result<void> RedisStore::cancel(const Key& key, TicketId id) {
    const auto there = decide(key, cancel_words(setting(), key, id), flag_of);
    if (!there) return there.error();
    return {};
}

Result<std::vector<int>> RedisStore::listen(const std::vector<WakeUp>& wakes) {
    Command command = {"BLPOP"};
    for (const auto& wake : wakes) {
        const bool may_listen = command.size() == 1 || !m_keys_apart;  // one command is on one slot
        if (wake.wake > 0 && may_listen)
            command.push_back(wake_list_name(m_options.prefix, wake.key, wake.wake));
    }
    if (command.size() == 1) return std::vector<int>{};
    command.emplace_back(k_listened_s);
    const auto fd = m_runner.listen(command);
    if (!fd) return fd.error();
    return *fd ? std::vector<int>{**fd} : std::vector<int>{};
}

Result<LeaseAnswer> RedisStore::renew(const Key& key, const Renewal& renewal) {
    return decide(key, renew_words(setting(), key, renewal), lease_answer_of);
}

Result<LeaseAnswer> RedisStore::release(const Key& key, const Release& release) {
    return decide(key, release_words(setting(), key, release), lease_answer_of);
}

Result<std::vector<Holder>> RedisStore::release_leases(const Key& key, bool only_dead) {
    return decide(key, release_leases_words(setting(), key, only_dead), released_of);
}

Result<SettleAnswer> RedisStore::settle(const Key& key, const Settlement& settlement) {
    return decide(key, settle_words(setting(), key, settlement), settle_answer_of);
}

Result<bool> RedisStore::give_back(const Key& key, const GiveBack& given) {
    return decide(key, give_back_words(setting(), key, given), flag_of);
}

Result<PauseAnswer> RedisStore::pause(const Key& key, const PauseRequest& request) {
    return decide(key, pause_words(setting(), key, request), pause_answer_of);
}

Result<PauseAnswer> RedisStore::resume(const Key& key) {
    return decide(key, resume_words(setting(), key), pause_answer_of);
}

Result<std::optional<Registration>> RedisStore::set_registration(const Key& key,
                                                                 const std::optional<Registration>& wanted) {
    const auto before = decide(key, register_words(setting(), key, wanted), registered_before);
    if (!before) return before.error();
    return decode_registration(*before);
}

Result<std::optional<Registration>> RedisStore::registration(const Key& key) {
    const auto inspected = look_at(key);
    if (!inspected) return inspected.error();
    return decode_registration(inspected->records.registered);
}

Result<Inspected> RedisStore::look_at(const Key& key) {
    const Command words = inspect_words(setting(), key);
    const auto reply = call(script_inspect(), {&key}, words, words);
    if (!reply) return reply.error();
    auto inspected = inspected_of(*reply);
    if (!inspected) return not_understood();
    return std::move(*inspected);
}

Result<KeyReport> RedisStore::inspect(const Key& key) {
    const auto inspected = look_at(key);
    if (!inspected) return inspected.error();
    return report_of(key, *inspected, m_options.prefix);
}

Result<std::vector<KeySummary>> RedisStore::keys(const std::string& pattern) {
    return list_keys(m_runner, setting(), pattern, m_options.notice);
}

Result<ForgetAnswer> RedisStore::forget(const Key& key, bool force) {
    auto report = inspect(key);
    if (!report) return report.error();
    const auto forgotten = decide(key, forget_words(setting(), key, force), flag_of);
    if (!forgotten) return forgotten.error();
    if (!*forgotten) {  // who is in the way may have come since
        report = inspect(key);
        if (!report) return report.error();
    }
    ForgetAnswer answer = in_the_way(*report);
    answer.forgotten = *forgotten;
    return answer;
}

}  // namespace

std::unique_ptr<Store> make_redis_store(const RedisOptions& options) {
    return std::make_unique<RedisStore>(options);
}

}  // namespace jobthrottle
