// SPDX-License-Identifier: MIT
#include "store/local/local_store.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <list>
#include <optional>
#include <type_traits>
#include <utility>

#include "store/glob.hpp"
#include "store/local/empty_store.hpp"
#include "store/local/listener.hpp"
#include "store/local/place.hpp"
#include "store/local/processes.hpp"
#include "store/local/purge.hpp"
#include "store/local/records.hpp"
#include "store/local/session.hpp"

namespace jobthrottle {

namespace {

using local::KeyTable;
using local::LocalRecords;
using local::Moment;
using local::Transaction;

constexpr StoreTraits k_traits{std::chrono::seconds{2}};

class LocalStore final : public Store {
public:
    LocalStore(const LocalOptions& options, std::string folder)
        : m_folder(std::move(folder)), m_session(options, m_folder), m_listener(m_session.stem()) {}

    Result<std::vector<Answer>> ask(const std::vector<Asked>&) override;

    Result<void> cancel(const Key& key, TicketId id) override {
        const auto done = on_key(key, [&](LocalRecords& records, std::int64_t now_us) {
            return jobthrottle::cancel(records, now_us, id);
        });
        if (!done) return done.error();
        m_listener.drop(key, id);
        return {};
    }

    Result<std::vector<int>> listen(const std::vector<WakeUp>& wakeups) override {
        return m_listener.listen(wakeups);
    }

    Result<LeaseAnswer> renew(const Key& key, const Renewal& renewal) override {
        return on_key(key, [&](LocalRecords& records, std::int64_t now_us) {
            return jobthrottle::renew(records, now_us, renewal);
        });
    }

    Result<LeaseAnswer> release(const Key& key, const Release& release) override {
        return on_key(key, [&](LocalRecords& records, std::int64_t now_us) {
            return jobthrottle::release(records, now_us, release);
        });
    }

    Result<std::vector<Holder>> release_leases(const Key& key, bool only_dead) override {
        return on_key(key, [&](LocalRecords& records, std::int64_t now_us) {
            return release_holders(records, now_us, only_dead);
        });
    }

    Result<SettleAnswer> settle(const Key& key, const Settlement& settlement) override {
        return on_key(key, [&](LocalRecords& records, std::int64_t now_us) {
            return jobthrottle::settle(records, now_us, settlement);
        });
    }

    Result<bool> give_back(const Key& key, const GiveBack& given) override {
        return on_key(key, [&](LocalRecords& records, std::int64_t now_us) {
            return jobthrottle::give_back(records, now_us, given);
        });
    }

    std::string processes(pid_t wrapper, pid_t command) const override {
        return local::processes_text(wrapper, command);
    }

    Result<PauseAnswer> pause(const Key& key, const PauseRequest& request) override {
        return on_key(key, [&](LocalRecords& records, std::int64_t now_us) {
            return jobthrottle::pause(records, now_us, request);
        });
    }

    Result<PauseAnswer> resume(const Key& key) override {
        return on_key(key, [&](LocalRecords& records, std::int64_t now_us) {
            return jobthrottle::resume(records, now_us);
        });
    }

    Result<std::optional<Registration>> set_registration(const Key& key,
                                                         const std::optional<Registration>& wanted) override {
        return on_key(key, [&](LocalRecords& records, std::int64_t) {
            auto before = records.registration();
            records.put_registration(wanted);
            return before;
        });
    }

    Result<std::optional<Registration>> registration(const Key& key) override {
        return on_key(key, [&](LocalRecords& records, std::int64_t) { return records.registration(); });
    }

    Result<KeyReport> inspect(const Key& key) override {
        std::int64_t at_us = 0;
        auto copy = on_key(key, [&](LocalRecords& records, std::int64_t now_us) {
            at_us = now_us;
            return records.copy();
        });
        if (!copy) return copy.error();
        return report_on(std::move(copy).value(), at_us);
    }

    Result<std::vector<KeySummary>> keys(const std::string& pattern) override;

