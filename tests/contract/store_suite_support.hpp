// SPDX-License-Identifier: MIT
// The three stores, each driven through the interface alone, on a clock that the test moves. What goes wrong
// here throws std::runtime_error.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "contract/store_suite_texts.hpp"
#include "store/memory_store.hpp"
#include "support/desk.hpp"
#include "support/temp_dir.hpp"

namespace jobthrottle::test {

enum class StoreKind { memory, local, redis };

// A place with nothing in it where stores of one kind are opened: a folder, an emptied Redis server, nothing.
// One site on Redis at a time. Wall time stands still, so that no note of a pause grows old.
class StoreSite {
public:
    // The other kinds have a come-back time of their own.
    explicit StoreSite(StoreKind, Duration memory_come_back = std::chrono::seconds{2});
    StoreSite(const StoreSite&) = delete;
    StoreSite& operator=(const StoreSite&) = delete;
    ~StoreSite() = default;

    // Lives as long as the site. Stores of one prefix share their data; an empty one is the kind's usual.
    Store& open(const std::string& prefix = {});
    void set_clock(std::int64_t us);
    std::int64_t clock_us() const { return m_clock_us; }
    Duration come_back() const { return m_come_back; }
    StoreKind kind() const { return m_kind; }

private:
    std::unique_ptr<Store> open_local(const std::string& prefix);
    std::unique_ptr<Store> open_redis(const std::string& prefix);

    StoreKind m_kind;
    Duration m_come_back;
    std::int64_t m_clock_us = 1'700'000'000'000'000;
    std::optional<TempDir> m_folder;
    std::vector<std::unique_ptr<Store>> m_stores;
    std::map<std::string, MemoryStore*> m_memory;
};

// How a test uses a store; none of it may show.
enum class Manner {
    plain,
    resting,   // rest() before every call
    by_turns,  // the calls go to two stores on the same data, by turns
};

Key key_named(std::string bytes);
PauseNote note_saying(const std::string& summary);

// A counter where jobs ask: a store, a key, and questions in few words.
class Counter {
public:
    Counter(StoreKind kind, Manner manner);

    // What the questions bring from now on: limits, as Terms::text() writes them, or only that pauses are
    // meant.
    void limit(const std::string& text) { m_usual.terms = testing::terms(text); }
    void no_limit(bool pause_only) {
        m_usual.terms = {};
        m_usual.pause_only = pause_only;
    }
    // What all questions have in common besides.
    Question& usual() { return m_usual; }
    // What the calls are about from now on; "k" in the beginning.
    void key(const std::string& bytes) { m_key = key_named(bytes); }
    const Key& key() const { return m_key; }

    // The store's clock, since the test began. It may be set back.
    Counter& at(Duration since_begin);
    Counter& after(Duration d);
    void begin_at(std::int64_t clock_us);  // what the clock shows at 0; it is 0 now

    Question question(TicketId place);
    Answer ask(const Question&);
    Answer ask(TicketId place) { return ask(question(place)); }
    Answer ask_costing(TicketId place, std::int64_t cost);
    Answer ask_as_caller(TicketId place, Duration keep = k_caller_keep);
    Answer ask_again(TicketId place, StartId id);  // as after a lost reply
    Answer peek(TicketId place = 999'999);
    Answer start_or_nothing();
    StartId last_id() const { return m_ids; }
    // A question of one job to several keys, each with a limit: what it is asked elsewhere is `q`.
    struct KeyLimit {
        const char* key;
        const char* limit;  // "": none
    };
    std::vector<Answer> ask(const std::vector<KeyLimit>&, const Question& q);
    std::vector<Answer> ask(const std::vector<KeyLimit>& keys, TicketId place) {
        return ask(keys, question(place));
    }

    // Starts now, or it is an error; returns the id, which names its lease.
    LeaseId start(TicketId place);
    LeaseAnswer renew(LeaseId, Duration lock_for = {});
    LeaseAnswer release(LeaseId);
    LeaseAnswer fail(LeaseId);  // released, and its start is given back
    std::vector<Holder> release_leases(bool only_dead);
    SettleAnswer settle(LeaseId, std::int64_t cost);
    bool give_back(const GiveBack&);

    void cancel(TicketId place);
    PauseAnswer pause(Duration length, const std::string& note = "paused", bool by_hand = false);
    PauseAnswer pause_for_ever();
    PauseAnswer resume();
    // Each returns what was registered before, as text; "none".
    std::string register_terms(const std::string& limit);
    std::string unregister();
    std::string registered();
    KeyReport report();
    // The keys that match, in the order given, each in brackets.
    std::string keys(const std::string& pattern);
    ForgetAnswer forget(bool force);

    Store& store();  // for the next call
    StoreSite& site() { return m_site; }

private:
    StoreSite m_site;
    Manner m_manner;
    std::vector<Store*> m_stores;
    std::size_t m_turn = 0;
    Key m_key = key_named("k");
    Question m_usual;
    std::int64_t m_begin_us;
    StartId m_ids = 0;
};

// Runs the body, in a section of its own each, on every kind of store in every manner.
void in_every_store(const std::function<void(Counter&)>& body);

template <typename T>
T sure(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return std::move(result).value();
}

}  // namespace jobthrottle::test
