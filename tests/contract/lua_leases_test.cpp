// SPDX-License-Identifier: MIT
// Places, wake-ups, several limits, costs and several keys: the corners that random histories reach too
// rarely. In C++ and in Lua alike.
#include <algorithm>

#include "lua_compare_support.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;

const Key k_key = *Key::make("leases");
const Key k_other = *Key::make("another");

Question question_at(std::uint64_t id, const Terms& terms) {
    Question question;
    question.id = id;
    question.place = 1000 + id;
    question.terms = terms;
    question.lock_for = 30s;
    question.who = "job";
    return question;
}

Terms terms_of(const std::vector<Rate>& rates, std::optional<std::int64_t> concurrency = {}) {
    return Terms::make(rates, concurrency).value();
}

}  // namespace

TEST_CASE("lua: places are taken, handed on, offered and let pass as in C++", "[contract]") {
    Pair pair;
    const Terms two = terms_of({}, 2);
    Answer answer;
    std::vector<std::uint64_t> waiting;
    std::vector<std::uint64_t> holding;
    for (std::uint64_t id = 1; id <= 12; ++id) {
        REQUIRE(pair.ask(k_key, question_at(id, two), answer) == "");
        (answer.kind == AnswerKind::start ? holding : waiting).push_back(id);
        CHECK(answer.wake == (id >= 3 && id <= 6 ? static_cast<std::int64_t>(id - 2) : 0));
        pair.advance(3ms);
    }
    CHECK(holding.size() == 2);
    // A place becomes free and is offered: taken at once, taken late, and let pass by who died.
    for (int round = 0; !holding.empty(); ++round) {
        const std::uint64_t leaves = holding.front();
        holding.erase(holding.begin());
        REQUIRE(pair.release(k_key, {leaves, false}) == "");
        if (waiting.empty()) continue;
        const std::uint64_t first = waiting.front();
        waiting.erase(waiting.begin());
        if (round % 3 == 1) pair.advance(400ms);
        if (round % 3 == 2) {  // its neighbours look after a while
            for (int look = 0; look < 3; ++look) {
                pair.advance(450ms);
                for (std::size_t i = 0; i < std::min<std::size_t>(waiting.size(), 3); ++i) {
                    auto question = question_at(waiting[i], two);
                    question.fresh = false;
                    REQUIRE(pair.ask(k_key, question, answer) == "");
                    if (answer.kind != AnswerKind::start) continue;
                    holding.push_back(waiting[i]);
                    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
                    break;
                }
            }
            continue;
        }
        REQUIRE(pair.ask(k_key, question_at(first, two), answer) == "");
        CHECK(answer.kind == AnswerKind::start);
        CHECK(answer.leased);
        holding.push_back(first);
        REQUIRE(pair.inspect(k_key) == "");
    }
    pair.advance(10min);
    REQUIRE(pair.ask(k_key, question_at(100, two), answer) == "");
    CHECK(answer.kind == AnswerKind::start);
}

TEST_CASE("lua: leases run out, are renewed, taken again and forgotten as in C++", "[contract]") {
    Pair pair;
    const Terms three = terms_of({*Rate::make(1000, 1s)}, 3);
    Answer answer;
    for (std::uint64_t id = 1; id <= 3; ++id)
        REQUIRE(pair.ask(k_key, question_at(id, three), answer) == "");
    pair.advance(20s);
    REQUIRE(pair.renew(k_key, {1, {}, {}}) == "");
    REQUIRE(pair.renew(k_key, {2, 5s, {}}) == "");
    pair.advance(12s);  // 2 and 3 run out
    REQUIRE(pair.inspect(k_key) == "");
    REQUIRE(pair.release_leases(k_key, true) == "");
    REQUIRE(pair.ask(k_key, question_at(4, three), answer) == "");
    CHECK(answer.places == 2);
    REQUIRE(pair.renew(k_key, {3, {}, {}}) == "");
    REQUIRE(pair.ask(k_key, question_at(5, three), answer) == "");
    REQUIRE(pair.ask(k_key, question_at(6, three), answer) == "");
    pair.advance(31s);
    for (std::uint64_t id = 1; id <= 7; ++id)
        REQUIRE(pair.renew(k_key, {id, 1s, {}}) == "");  // taken again as far as there is room
    pair.advance(2s);
    for (std::uint64_t id = 1; id <= 7; ++id)
        REQUIRE(pair.release(k_key, {id, id % 2 == 0}) == "");
    for (std::uint64_t id = 20; id < 60; ++id)
        REQUIRE(pair.ask(k_key, question_at(id, terms_of({}, 100)), answer) == "");
    CHECK(answer.places == 40);
    pair.advance(31s);  // 16 run out at each look
    for (int look = 0; look < 4; ++look)
        REQUIRE(pair.renew(k_key, {9999, {}, {}}) == "");
    REQUIRE(pair.release_leases(k_key, false) == "");
    REQUIRE(pair.inspect(k_key) == "");
}

