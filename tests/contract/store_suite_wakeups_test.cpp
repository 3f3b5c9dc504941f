// SPDX-License-Identifier: MIT
// What every store does alike that can wake a waiter: what it gives to sleep on becomes readable when there
// is something to ask for. contract.md section 4. Memory wakes nobody, and says so by giving nothing.
#include <poll.h>

#include "contract/store_suite_support.hpp"
#include "store/redis/key_names.hpp"
#include "store/redis/redis_store.hpp"
#include "support/catch.hpp"
#include "support/redis_server.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;
using testing::say;

constexpr int k_patience_ms = 60'000;

// A waiter as another process has one: with a store object of its own on the same data.
class Sleeper {
public:
    Sleeper(Counter& c, TicketId place)
        : m_counter(c), m_place(place), m_store(c.site().open()), m_key(c.key()) {}

    Answer ask() {
        const Answer answer = sure(m_store.ask(m_key, m_counter.question(m_place)));
        m_wake = answer.wake;
        return answer;
    }
    // Sleeps until it is worth asking again, from before what `meanwhile` does. False: nobody woke it.
    template <typename Meanwhile>
    bool sleep_through(const Meanwhile& meanwhile) {
        const auto descriptors = sure(m_store.listen({{m_key, m_place, m_wake}}));
        meanwhile();
        if (m_counter.site().kind() == StoreKind::memory) return descriptors.empty();
        return woken(descriptors);
    }

    static bool woken(const std::vector<int>& descriptors) {
        std::vector<pollfd> polled;
        for (const int fd : descriptors)
            polled.push_back({fd, POLLIN, 0});
        return !polled.empty() && poll(polled.data(), polled.size(), k_patience_ms) > 0;
    }

private:
    Counter& m_counter;
    TicketId m_place;
    Store& m_store;
    Key m_key;
    std::int64_t m_wake = 0;
};

}  // namespace

TEST_CASE("store: who waits for a lease is woken by its release", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1 at once");
        LeaseId holds = c.start(1);
        Sleeper sleeper(c, 2);
        for (int round = 0; round < 3; ++round) {
            CHECK(sleeper.ask().wake == 1);
            CHECK(sleeper.sleep_through([&] { c.release(holds); }));
            CHECK(say(sleeper.ask()) == "start now");
            holds = c.last_id();
        }
    });
}

TEST_CASE("store: who was woken before it sleeps does not sleep", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1 at once");
        const LeaseId holds = c.start(1);
        Sleeper sleeper(c, 2);
        sleeper.ask();
        c.release(holds);
        CHECK(sleeper.sleep_through([] {}));
        CHECK(say(sleeper.ask()) == "start now");
    });
}

TEST_CASE("store: each of a line is woken in its turn", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1 at once");
        LeaseId holds = c.start(1);
        std::vector<Sleeper> line;
        for (TicketId place = 2; place <= 7; ++place)
            line.emplace_back(c, place);
        for (auto& sleeper : line)
            sleeper.ask();
        for (std::size_t first = 0; first < line.size(); ++first) {
            CHECK(line[first].ask().wake > 0);  // those from the fifth on come to have one
            CHECK(line[first].sleep_through([&] { c.release(holds); }));
            CHECK(say(line[first].ask()) == "start now");
            holds = c.last_id();
        }
    });
}

TEST_CASE("store: whatever makes room wakes the first in line", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1 at once");
        c.usual().lock_for = 10s;
        const LeaseId holds = c.start(1);
        Sleeper sleeper(c, 2);
        c.at(9'500ms);
        REQUIRE(sleeper.ask().wake == 1);
        SECTION("the release of all leases") {
            CHECK(sleeper.sleep_through([&] { c.release_leases(false); }));
        }
        SECTION("a start that is given back") {
            GiveBack back;
            back.id = holds;
            CHECK(sleeper.sleep_through([&] { c.give_back(back); }));
        }
        SECTION("a lease that runs out, seen by any call") {
            CHECK(sleeper.sleep_through([&] { c.at(10s + 1us).cancel(99); }));
        }
        CHECK(say(sleeper.ask()) == "start now");
    });
}

