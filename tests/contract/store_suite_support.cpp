// SPDX-License-Identifier: MIT
#include "contract/store_suite_support.hpp"

#include <array>
#include <stdexcept>
#include <utility>

#include "store/local/local_store.hpp"
#include "store/redis/redis_store.hpp"
#include "support/catch.hpp"
#include "support/redis_server.hpp"

namespace jobthrottle::test {

namespace {

constexpr std::chrono::seconds k_patience{60};
constexpr std::int64_t k_wall_s = 1'700'000'000;

// The clock is the test's, so the server may not let records expire by its own: TOUCH answers to the name of
// the command that would, and does nothing of the kind.
RedisServer& redis_server() {
    static RedisServer server(
        {"", {"--rename-command", "PEXPIRE", "REAL-PEXPIRE", "--rename-command", "TOUCH", "PEXPIRE"}});
    return server;
}

}  // namespace

StoreSite::StoreSite(StoreKind kind, Duration memory_come_back)
    : m_kind(kind), m_come_back(memory_come_back) {
    if (kind == StoreKind::local) {
        m_folder.emplace();
        m_come_back = std::chrono::seconds{2};
    } else if (kind == StoreKind::redis) {
        if (redis_server().cli({"FLUSHALL"}) != "OK") throw std::runtime_error("cannot empty Redis");
        m_come_back = std::chrono::seconds{5};
    }
}

void StoreSite::set_clock(std::int64_t us) {
    m_clock_us = us;
    for (const auto& [prefix, store] : m_memory)
        store->set_clock(instant_us(us));
}

std::unique_ptr<Store> StoreSite::open_local(const std::string& prefix) {
    LocalOptions options;
    options.path = m_folder->path();
    options.prefix = prefix;
    options.command_timeout = k_patience;
    options.hooks.clock_us = [this] { return m_clock_us; };
    options.hooks.wall_us = [] { return k_wall_s * 1'000'000; };
    return sure(open_local_store(options));
}

std::unique_ptr<Store> StoreSite::open_redis(const std::string& prefix) {
    jobthrottle::RedisOptions options;
    options.url = sure(parse_redis_url(redis_server().socket_url()));
    if (!prefix.empty()) options.prefix = prefix;
    options.connect_timeout = options.command_timeout = k_patience;
    options.clock_us = [this] { return m_clock_us; };
    return make_redis_store(options);
}

Store& StoreSite::open(const std::string& prefix) {
    if (const auto known = m_memory.find(prefix); known != m_memory.end()) return *known->second;
    if (m_kind == StoreKind::memory) {
        auto store = std::make_unique<MemoryStore>(StoreTraits{m_come_back});
        store->set_clock(instant_us(m_clock_us));
        m_memory[prefix] = store.get();
        m_stores.push_back(std::move(store));
    } else {
        m_stores.push_back(m_kind == StoreKind::local ? open_local(prefix) : open_redis(prefix));
    }
    return *m_stores.back();
}

Key key_named(std::string bytes) {
    return sure(Key::make(std::move(bytes)));
}

PauseNote note_saying(const std::string& summary) {
    return {summary, "HTTP/2 429", "stdout", "job", "me@here:1", "because", k_wall_s};
}

Counter::Counter(StoreKind kind, Manner manner)
    : m_site(kind), m_manner(manner), m_begin_us(m_site.clock_us()) {
    for (int i = 0; i < (manner == Manner::by_turns ? 2 : 1); ++i)
        m_stores.push_back(&m_site.open());
}

Store& Counter::store() {
    Store& next = *m_stores[m_turn++ % m_stores.size()];
    if (m_manner == Manner::resting) next.rest();
    return next;
}

Counter& Counter::at(Duration since_begin) {
    m_site.set_clock(m_begin_us + since_begin.count());
    return *this;
}

Counter& Counter::after(Duration d) {
    m_site.set_clock(m_site.clock_us() + d.count());
    return *this;
}

void Counter::begin_at(std::int64_t clock_us) {
    m_begin_us = clock_us;
    at(Duration::zero());
}

Question Counter::question(TicketId place) {
    Question q = m_usual;
    q.id = ++m_ids;
    q.place = place;
    q.who = "job " + std::to_string(place);
    return q;
}

Answer Counter::ask(const Question& q) {
    return sure(store().ask(m_key, q));
}

std::vector<Answer> Counter::ask(const std::vector<KeyLimit>& keys, const Question& q) {
    std::vector<Asked> asked;
    for (const auto& [key, limit] : keys) {
        asked.push_back({key_named(key), q});
        asked.back().question.terms = testing::terms(limit);
    }
    return sure(store().ask(asked));
}

Answer Counter::ask_costing(TicketId place, std::int64_t cost) {
    Question q = question(place);
    q.cost = cost;
    return ask(q);
}

Answer Counter::ask_as_caller(TicketId place, Duration keep) {
    Question q = question(place);
    q.caller = true;
    q.keep = keep;
    return ask(q);
}

Answer Counter::ask_again(TicketId place, StartId id) {
    Question q = question(place);
    q.id = id;
    q.fresh = false;
    return ask(q);
}

Answer Counter::peek(TicketId place) {
    Question q = question(place);
    q.taking = Taking::nothing;
    return ask(q);
}

Answer Counter::start_or_nothing() {
    Question q = question(999'998);
    q.taking = Taking::start;
    return ask(q);
}

LeaseId Counter::start(TicketId place) {
    const std::string said = testing::say(ask(place));
    if (said != "start now") throw std::runtime_error("not started but told: " + said);
    return m_ids;
}

LeaseAnswer Counter::renew(LeaseId id, Duration lock_for) {
    return sure(store().renew(m_key, {id, lock_for, {}}));
}

LeaseAnswer Counter::release(LeaseId id) {
    return sure(store().release(m_key, {id, false}));
}

LeaseAnswer Counter::fail(LeaseId id) {
    return sure(store().release(m_key, {id, true}));
}

std::vector<Holder> Counter::release_leases(bool only_dead) {
    return sure(store().release_leases(m_key, only_dead));
}

SettleAnswer Counter::settle(LeaseId id, std::int64_t cost) {
    return sure(store().settle(m_key, {id, cost}));
}

bool Counter::give_back(const GiveBack& start) {
    return sure(store().give_back(m_key, start));
}

void Counter::cancel(TicketId place) {
    const auto done = store().cancel(m_key, place);
    if (!done) throw std::runtime_error(done.error().message);
}

PauseAnswer Counter::pause(Duration length, const std::string& note, bool by_hand) {
    return sure(store().pause(m_key, {length, false, by_hand, encode(note_saying(note))}));
}

PauseAnswer Counter::pause_for_ever() {
    return sure(store().pause(m_key, {Duration::zero(), true, true, encode(note_saying("for ever"))}));
}

PauseAnswer Counter::resume() {
    return sure(store().resume(m_key));
}

std::string Counter::register_terms(const std::string& limit) {
    const Registration wanted{testing::terms(limit), k_wall_s, "ops@host"};
    const auto before = sure(store().set_registration(m_key, wanted));
    return before ? before->terms.text() : "none";
}

std::string Counter::unregister() {
    const auto before = sure(store().set_registration(m_key, std::nullopt));
    return before ? before->terms.text() : "none";
}

std::string Counter::registered() {
    return text_of(sure(store().registration(m_key)));
}

KeyReport Counter::report() {
    return sure(store().inspect(m_key));
}

std::string Counter::keys(const std::string& pattern) {
    std::string text;
    for (const auto& summary : sure(store().keys(pattern)))
        text += "[" + summary.key.bytes() + "]";
    return text;
}

ForgetAnswer Counter::forget(bool force) {
    return sure(store().forget(m_key, force));
}

void in_every_store(const std::function<void(Counter&)>& body) {
    struct Use {
        const char* name;
        StoreKind kind;
        Manner manner;
    };
    static constexpr std::array<Use, 7> k_uses = {{
        {"memory", StoreKind::memory, Manner::plain},
        {"local", StoreKind::local, Manner::plain},
        {"local, at rest between any two calls", StoreKind::local, Manner::resting},
        {"local, opened twice", StoreKind::local, Manner::by_turns},
        {"redis", StoreKind::redis, Manner::plain},
        {"redis, at rest between any two calls", StoreKind::redis, Manner::resting},
        {"redis, opened twice", StoreKind::redis, Manner::by_turns},
    }};
    for (const Use& use : k_uses) {
        DYNAMIC_SECTION(use.name) {
            Counter counter(use.kind, use.manner);
            body(counter);
        }
    }
}

}  // namespace jobthrottle::test
