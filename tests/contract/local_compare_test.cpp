// SPDX-License-Identifier: MIT
// The local store decides as the store in memory does, of one key and of several, with leases and without.
#include <unistd.h>

#include <random>
#include <vector>

#include "contract/local_support.hpp"
#include "store/local/processes.hpp"
#include "store/memory_store.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

std::string text_of(const std::vector<Answer>& answers) {
    std::string text;
    for (const auto& answer : answers)
        text += test::text_of(answer) + "\n";
    return text;
}

// Puts the same random questions to both stores and compares what they say.
class Comparison {
public:
    Comparison(unsigned seed, const std::string& folder) : m_random(seed) {
        LocalOptions options = options_in(folder);
        options.hooks = m_machine.hooks();
        m_local = open_store(options);
        for (const char* name : {"a", "b", "key with \xff and spaces"})
            m_keys.push_back(key_named(name));
        m_keys.push_back(key_named(std::string(480, 'x')));
        for (const auto& key : m_keys) {
            m_memory.records(key).know_life(
                [](const Lease& lease) { return local::life_of(lease.processes); });
        }
        const std::string mine = m_local->processes(getpid(), 0);
        REQUIRE_FALSE(mine.empty());
        // Nobody's, one that lives, one that is dead, and one that cannot be seen.
        m_holders = {"", mine, mine + "0", "7 1:2"};
    }

    void step() {
        const Key& key = m_keys[static_cast<std::size_t>(pick(0, 3))];
        move_clock();
        const auto what = pick(0, 99);
        if (what < 65) {
            compare_ask(pick(0, 3) == 0 ? std::vector{key, other_than(key)} : std::vector{key});
        } else if (what < 82) {
            compare_lease(key);
        } else if (what < 88) {
            const auto place = static_cast<TicketId>(pick(1, 20));
            REQUIRE(m_memory.cancel(key, place));
            REQUIRE(m_local->cancel(key, place));
        } else if (what < 91) {
            compare_pause(key);
        } else if (what < 94) {
            REQUIRE(m_local->resume(key)->changed == m_memory.resume(key)->changed);
        } else if (what < 96) {
            compare_registration(key);
        } else if (what < 98) {
            const bool force = pick(0, 9) == 0;
            REQUIRE(m_local->forget(key, force)->forgotten == m_memory.forget(key, force)->forgotten);
        } else {
            compare_release_leases(key);
        }
        if (pick(0, 19) == 0) compare_report(key);
        if (pick(0, 49) == 0) m_local->rest();
    }

    void compare_reports() {
        for (const auto& key : m_keys)
            compare_report(key);
        const auto ours = m_local->keys("*"), theirs = m_memory.keys("*");
        REQUIRE(ours);
        REQUIRE(ours->size() == theirs->size());
        for (std::size_t i = 0; i < ours->size(); ++i)
            CHECK((*ours)[i].key == (*theirs)[i].key);
    }

    // So that a test sees that it has met what it is about.
    int starts = 0, waits_for_lease = 0, wakes = 0, leases_changed = 0;

private:
    std::int64_t pick(std::int64_t from, std::int64_t to) {
        return std::uniform_int_distribution<std::int64_t>(from, to)(m_random);
    }

    const Key& other_than(const Key& key) {
        for (;;) {
            const Key& other = m_keys[static_cast<std::size_t>(pick(0, 3))];
            if (other != key) return other;
        }
    }