TEST_CASE("store: an offer that is not taken wakes the next", "[contract]") {
    in_every_store([](Counter& c) {
        c.limit("1 at once");
        const LeaseId holds = c.start(1);
        Sleeper sleepy(c, 2), next(c, 3);
        sleepy.ask();
        Answer watches = next.ask();
        CHECK(watches.wake == 2);
        CHECK(sleepy.sleep_through([&] { c.release(holds); }));
        for (Duration told = watches.wait; told < 500ms + k_late; told += watches.wait) {
            watches = (c.at(told), next.ask());
            CHECK(watches.kind == AnswerKind::wait);
        }
        CHECK(next.sleep_through([&] { c.at(500ms + k_late + 1us).cancel(99); }));
        CHECK(say(next.ask()) == "start now");
        CHECK(sleepy.ask().wake > 0);
        CHECK(sleepy.sleep_through([&] { c.release(c.last_id() - 1); }));
        CHECK(say(sleepy.ask()) == "start now");
    });
}

TEST_CASE("store: one who waits for two keys is woken by either", "[contract]") {
    in_every_store([](Counter& c) {
        const std::vector<Counter::KeyLimit> keys = {{"a", "1 at once"}, {"b", "1 at once"}};
        for (const char* first : {"a", "b"}) {
            c.ask(keys, 1);
            const LeaseId holds = c.last_id();
            Store& store = c.site().open();
            Question q = c.question(2);
            q.terms = testing::terms("1 at once");
            const std::vector<Asked> asked = {{key_named("a"), q}, {key_named("b"), q}};
            const auto answers = sure(store.ask(asked));
            CHECK(answers[0].wake > 0);
            CHECK(answers[1].wake > 0);
            const auto descriptors =
                sure(store.listen({{asked[0].key, 2, answers[0].wake}, {asked[1].key, 2, answers[1].wake}}));
            c.key(first);
            c.release(holds);
            if (c.site().kind() != StoreKind::memory) CHECK(Sleeper::woken(descriptors));
            c.release_leases(false);
            c.key(first == std::string("a") ? "b" : "a");
            c.release(holds);
            CHECK(sure(store.ask(asked)).at(0).kind == AnswerKind::start);
            for (const auto& one : asked)
                sure(store.release_leases(one.key, false));
        }
    });
}

TEST_CASE("store: nobody listens where nobody waits for a lease", "[contract]") {
    in_every_store([](Counter& c) {
        CHECK(sure(c.store().listen({})).empty());
        CHECK(sure(c.store().listen({{key_named("k"), 1, 0}})).empty());
        c.limit("1/s");
        c.ask(1);
        CHECK(c.ask(2).wake == 0);
        CHECK(sure(c.store().listen({{key_named("k"), 2, 0}})).empty());
        CHECK(c.ask(2).number == 1);
    });
}

TEST_CASE("store: on Redis every record of a key goes by itself when the key idles", "[contract]") {
    RedisServer server;
    std::int64_t clock_us = 1'700'000'000'000'000;
    jobthrottle::RedisOptions options;
    options.url = sure(parse_redis_url(server.socket_url()));
    options.connect_timeout = options.command_timeout = 60s;
    options.clock_us = [&] { return clock_us; };
    const auto store = make_redis_store(options);
    const Key key = key_named("k");
    Question q;
    q.count_successes = true;
    q.lock_for = 10s;
    q.terms = testing::terms("9/s, 80/min, 5000/h and 90000/2h, 2 at once");
    for (TicketId place = 1; place <= 8; ++place) {
        q.id = q.place = place;
        q.caller = place == 8;
        sure(store->ask(key, q));
        clock_us += 30'000;
    }
    clock_us += 200'000;
    sure(store->release(key, {1, true}));
    sure(store->settle(key, {2, 3}));
    clock_us += 11'000'000;
    sure(store->renew(key, {2, {}, {}}));
    std::size_t there = 0;
    for (const auto& name : record_names("jobthrottle", key)) {
        if (server.cli({"EXISTS", name}) == "0") continue;
        ++there;
        INFO(name);
        const auto left_ms = std::stoll(server.cli({"PTTL", name}));
        CHECK(left_ms > 0);
        CHECK(left_ms <= 3 * 3600 * 1000 + 60'000);  // the longest period and half as much
    }
    CHECK(there >= 8);
    CHECK(server.cli({"DBSIZE"}) == std::to_string(there));
}

}  // namespace jobthrottle::test
