// SPDX-License-Identifier: MIT
// A world without time and processes, in which a gate and a run can be driven.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "run/run.hpp"
#include "store/memory_store.hpp"

namespace jobthrottle::test {

using namespace std::chrono_literals;

inline Key key_named(const char* name) {
    return *Key::make(name);
}

// A sleeper whose clock jumps to the end of each sleep; the clocks of the stores go with it.
class FakeSleeper final : public Sleeper {
public:
    explicit FakeSleeper(std::vector<MemoryStore*> stores) : m_stores(std::move(stores)) {}

    using Sleeper::sleep_until;
    Wake sleep_until(BootTime due, const std::vector<int>& wakes) override {
        ++sleeps;
        last_wakes = wakes;
        if (on_sleep) on_sleep();
        if (!m_stop && wake_at && !wakes.empty() && *wake_at < due) {
            if (*wake_at > m_now) pass(*wake_at - m_now);
            wake_at.reset();
            return {WakeReason::woken, 0};
        }
        if (m_stop) return {WakeReason::stop_signal, *m_stop};
        if (stop_at && *stop_at <= due) {
            if (*stop_at > m_now) pass(*stop_at - m_now);
            m_stop = signal;
            return {WakeReason::stop_signal, signal};
        }
        if (due > m_now) pass(due - m_now + oversleep);
        return {};
    }
    BootTime now() const override { return m_now; }
    std::optional<int> stop_signal() const override {
        if (!m_stop && stop_at && *stop_at <= m_now) m_stop = signal;
        return m_stop;
    }

    void pass(Duration d) {
        m_now += d;
        for (auto* store : m_stores)
            store->advance(d);
    }
    Duration gone() const { return m_now.time_since_epoch() - k_start; }

    std::function<void()> on_sleep;   // before each sleep
    Duration oversleep{};             // how late it wakes
    std::optional<BootTime> stop_at;  // when the signal comes
    std::optional<BootTime> wake_at;  // when one of the descriptors becomes readable, once
    int signal = 15;
    int sleeps = 0;
    std::vector<int> last_wakes;

private:
    static constexpr Duration k_start = 1h;
    BootTime m_now{k_start};
    std::vector<MemoryStore*> m_stores;
    mutable std::optional<int> m_stop;
};

// Keeps what it is told, one word each.
class FakeEvents final : public Events {
public:
    void answered(const Key&, const Answer&) override { ++answers; }
    void waiting(const WaitStatus& status) override { last_status = status; }
    Duration waiting_interval() const override { return 1h; }
    void status(const WaitStatus&) override { told.emplace_back("status"); }
    void wait_over() override { ++waits_over; }
    void attempt_begins(int attempt, const std::string& program) override {
        attempts.push_back(std::to_string(attempt) + " " + program);
    }
    void attempt_ended(int attempt, const ChildEnd& end) override {
        attempts.push_back(std::to_string(attempt) + " exit " + std::to_string(exit_code_of(end)));
    }
    void refused(const RefusalNotice& notice) override {
        told.emplace_back(notice.lines_up_again  ? "refused, lines up"
                          : notice.outlasts_wait ? "refused, outlasts the wait"
                                                 : "refused");
        last_refusal = notice;
    }
    void other_numbers(const Key&, const Answer&) override { told.emplace_back("other numbers"); }
    void state_lost(const Key&, Duration) override { told.emplace_back("state lost"); }
    void store_away(const std::string&, const Error&, std::optional<OnStoreError> policy) override {
        const char* words[] = {"auto", "local", "open", "closed"};
        told.push_back(std::string("away: ") + (policy ? words[static_cast<int>(*policy)] : "patient"));
    }
    void store_back(const std::string&) override { told.emplace_back("back"); }
    void lease_lost(const Key&, Duration, bool killed) override {
        told.emplace_back(killed ? "lease lost, killed" : "lease lost");
    }
    void lease_retaken(const Key&, Duration) override { told.emplace_back("lease retaken"); }
    void failed_will_retry(const FailureNotice& failure) override {
        told.push_back("retry, " + std::to_string(failure.tries_left) + " left");
        last_failure = failure;
    }
    void warning(const std::string& text) override { told.push_back("warning: " + text); }