    void move_clock() {
        const auto how = pick(0, 199);
        Duration step{how < 100 ? pick(0, 1'000) : pick(0, 400'000)};
        if (how == 198) step = Duration{pick(0, 1'000'000'000)};
        if (how == 199) step = Duration{-pick(0, 50'000'000)};  // the hook may step back, and so may a guest
        m_machine.clock_us += step.count();
        m_memory.set_clock(instant_us(m_machine.clock_us));
    }

    Rate some_rate() {
        switch (pick(0, 5)) {
            case 0:
                return rate_of(1, 10s);
            case 1:
                return rate_of(8, 1s, pick(1, 8));
            case 2:
                return rate_of(300, 60s, 20);
            case 3:
                return rate_of(100'000, 1s, 50);  // several starts share an entry of the log
            case 4:
                return rate_of(3000, 3600s, 3000);
            default:
                return rate_of(200, 20s);
        }
    }

    Terms some_terms() {
        std::vector<Rate> rates;
        for (auto left = pick(0, 3); left > 0; --left) {
            const Rate rate = some_rate();
            bool new_period = true;
            for (const auto& other : rates)
                new_period = new_period && other.period() != rate.period();
            if (new_period) rates.push_back(rate);
        }
        std::optional<std::int64_t> concurrency;
        if (rates.empty() || pick(0, 1) == 0) concurrency = pick(1, 4);
        return terms_of(std::move(rates), concurrency);
    }

    void compare_ask(const std::vector<Key>& keys) {
        Question question;
        question.id = static_cast<StartId>(pick(1, 3000));
        question.fresh = pick(0, 9) != 0;
        question.place = static_cast<TicketId>(pick(1, 20));
        if (pick(0, 9) == 0) question.place |= k_named_ticket_bit;
        question.pause_only = pick(0, 1) == 0;
        question.override_registered = pick(0, 3) == 0;
        question.caller = pick(0, 4) == 0;
        question.taking = static_cast<Taking>(pick(0, 9) < 7 ? 0 : pick(1, 2));
        question.who = "job user@host:" + std::to_string(question.place);
        question.lock_for = Duration{pick(100'000, 20'000'000)};
        question.processes = m_holders[static_cast<std::size_t>(pick(0, 3))];
        if (pick(0, 9) == 0) question.max_waiting = pick(0, 5);
        if (pick(0, 9) == 0 && !m_started.empty()) question.ancestors.push_back(some_start());
        std::vector<Asked> asked;
        for (const auto& key : keys) {
            question.terms = pick(0, 9) != 0 ? some_terms() : Terms{};
            question.cost = pick(0, 4) == 0 ? pick(1, 3) : 1;
            question.count_successes = pick(0, 4) == 0;
            question.settles = pick(0, 4) == 0;
            asked.push_back({key, question});
        }
        const auto ours = m_local->ask(asked), theirs = m_memory.ask(asked);
        if (!ours) FAIL(ours.error().message);
        REQUIRE(text_of(*ours) == text_of(*theirs));
        const Answer& first = ours->front();
        starts += first.kind == AnswerKind::start ? 1 : 0;
        waits_for_lease += first.kind == AnswerKind::wait && first.why == WaitCause::lease ? 1 : 0;
        wakes += first.wake != 0 ? 1 : 0;
        if (first.kind != AnswerKind::start || question.taking == Taking::nothing) return;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const Answer& answer = (*ours)[i];
            m_started.push_back({keys[i],
                                 {question.id, asked[i].question.cost, question.place, answer.number,
                                  answer.waited, question.who}});
        }
    }

    struct Started {
        Key key;
        GiveBack given;
    };
    const Started* some_started() {
        const auto count = static_cast<std::int64_t>(m_started.size());
        if (count == 0) return nullptr;
        return &m_started[static_cast<std::size_t>(pick(std::max<std::int64_t>(0, count - 12), count - 1))];
    }
    StartId some_start() {
        const Started* started = some_started();
        return started != nullptr ? started->given.id : 1;
    }

    void compare_give_back() {
        const Started* started = some_started();
        if (started == nullptr) return;
        const auto ours = m_local->give_back(started->key, started->given);
        const auto theirs = m_memory.give_back(started->key, started->given);
        REQUIRE(ours);
        REQUIRE(*ours == *theirs);
    }

    void compare_lease(const Key& key) {
        const StartId id = some_start();
        LeaseState state = LeaseState::unknown;
        if (const auto what = pick(0, 4); what == 4) {
            compare_give_back();
        } else if (what == 0) {
            const Renewal renewal{id, Duration{pick(0, 1) * pick(100'000, 20'000'000)}, m_holders[0]};
            const auto ours = m_local->renew(key, renewal), theirs = m_memory.renew(key, renewal);
            REQUIRE(ours);
            REQUIRE(ours->state == theirs->state);
            REQUIRE(ours->lost_for == theirs->lost_for);
            state = ours->state;
        } else if (what == 1) {
            const Settlement settlement{id, pick(0, 4)};
            const auto ours = m_local->settle(key, settlement), theirs = m_memory.settle(key, settlement);
            REQUIRE(ours);
            REQUIRE(ours->state == theirs->state);
            REQUIRE(ours->cost_before == theirs->cost_before);
            state = ours->state;
        } else {
            const Release release{id, pick(0, 1) == 0};
            const auto ours = m_local->release(key, release), theirs = m_memory.release(key, release);
            REQUIRE(ours);
            REQUIRE(ours->state == theirs->state);
            REQUIRE(ours->lost_for == theirs->lost_for);
            state = ours->state;
        }
        leases_changed += state != LeaseState::unknown ? 1 : 0;
    }

    void compare_release_leases(const Key& key) {
        const bool only_dead = pick(0, 1) == 0;
        const auto ours = m_local->release_leases(key, only_dead);
        const auto theirs = m_memory.release_leases(key, only_dead);
        REQUIRE(ours);
        REQUIRE(ours->size() == theirs->size());
        for (std::size_t i = 0; i < ours->size(); ++i)
            CHECK((*ours)[i].id == (*theirs)[i].id);
    }

    void compare_pause(const Key& key) {
        PauseRequest request;
        request.length = Duration{pick(1'000'000, 20'000'000)};
        request.by_hand = pick(0, 1) == 0;
        PauseNote note;
        note.line = "Retry-After: " + std::to_string(pick(1, 100));
        note.at_s = m_machine.wall_us / 1'000'000;
        request.note = encode(note);
        const auto ours = m_local->pause(key, request), theirs = m_memory.pause(key, request);
        REQUIRE(ours);
        REQUIRE(ours->left == theirs->left);
        REQUIRE(ours->changed == theirs->changed);
    }

    void compare_registration(const Key& key) {
        std::optional<Registration> wanted;
        if (pick(0, 1) == 0) wanted = Registration{some_terms(), 7, "someone@host"};
        const auto ours = m_local->set_registration(key, wanted);
        const auto theirs = m_memory.set_registration(key, wanted);
        REQUIRE(ours);
        REQUIRE(ours->has_value() == theirs->has_value());
    }

    void compare_report(const Key& key) {
        const auto ours = m_local->inspect(key), theirs = m_memory.inspect(key);
        REQUIRE(ours);
        REQUIRE(test::text_of(*ours) == test::text_of(*theirs));
    }

    std::mt19937 m_random;
    Machine m_machine;
    MemoryStore m_memory;
    std::unique_ptr<Store> m_local;
    std::vector<Key> m_keys;
    std::vector<std::string> m_holders;
    std::vector<Started> m_started;
};

}  // namespace

TEST_CASE("local: decides as the store in memory", "[contract]") {
    for (const unsigned seed : {1U, 2U, 3U, 4U}) {
        const TempDir folder;
        INFO("seed " << seed);
        Comparison comparison(seed, folder.path());
        for (int i = 0; i < 4000; ++i)
            comparison.step();
        comparison.compare_reports();
        CHECK(comparison.starts > 100);
        CHECK(comparison.waits_for_lease > 100);
        CHECK(comparison.wakes > 100);
        CHECK(comparison.leases_changed > 20);
    }
}

TEST_CASE("local: a long waiting list is left behind as in memory", "[contract]") {
    const TempDir folder;
    Machine machine;
    LocalOptions options = options_in(folder.path());
    options.hooks = machine.hooks();
    const auto local = open_store(options);
    MemoryStore memory;
    const Key key = key_named("k");
    const auto ask_both = [&](TicketId place) {
        memory.set_clock(instant_us(machine.clock_us));
        Question question = question_at(rate_of(1, 60s));
        question.taking = Taking::place;
        question.place = place;
        const auto ours = local->ask(key, question), theirs = memory.ask(key, question);
        REQUIRE(ours);
        REQUIRE(test::text_of(*ours) == test::text_of(*theirs));
    };
    for (TicketId place = 1; place <= 300; ++place)
        ask_both(place);
    CHECK(local->inspect(key)->waiting.size() == 299);
    machine.advance(3h);  // all are forgotten, in one opening
    for (TicketId place = 500; place <= 530; ++place)
        ask_both(place);
    CHECK(test::text_of(*local->inspect(key)) == test::text_of(*memory.inspect(key)));
    CHECK(local->inspect(key)->waiting.size() == 30);
}