TEST_CASE("lua: limits of all sizes on one key keep their logs as in C++", "[contract]") {
    Pair pair;
    const std::vector<Rate> large = {*Rate::make(5000, 1min), *Rate::make(3'000'000, 1h),
                                     *Rate::make(100'000, 24h), *Rate::make(40, 1s, 7)};
    const std::vector<Rate> small = {*Rate::make(2000, 1min), *Rate::make(2044, 1h), *Rate::make(50, 1s)};
    Answer answer;
    std::uint64_t id = 0;
    for (int round = 0; round < 6; ++round) {
        const Terms terms = terms_of(round % 2 == 0 ? large : small);
        for (int i = 0; i < 60; ++i) {
            auto question = question_at(++id, terms);
            question.cost = i % 10 == 0 ? 7 : i % 25 == 1 && round % 2 == 1 ? 40 : 1;
            question.settles = i % 10 == 0;
            REQUIRE((i % 6 == 0 ? pair.ask(k_key, question, answer)
                                : pair.ask_only(k_key, question, answer)) == "");
            if (i % 10 == 0) REQUIRE(pair.settle(k_key, {id, i * 77 % 4000}) == "");
            pair.advance(answer.wait + 1ms);
        }
        REQUIRE(pair.inspect(k_key) == "");
        pair.advance(round == 3 ? 25h : Duration{2min});
    }
    // A window full of starts that are given back one by one, the oldest of them out of the log's reach.
    for (std::uint64_t start = 1; start <= id; start += 7) {
        GiveBack given;
        given.id = start;
        REQUIRE(pair.give_back(k_key, given) == "");
    }
}

TEST_CASE("lua: a cost is settled in logs of groups as in C++", "[contract]") {
    Pair pair;
    const Terms terms = terms_of({*Rate::make(90'000, 1min, 90'000), *Rate::make(2'000'000, 1h)});
    Answer answer;
    for (std::uint64_t id = 1; id <= 12; ++id) {
        auto question = question_at(id, terms);
        question.cost = 1 + static_cast<std::int64_t>(id * 997 % 8000);
        question.settles = true;
        REQUIRE(pair.ask(k_key, question, answer) == "");
        pair.advance(10ms * static_cast<int>(id));
    }
    for (const std::int64_t cost : {std::int64_t{0}, std::int64_t{1}, std::int64_t{8000},
                                    std::int64_t{60'000}, std::int64_t{1'000'000'000}, std::int64_t{3}}) {
        for (std::uint64_t id = 1; id <= 12; id += 2)
            REQUIRE(pair.settle(k_key, {id, cost + static_cast<std::int64_t>(id)}) == "");
        REQUIRE(pair.inspect(k_key) == "");
        REQUIRE(pair.ask(k_key, question_at(100, terms), answer) == "");
    }
}

TEST_CASE("lua: a crowd of different costs stands in line as in C++", "[contract]") {
    for (const Terms& terms : {terms_of({*Rate::make(1000, 1s)}), terms_of({*Rate::make(300, 1s)}, 3)}) {
        INFO(terms.text());
        Pair pair;
        PauseRequest pause;
        pause.length = 1s;
        REQUIRE(pair.pause(k_key, pause) == "");
        Answer answer;
        constexpr std::uint64_t k_crowd = 140;
        const auto asker = [&](std::uint64_t id) {
            auto question = question_at(id, terms);
            question.cost = 1 + static_cast<std::int64_t>(id * id % 7);
            return question;
        };
        for (std::uint64_t id = 1; id <= k_crowd; ++id)
            REQUIRE(pair.ask_only(k_key, asker(id), answer) == "");
        CHECK(answer.ahead == 139);
        REQUIRE(pair.inspect(k_key) == "");
        pair.advance(990ms);
        std::uint64_t next = 3;
        for (int i = 0; i < 300; ++i) {
            next = (next * 67 + 31) % k_crowd;
            REQUIRE((i % 6 == 0 ? pair.ask(k_key, asker(next + 1), answer)
                                : pair.ask_only(k_key, asker(next + 1), answer)) == "");
            if (answer.leased && i % 3 == 0) REQUIRE(pair.release(k_key, {next + 1, false}) == "");
            if (i % 10 == 9) pair.advance(7ms);
        }
    }
}

TEST_CASE("lua: attempts that failed give their start back as in C++", "[contract]") {
    Pair pair;
    const Terms terms = terms_of({*Rate::make(5, 1min)});
    Answer answer;
    std::vector<std::uint64_t> under_way;
    for (std::uint64_t id = 1; id <= 60; ++id) {
        auto question = question_at(id, terms);
        question.count_successes = true;
        REQUIRE(pair.ask(k_key, question, answer) == "");
        if (answer.kind == AnswerKind::start) under_way.push_back(id);
        if (id % 4 == 0 && !under_way.empty()) {
            REQUIRE(pair.release(k_key, {under_way.front(), id % 12 != 0}) == "");
            under_way.erase(under_way.begin());
        }
        pair.advance(id % 9 == 0 ? 35s : Duration{10ms});
    }
}

TEST_CASE("lua: a job with two keys waits for both and loses no place as in C++", "[contract]") {
    Pair pair;
    const Terms fast = terms_of({*Rate::make(20, 1s)}), slow = terms_of({*Rate::make(5, 1min)}, 2);
    std::vector<std::vector<Asked>> jobs;
    std::vector<Instant> told;
    std::vector<Answer> answers;
    for (std::uint64_t id = 1; id <= 30; ++id) {
        std::vector<Asked> both = {{k_key, question_at(id, fast)}, {k_other, question_at(id, slow)}};
        if (id % 2 == 0) std::swap(both[0], both[1]);
        if (id % 3 == 0) both.pop_back();
        REQUIRE(pair.ask(both, answers) == "");
        jobs.push_back(both);
        told.push_back(pair.now() + answers[0].wait);
        pair.advance(7ms);
    }
    std::vector<std::uint64_t> started;
    for (int step = 0; step < 300; ++step) {
        const auto next = static_cast<std::size_t>(std::min_element(told.begin(), told.end()) - told.begin());
        if (told[next] > pair.now()) pair.advance(told[next] - pair.now() + (step % 20 == 0 ? 150ms : 0ms));
        REQUIRE(pair.ask(jobs[next], answers) == "");
        const bool starts = answers[0].kind == AnswerKind::start;
        told[next] = starts ? Instant::max() : pair.now() + answers[0].wait;
        if (starts) started.push_back(jobs[next][0].question.id);
        if (step % 5 == 0 && !started.empty()) {
            REQUIRE(pair.release(k_other, {started.back(), false}) == "");
            started.pop_back();
        }
    }
    REQUIRE(pair.inspect(k_key) == "");
    REQUIRE(pair.inspect(k_other) == "");
}

TEST_CASE("lua: refusals take nothing, of one key and of several, as in C++", "[contract]") {
    Pair pair;
    const Terms one = terms_of({}, 1), rate = terms_of({*Rate::make(10, 1s, 3)});
    std::vector<Answer> answers;
    REQUIRE(pair.ask({{k_key, question_at(1, one)}, {k_other, question_at(1, rate)}}, answers) == "");
    CHECK(answers[0].leased);
    std::vector<Asked> again = {{k_other, question_at(1, rate)}, {k_key, question_at(1, one)}};
    again[0].question.fresh = again[1].question.fresh = false;
    REQUIRE(pair.ask(again, answers) == "");
    CHECK(answers[1].kind == AnswerKind::start);
    CHECK(answers[1].leased);
    auto costly = question_at(2, rate);
    costly.cost = 4;
    REQUIRE(pair.ask({{k_key, question_at(2, one)}, {k_other, costly}}, answers) == "");
    CHECK(answers[1].kind == AnswerKind::too_costly);
    auto nested = question_at(3, one);
    nested.ancestors = {77, 1};
    REQUIRE(pair.ask({{k_other, question_at(3, rate)}, {k_key, nested}}, answers) == "");
    CHECK(answers[1].kind == AnswerKind::nested);
    REQUIRE(pair.ask({{k_key, question_at(4, one)}}, answers) == "");
    CHECK(answers[0].why == WaitCause::lease);
    auto crowded = question_at(5, one);
    crowded.max_waiting = 1;
    REQUIRE(pair.ask({{k_other, question_at(5, rate)}, {k_key, crowded}}, answers) == "");
    CHECK(answers[1].kind == AnswerKind::crowded);
    auto unlimited = question_at(6, Terms{});
    REQUIRE(pair.ask({{k_key, unlimited}, {k_other, question_at(6, rate)}}, answers) == "");
    CHECK(answers[0].kind == AnswerKind::no_limit);
    auto held = question_at(7, rate);
    held.hold = true;
    pair.advance(1min);
    REQUIRE(pair.ask({{k_other, held}}, answers) == "");
    CHECK(answers[0].kind == AnswerKind::start);
    CHECK_FALSE(answers[0].leased);
    held.hold = false;
    REQUIRE(pair.ask({{k_other, held}}, answers) == "");
    CHECK(answers[0].kind == AnswerKind::start);
    GiveBack given;
    given.id = 7;
    given.place = 1007;
    given.number = answers[0].number;
    given.who = "job";
    REQUIRE(pair.give_back(k_other, given) == "");
    REQUIRE(pair.forget(k_key, false) == "");
    REQUIRE(pair.forget(k_key, true) == "");
}

}  // namespace jobthrottle::test