    std::vector<std::string> told;
    std::vector<std::string> attempts;
    std::optional<WaitStatus> last_status;
    std::optional<RefusalNotice> last_refusal;
    std::optional<FailureNotice> last_failure;
    int answers = 0;
    int waits_over = 0;
};

// What one attempt does.
struct Attempt {
    ChildEnd end = Exited{0};
    std::string out = {};
    std::string err = {};
    std::function<void()> during = {};
    std::optional<int> stop_signal = {};
    std::optional<Error> error = {};  // it could not even be tried
};

inline const std::string k_429 = "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 30\r\n\r\n";

class FakeRunner final : public ChildRunner {
public:
    Result<ChildReport> run(const Command& command, OutputWatcher* watcher, Companion* companion) override {
        commands.push_back(command);
        companions += companion != nullptr ? 1 : 0;
        Attempt attempt;
        if (!attempts.empty()) {
            attempt = std::move(attempts.front());
            attempts.pop_front();
        }
        if (attempt.during) attempt.during();
        if (attempt.error) return *attempt.error;
        if (watcher != nullptr && command.watch_output && !attempt.out.empty())
            watcher->saw(Stream::standard_output, attempt.out);
        if (watcher != nullptr && command.watch_error && !attempt.err.empty())
            watcher->saw(Stream::standard_error, attempt.err);
        return ChildReport{attempt.end, attempt.stop_signal, 0};
    }
    std::deque<Attempt> attempts;  // those to come; after them every one succeeds
    std::vector<Command> commands;
    int companions = 0;  // runs that had one
};

// A store, another for while it is away, and somebody who sleeps and listens.
struct World {
    MemoryStore store;
    MemoryStore own;  // this machine's, for while the other is away
    FakeSleeper sleeper{{&store, &own}};
    FakeEvents events;
    Key key = key_named("acme");
    int fallbacks = 0;
    bool own_is_usable = true;

    GateOptions at(const char* rate) const {
        GateOptions options = without_limit();
        options.claims.front().terms = *Terms::make({*parse_rate(rate)});
        return options;
    }
    GateOptions without_limit() const {
        GateOptions options;
        options.claims.emplace_back(key);
        options.who = "job dev@host:1";
        return options;
    }
    // So many at once, and no rate.
    GateOptions at_once(std::int64_t most) const {
        GateOptions options = without_limit();
        options.claims.front().terms = *Terms::make({}, most);
        return options;
    }
    // The gate owns what the opener gives, so it gets a door to `own`.
    Gate gate(GateOptions options);
    // Another's start or place on the same key.
    Answer ask(const char* rate, TicketId place, StartId id) {
        Question question;
        question.terms = *Terms::make({*parse_rate(rate)});
        question.place = place;
        question.id = id;
        return *store.ask(key, question);
    }
    void go_away() { store.fail_with(unavailable_error("connect: timed out")); }
    void come_back() { store.fail_with(std::nullopt); }
    KeyReport report() { return *store.inspect(key); }
};

// Passes every call on to a store that somebody else owns; listens at a descriptor that never is readable.
class DoorTo : public Store {
public:
    explicit DoorTo(Store& store) : m_store(store) {}
    using Store::ask;
    Result<std::vector<Answer>> ask(const std::vector<Asked>& asked) override { return m_store.ask(asked); }
    Result<void> cancel(const Key& k, TicketId id) override { return m_store.cancel(k, id); }
    Result<std::vector<int>> listen(const std::vector<WakeUp>& wakes) override {
        listened.insert(listened.end(), wakes.begin(), wakes.end());
        return std::vector<int>{k_no_descriptor};
    }
    Result<LeaseAnswer> renew(const Key& k, const Renewal& r) override { return m_store.renew(k, r); }
    Result<LeaseAnswer> release(const Key& k, const Release& r) override { return m_store.release(k, r); }
    Result<std::vector<Holder>> release_leases(const Key& k, bool only_dead) override {
        return m_store.release_leases(k, only_dead);
    }
    Result<SettleAnswer> settle(const Key& k, const Settlement& s) override { return m_store.settle(k, s); }
    Result<bool> give_back(const Key& k, const GiveBack& g) override { return m_store.give_back(k, g); }
    std::string processes(pid_t wrapper, pid_t command) const override {
        return m_store.processes(wrapper, command);
    }
    Result<PauseAnswer> pause(const Key& k, const PauseRequest& r) override { return m_store.pause(k, r); }
    Result<PauseAnswer> resume(const Key& k) override { return m_store.resume(k); }
    Result<std::optional<Registration>> set_registration(const Key& k,
                                                         const std::optional<Registration>& r) override {
        return m_store.set_registration(k, r);
    }
    Result<std::optional<Registration>> registration(const Key& k) override {
        return m_store.registration(k);
    }
    Result<KeyReport> inspect(const Key& k) override { return m_store.inspect(k); }
    Result<std::vector<KeySummary>> keys(const std::string& p) override { return m_store.keys(p); }
    Result<ForgetAnswer> forget(const Key& k, bool force) override { return m_store.forget(k, force); }
    bool may_count_late() const override { return late; }
    std::string name() const override { return "own:"; }
    void hurry(Duration d) override { m_store.hurry(d); }
    void rest() override { m_store.rest(); }

    bool late = false;  // like a server, which may do later what nobody waits for any more
    static constexpr int k_no_descriptor = 1'000'000;
    std::vector<WakeUp> listened;

private:
    Store& m_store;
};

inline Gate World::gate(GateOptions options) {
    return Gate(
        std::move(options), store,
        [this]() -> Result<std::unique_ptr<Store>> {
            ++fallbacks;
            if (!own_is_usable) return refused_error("disk full");
            return std::unique_ptr<Store>(std::make_unique<DoorTo>(own));
        },
        sleeper, events);
}

}  // namespace jobthrottle::test
