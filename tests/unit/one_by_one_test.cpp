// SPDX-License-Identifier: MIT
// Jobs whose keys live in different stores, asked one by one.
#include "store/one_by_one.hpp"

#include <algorithm>
#include <map>

#include "store/memory_store.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace std::chrono_literals;

namespace {

// Two nodes, each with one key, and one clock.
struct Nodes {
    MemoryStore a_node, b_node;
    Key a = *Key::make("a");
    Key b = *Key::make("b");

    Store& of(const Key& key) { return key == a ? a_node : b_node; }
    Result<std::vector<Answer>> ask(const std::vector<Asked>& asked) {
        return ask_one_by_one(asked, [this](const Key& key) -> Store& { return of(key); });
    }
    void set_clock(Duration since_begin) {
        for (auto* node : {&a_node, &b_node})
            node->set_clock(instant_us(1'700'000'000'000'000) + since_begin);
    }
    KeyReport report(const Key& key) { return *of(key).inspect(key); }
};

struct Job {
    std::vector<Key> keys;  // in its own order
    StartId id = 0;
    Duration asks_at{};
    Duration started_at = -1us;
    Duration holds{};  // its leases, from its start
    bool done = false;
};

Terms terms_of(const std::string& rate, std::optional<std::int64_t> at_once) {
    return *Terms::make({*parse_rate(rate)}, at_once);
}

// Plays jobs against the nodes until all are done; each is prompt.
class Play {
public:
    Play(std::string rate, std::optional<std::int64_t> at_once)
        : m_terms(terms_of(rate, at_once)), m_rate(*parse_rate(rate)) {}

    void add(std::vector<Key> keys, Duration at, Duration holds = 0us) {
        Job job;
        job.keys = std::move(keys);
        job.asks_at = at;
        job.holds = holds;
        job.id = m_jobs.size() + 1;
        m_jobs.push_back(job);
    }

    void run_all() {
        for (int steps = 0; steps < 200'000; ++steps) {
            auto next = std::min_element(m_jobs.begin(), m_jobs.end(), [](const Job& x, const Job& y) {
                return std::pair(x.done, x.asks_at) < std::pair(y.done, y.asks_at);
            });
            if (next->done) return;
            nodes.set_clock(next->asks_at);
            step(*next);
        }
        FAIL("some jobs are never done");
    }

    const std::vector<Job>& jobs() const { return m_jobs; }
    // No window of the period holds more than the rate allows.
    void check_windows(const Key& key) const {
        std::vector<Duration> starts;
        for (const auto& job : m_jobs) {
            if (std::count(job.keys.begin(), job.keys.end(), key) > 0) starts.push_back(job.started_at);
        }
        std::sort(starts.begin(), starts.end());
        const auto allow = static_cast<std::size_t>(m_rate.allow());
        for (std::size_t i = allow; i < starts.size(); ++i)
            CHECK(starts[i] - starts[i - allow] >= m_rate.period() - 100ms);  // recorded up to a grant ahead
    }

    Nodes nodes;
    int conflicts = 0;

private:
    void step(Job& job) {
        if (job.started_at >= 0us) {
            for (const auto& key : job.keys)
                REQUIRE(nodes.of(key).release(key, {job.id, false}).ok());
            job.done = true;
            return;
        }
        std::vector<Asked> asked;
        for (const auto& key : job.keys) {
            Question question;
            question.id = job.id;
            question.place = 1000 + job.id;
            question.terms = m_terms;
            asked.push_back({key, question});
        }
        const auto answers = nodes.ask(asked);
        REQUIRE(answers.ok());
        const Answer& answer = answers->front();
        for (const auto& other : *answers)
            REQUIRE(other.kind == answer.kind);
        if (answer.kind == AnswerKind::start) {
            job.started_at = job.asks_at + answer.wait;
            job.asks_at = job.started_at + job.holds;
            job.done = !m_terms.concurrency();
        } else {
            job.asks_at += std::max<Duration>(answer.wait, 1us);
        }
    }

    Terms m_terms;
    Rate m_rate;
    std::vector<Job> m_jobs;
};

}  // namespace

TEST_CASE("one by one: it starts only when all keys let it, and takes nothing before", "[unit]") {
    Nodes nodes;
    Question first;
    first.id = 1;
    first.place = 101;
    first.terms = terms_of("1/min", {});
    REQUIRE(nodes.b_node.ask(nodes.b, first)->kind == AnswerKind::start);

    Question second = first;
    second.id = 2;
    second.place = 102;
    const auto answers = nodes.ask({{nodes.a, second}, {nodes.b, second}});
    REQUIRE(answers.ok());
    CHECK((*answers)[0].kind == AnswerKind::wait);
    CHECK((*answers)[0].wait == (*answers)[1].wait);
    CHECK(nodes.report(nodes.a).started == 0);
    // It waits for b; on a its place holds nobody up.
    REQUIRE(nodes.report(nodes.a).waiting.size() == 1);
    CHECK(nodes.report(nodes.a).waiting.front().place == Place::away);
    CHECK(nodes.report(nodes.b).waiting.front().place == Place::in_line);
}

TEST_CASE("one by one: a start that another key refuses after all is given back with its place", "[unit]") {
    Nodes nodes;
    nodes.set_clock(0s);
    // Between the look and the taking somebody else takes the start on b.
    bool stolen = false;
    int asked_b = 0;
    Question mine;
    mine.id = 2;
    mine.place = 102;
    mine.terms = terms_of("1/min", 1);
    const auto store_of = [&](const Key& key) -> Store& {
        if (key == nodes.b && ++asked_b == 2 && !std::exchange(stolen, true)) {
            Question thief = mine;
            thief.id = 9;
            thief.place = 109;
            // Its caller's place is away, so that the only start goes to who comes now.
            REQUIRE(nodes.b_node.ask(nodes.b, thief)->kind == AnswerKind::start);
        }
        return nodes.of(key);
    };
    const auto answers = ask_one_by_one({{nodes.b, mine}, {nodes.a, mine}}, store_of);
    REQUIRE(answers.ok());
    CHECK(stolen);
    CHECK((*answers)[0].kind == AnswerKind::wait);
    CHECK((*answers)[1].kind == AnswerKind::wait);
    CHECK_FALSE((*answers)[1].leased);
    const KeyReport a = nodes.report(nodes.a);
    CHECK(a.places == 0);
    CHECK(a.limits.front().starts == 0);
    REQUIRE(a.waiting.size() == 1);
    CHECK(a.waiting.front().number == 1);
    CHECK(a.waiting.front().place == Place::away);
}

TEST_CASE("one by one: jobs that name their keys in opposite orders all get through", "[unit]") {
    Play play("10/s", {});
    for (int i = 0; i < 40; ++i) {
        const bool even = i % 2 == 0;
        play.add(even ? std::vector{play.nodes.a, play.nodes.b} : std::vector{play.nodes.b, play.nodes.a},
                 Duration{i});
    }
    play.run_all();
    play.check_windows(play.nodes.a);
    play.check_windows(play.nodes.b);
    const auto last =
        std::max_element(play.jobs().begin(), play.jobs().end(),
                         [](const Job& x, const Job& y) { return x.started_at < y.started_at; });
    CHECK(last->started_at < 8s);  // 3.9 s where everything fits
}

TEST_CASE("one by one: opposite orders with a place each neither lock nor starve", "[unit]") {
    Play play("50/s", 1);
    for (int i = 0; i < 30; ++i) {
        const bool even = i % 2 == 0;
        play.add(even ? std::vector{play.nodes.a, play.nodes.b} : std::vector{play.nodes.b, play.nodes.a},
                 Duration{i}, 20ms);
        // and others that need one key alone
        play.add({play.nodes.a}, Duration{i}, 20ms);
        play.add({play.nodes.b}, Duration{i}, 20ms);
    }
    play.run_all();
    CHECK(play.nodes.report(play.nodes.a).places == 0);
    CHECK(play.nodes.report(play.nodes.b).places == 0);
    for (const auto& job : play.jobs())
        CHECK(job.started_at >= 0us);
}

TEST_CASE("one by one: what is refused keeps no place", "[unit]") {
    Nodes nodes;
    Question mine;
    mine.id = 2;
    mine.place = 102;
    mine.terms = terms_of("1/min", {});
    Question none = mine;
    none.terms = {};
    const auto answers = nodes.ask({{nodes.a, mine}, {nodes.b, none}});
    REQUIRE(answers.ok());
    CHECK((*answers)[1].kind == AnswerKind::no_limit);
    CHECK(nodes.report(nodes.a).waiting.empty());
    CHECK(nodes.report(nodes.a).started == 0);
}