    Result<ForgetAnswer> forget(const Key& key, bool force) override {
        return on_key(key, [&](LocalRecords& records, std::int64_t now_us) {
            return forget_records(records, report_on(records.copy(), now_us), force);
        });
    }

    std::string name() const override { return "local:" + m_folder; }
    void hurry(Duration longest) override { m_session.hurry(longest); }
    void rest() override { m_session.close(); }

private:
    // Runs `body` on the records of the key in one transaction and returns what it returned.
    template <typename Body>
    auto on_key(const Key& key, const Body& body)
        -> Result<std::invoke_result_t<Body, LocalRecords&, std::int64_t>> {
        std::optional<std::invoke_result_t<Body, LocalRecords&, std::int64_t>> out;
        const auto done = m_session.transact([&](Transaction& txn, const Moment& moment) {
            KeyTable table(txn);
            LocalRecords records(txn, table, key.bytes(), &m_listener);
            out.emplace(body(records, moment.now_us));
            records.settle(moment);
            if (txn.has_written()) purge(txn, table, moment);
        });
        if (!done) return done.error();
        return std::move(*out);
    }

    std::string m_folder;
    local::Session m_session;
    local::Listener m_listener;
};

Result<std::vector<Answer>> LocalStore::ask(const std::vector<Asked>& asked) {
    std::vector<Answer> answers;
    const auto done = m_session.transact([&](Transaction& txn, const Moment& moment) {
        m_listener.begin(asked);
        KeyTable table(txn);
        std::list<LocalRecords> records;
        std::vector<KeyQuestion> questions;
        for (const auto& one : asked) {
            records.emplace_back(txn, table, one.key.bytes(), &m_listener);
            questions.push_back({&records.back(), &one.question});
        }
        answers = jobthrottle::ask(questions, moment.now_us, k_traits);
        auto of_key = records.begin();
        for (std::size_t i = 0; i < answers.size(); ++i, ++of_key) {
            of_key->settle(moment);
            if (!m_listener.prepare(asked[i], answers[i], *of_key, [&] { return m_session.rights(); }))
                txn.fail({local::Fault::system, errno});
        }
        if (txn.has_written()) purge(txn, table, moment);
    });
    m_listener.end(done.ok());
    if (!done) return done.error();
    return answers;
}

Result<std::vector<KeySummary>> LocalStore::keys(const std::string& pattern) {
    std::vector<std::string> names;
    const auto listed = m_session.transact([&](Transaction& txn, const Moment&) {
        names.clear();
        KeyTable(txn).each_name([&](std::string_view name) {
            if (glob_matches(pattern, name)) names.emplace_back(name);
        });
    });
    if (!listed) return listed.error();
    std::vector<KeySummary> found;
    for (auto& name : names) {
        // One key at a time, so that a long list holds nobody up.
        auto key = Key::make(std::move(name));
        if (!key) continue;
        auto report = inspect(*key);
        if (!report) return report.error();
        if (report->known) found.push_back({std::move(key).value(), std::move(report).value()});
    }
    return found;
}

}  // namespace

Result<std::unique_ptr<Store>> open_local_store(const LocalOptions& options, const LocalPlace& place) {
    struct stat status {};
    if (options.look_only && stat(place.folder.c_str(), &status) != 0 && errno == ENOENT)
        return std::unique_ptr<Store>(std::make_unique<local::EmptyStore>("local:" + place.folder));
    if (const auto made = local::make_folder(place.folder); !made) {
        if (!options.path.empty()) return made.error();
        return refused_error(made.error().message + ": use --store local:/PATH, or make " +
                             options.system_folder);
    }
    return std::unique_ptr<Store>(std::make_unique<LocalStore>(options, place.folder));
}

Result<std::unique_ptr<Store>> open_local_store(const LocalOptions& options) {
    const auto place = find_local_place(options);
    if (!place) return place.error();
    return open_local_store(options, *place);
}

}  // namespace jobthrottle
