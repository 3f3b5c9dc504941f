// SPDX-License-Identifier: MIT
#include "store/redis/redis_store.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "store/glob.hpp"
#include "store/redis/key_names.hpp"
#include "store/redis/script_calls.hpp"
#include "store/redis/script_runner.hpp"
#include "store/redis/scripts.hpp"
#include "store/redis/server_error.hpp"

namespace jobthrottle {

namespace {

constexpr StoreTraits k_traits{std::chrono::seconds{5}};
constexpr std::size_t k_inspected_at_once = 64;
constexpr const char* k_scanned_at_once = "1000";

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

    Result<Answer> ask(const Key&, const Question&) override;
    Result<void> cancel(const Key&, TicketId) override;
    Result<PauseAnswer> pause(const Key&, const PauseRequest&) override;
    Result<PauseAnswer> resume(const Key&) override;
    Result<std::optional<Registration>> set_registration(const Key&,
                                                         const std::optional<Registration>&) override;
    Result<std::optional<Registration>> registration(const Key&) override;
    Result<KeyReport> inspect(const Key&) override;
    Result<std::vector<KeySummary>> keys(const std::string& pattern) override;
    Result<ForgetAnswer> forget(const Key&, bool force) override;
    std::string name() const override { return m_runner.name(); }
    void hurry(Duration longest) override { m_runner.hurry(longest); }
    void rest() override { m_runner.close(); }

private:
    ScriptSetting setting() const {
        return {m_options.prefix, m_options.url.database,
                m_options.clock_us ? std::to_string(m_options.clock_us()) : ""};
    }
    // One call of a script on one key. `again`: the words for when it has to be sent a second time.
    Result<Reply> call(const Script&, const Key&, const Command& words, const Command& again);
    Result<Reply> decide(const Key& key, const Command& words) {
        return call(script_decide(), key, words, words);
    }
    // Why a reply to a call on this key is none.
    std::optional<Error> fault_of(const Reply&, const Key&) const;

    struct Listing {
        std::vector<KeySummary> found;
        std::vector<Key> left_out;
    };
    Result<std::set<Key>> find_keys(const std::string& pattern);
    Result<void> summarize(const std::vector<Key>& keys, Listing& listing);
    void tell_left_out(const std::vector<Key>& keys) const;
    Result<Inspected> look_at(const Key&);
    Result<KeyReport> report_of(const Key&, const Inspected&) const;

    RedisOptions m_options;
    ScriptRunner m_runner;
};

std::optional<Error> RedisStore::fault_of(const Reply& reply, const Key& key) const {
    if (reply.kind == Reply::Kind::error) return m_runner.error_of(reply);
    return jobthrottle::fault_of(reply, key, setting());
}

Result<Reply> RedisStore::call(const Script& script, const Key& key, const Command& words,
                               const Command& again) {
    auto replies = m_runner.call(script, {words});
    if (!replies && m_runner.may_repeat()) replies = m_runner.call(script, {again});
    if (!replies) return replies.error();
    if (const auto fault = fault_of(replies->front(), key)) return *fault;
    return std::move(replies->front());
}

Result<Answer> RedisStore::ask(const Key& key, const Question& question) {
    Question repeated = question;
    repeated.fresh = false;
    const auto now = setting();
    const auto reply = call(script_decide(), key, ask_words(now, key, question, k_traits),
                            ask_words(now, key, repeated, k_traits));
    if (!reply) return reply.error();
    const auto answer = answer_of(*reply);
    if (!answer) return not_understood();
    return *answer;
}

Result<void> RedisStore::cancel(const Key& key, TicketId id) {
    const auto reply = decide(key, cancel_words(setting(), key, id));
    if (!reply) return reply.error();
    return {};
}

Result<PauseAnswer> RedisStore::pause(const Key& key, const PauseRequest& request) {
    const auto reply = decide(key, pause_words(setting(), key, request));
    if (!reply) return reply.error();
    const auto answer = pause_answer_of(*reply);
    if (!answer) return not_understood();
    return *answer;
}

Result<PauseAnswer> RedisStore::resume(const Key& key) {
    const auto reply = decide(key, resume_words(setting(), key));
    if (!reply) return reply.error();
    const auto answer = pause_answer_of(*reply);
    if (!answer) return not_understood();
    return *answer;
}

Result<std::optional<Registration>> RedisStore::set_registration(const Key& key,
                                                                 const std::optional<Registration>& wanted) {
    const auto reply = decide(key, register_words(setting(), key, wanted));
    if (!reply) return reply.error();
    const auto before = registered_before(*reply);
    if (!before) return not_understood();
    return decode_registration(*before);
}

Result<std::optional<Registration>> RedisStore::registration(const Key& key) {
    const auto inspected = look_at(key);
    if (!inspected) return inspected.error();
    return decode_registration(inspected->records.registered);
}

Result<Inspected> RedisStore::look_at(const Key& key) {
    const Command words = inspect_words(setting(), key);
    const auto reply = call(script_inspect(), key, words, words);
    if (!reply) return reply.error();
    auto inspected = inspected_of(*reply);
    if (!inspected) return not_understood();
    return std::move(*inspected);
}

Result<KeyReport> RedisStore::report_of(const Key& key, const Inspected& inspected) const {
    auto unpacked = unpack(inspected.records);
    if (unpacked.problem != RecordsProblem::none) {
        return records_error(unpacked.problem, key, m_options.prefix);
    }
    return report_on(std::move(unpacked.records), inspected.now_us);
}

Result<KeyReport> RedisStore::inspect(const Key& key) {
    const auto inspected = look_at(key);
    if (!inspected) return inspected.error();
    return report_of(key, *inspected);
}

Result<ForgetAnswer> RedisStore::forget(const Key& key, bool force) {
    auto report = inspect(key);
    if (!report) return report.error();
    const auto reply = decide(key, forget_words(setting(), key, force));
    if (!reply) return reply.error();
    const auto forgotten = forgotten_of(*reply);
    if (!forgotten) return not_understood();
    if (!*forgotten) {  // who is in the way may have come since
        report = inspect(key);
        if (!report) return report.error();
    }
    ForgetAnswer answer{*forgotten, report->known, {}};
    for (auto& waiter : report->waiting) {
        if (waiter.place == Place::in_line) answer.waiting.push_back(std::move(waiter));
    }
    return answer;
}

Result<std::set<Key>> RedisStore::find_keys(const std::string& pattern) {
    std::set<Key> found;
    std::string cursor = "0";
    do {
        const Command scan = {"SCAN",  cursor,           "MATCH", names_pattern(m_options.prefix),
                              "COUNT", k_scanned_at_once};
        auto replies = m_runner.run({scan});
        if (!replies && m_runner.may_repeat()) replies = m_runner.run({scan});
        if (!replies) return replies.error();
        const Reply& reply = replies->front();
        if (reply.kind == Reply::Kind::error) return m_runner.error_of(reply);
        if (reply.items.size() != 2) return not_understood();
        cursor = reply.items[0].text;
        for (const Reply& name : reply.items[1].items) {
            const auto key = key_of_name(m_options.prefix, name.text);
            if (key && glob_matches(pattern, key->bytes())) found.insert(*key);
        }
    } while (cursor != "0");
    return found;
}

// What another application or a newer version has put beside our keys is none of them, nor is one that is
// damaged: they do not keep the others from being listed.
Result<void> RedisStore::summarize(const std::vector<Key>& keys, Listing& listing) {
    std::vector<Command> words;
    words.reserve(keys.size());
    const auto now = setting();
    for (const Key& key : keys)
        words.push_back(inspect_words(now, key));
    auto replies = m_runner.call(script_inspect(), words);
    if (!replies && m_runner.may_repeat()) replies = m_runner.call(script_inspect(), words);
    if (!replies) return replies.error();
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const Reply& reply = (*replies)[i];
        if (reply.kind == Reply::Kind::error && error_code(reply.text) == "WRONGTYPE") {
            listing.left_out.push_back(keys[i]);
            continue;
        }
        if (const auto fault = fault_of(reply, keys[i])) return *fault;
        const auto inspected = inspected_of(reply);
        if (!inspected) return not_understood();
        auto report = report_of(keys[i], *inspected);
        if (!report) listing.left_out.push_back(keys[i]);
        if (report && report->known) listing.found.push_back({keys[i], std::move(*report)});
    }
    return {};
}

void RedisStore::tell_left_out(const std::vector<Key>& keys) const {
    if (keys.empty() || !m_options.notice) return;
    const std::string more = keys.size() > 1 ? " and " + std::to_string(keys.size() - 1) + " more" : "";
    m_options.notice("not listed: '" + keys.front().shown() + "'" + more +
                     ", where what is stored is damaged, of a newer jobthrottle or of another application; "
                     "inspect says which");
}

Result<std::vector<KeySummary>> RedisStore::keys(const std::string& pattern) {
    const auto names = find_keys(pattern);
    if (!names) return names.error();
    Listing listing;
    std::vector<Key> batch;
    for (auto next = names->begin(); next != names->end();) {
        batch.push_back(*next++);
        if (batch.size() < k_inspected_at_once && next != names->end()) continue;
        if (const auto done = summarize(batch, listing); !done) return done.error();
        batch.clear();
    }
    tell_left_out(listing.left_out);
    return std::move(listing.found);
}

}  // namespace

std::unique_ptr<Store> make_redis_store(const RedisOptions& options) {
    return std::make_unique<RedisStore>(options);
}

}  // namespace jobthrottle
