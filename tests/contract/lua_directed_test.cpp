// SPDX-License-Identifier: MIT
// The corners that random histories reach too rarely: logs laid out anew, crowds, full rings, the ends of
// arithmetic. In C++ and in Lua alike.
#include <algorithm>

#include "lua_compare_support.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;

const Key k_key = *Key::make("directed");

Terms terms_of(const std::vector<Rate>& rates, std::optional<std::int64_t> concurrency = {}) {
    return Terms::make(rates, concurrency).value();
}

Question question_at(std::uint64_t id, const Terms& terms) {
    Question question;
    question.id = id;
    question.place = id;
    question.terms = terms;
    question.pause_only = terms.empty();
    question.who = "job";
    return question;
}

Question question_at(std::uint64_t id, const Rate& rate) {
    return question_at(id, terms_of({rate}));
}

// So many starts, as fast as the rate lets them.
void start_many(Pair& pair, const Rate& rate, int count, std::uint64_t& id) {
    Answer answer;
    for (int i = 0; i < count; ++i) {
        ++id;
        Duration wait{};
        do {
            const auto difference = pair.ask_only(k_key, question_at(id, rate), answer);
            REQUIRE(difference == "");
            wait = answer.wait;
            pair.advance(wait);
        } while (answer.kind != AnswerKind::start);
    }
    REQUIRE(pair.ask(k_key, question_at(++id, rate), answer) == "");
}

}  // namespace

TEST_CASE("lua: a log is laid out anew for other limits as in C++", "[contract]") {
    Pair pair;
    std::uint64_t id = 0;
    // Groups of 1, 2, 3, 4, 490, 1468; each fill leaves the newest group part full.
    const std::vector<std::pair<Rate, int>> fills = {
        {*Rate::make(3, 1s), 5},          {*Rate::make(9, 1s), 11},
        {*Rate::make(40, 1s), 50},        {*Rate::make(1'000'000, 1s), 1500},
        {*Rate::make(5000, 1s), 17},      {*Rate::make(3'000'000, 1min), 1500},
        {*Rate::make(2045, 1s), 2300},    {*Rate::make(8000, 1s), 33},
        {*Rate::make(2044, 1s), 2100},    {*Rate::make(5000, 1s, 5000), 1000},
        {*Rate::make(1'000'000, 1s), 50}, {*Rate::make(7, 1s), 9},
    };
    for (const auto& [rate, count] : fills) {
        INFO(rate.text());
        start_many(pair, rate, count, id);
    }
}

TEST_CASE("lua: a crowd comes, is served, and dies as in C++", "[contract]") {
    Pair pair;
    const Rate rate = *Rate::make(7, 1s, 2);
    std::vector<Question> crowd;
    std::vector<Instant> told;
    Answer answer;
    for (std::uint64_t id = 1; id <= 620; ++id) {
        crowd.push_back(question_at(id, rate));
        crowd.back().caller = id % 7 == 0;
        crowd.back().keep = id % 5 == 0 ? Duration{2s} : k_runner_keep;
        REQUIRE((id % 8 == 0 ? pair.ask(k_key, crowd.back(), answer)
                             : pair.ask_only(k_key, crowd.back(), answer)) == "");
        told.push_back(pair.now() + answer.wait);
        if (id % 50 == 0) pair.advance(3ms);
    }
    // Each comes back when it was told, but the first after a while: ranks of all sizes, some late.
    for (std::size_t i = 0; i < 900; ++i) {
        const auto next = static_cast<std::size_t>(std::min_element(told.begin(), told.end()) - told.begin());
        if (told[next] > pair.now()) pair.advance(told[next] - pair.now() + (i % 9 == 0 ? 120ms : 0ms));
        REQUIRE((i % 8 == 0 ? pair.ask(k_key, crowd[next], answer)
                            : pair.ask_only(k_key, crowd[next], answer)) == "");
        told[next] = answer.kind == AnswerKind::start ? Instant::max() : pair.now() + answer.wait;
        if (i % 40 == 0) pair.advance(-1s);
    }
    // Nobody comes back: 16 step out or are forgotten at each look, callers' room is kept meanwhile.
    for (int i = 0; i < 60; ++i) {
        pair.advance(i % 10 == 0 ? 30s : 1ms);
        REQUIRE(pair.ask(k_key, question_at(1000 + static_cast<std::uint64_t>(i), rate), answer) == "");
        REQUIRE(pair.inspect(k_key) == "");
    }
    pair.advance(1h);
    REQUIRE(pair.inspect(k_key) == "");
    REQUIRE(pair.ask(k_key, question_at(5000, rate), answer) == "");
    CHECK(answer.kind == AnswerKind::start);
}

TEST_CASE("lua: a crowd asks out of turn after a pause as in C++", "[contract]") {
    for (const Rate& rate : {*Rate::make(100, 1s), *Rate::make(30, 1s, 30), *Rate::make(100, 10ms),
                             *Rate::make(1'000'000, 1s), *Rate::make(17, 85ms, 17), *Rate::make(17, 100ms)}) {
        INFO(rate.text());
        Pair pair;
        PauseRequest pause;
        pause.length = 1s;
        REQUIRE(pair.pause(k_key, pause) == "");
        Answer answer;
        constexpr std::uint64_t k_crowd = 150;
        for (std::uint64_t id = 1; id <= k_crowd; ++id)
            REQUIRE(pair.ask_only(k_key, question_at(id, rate), answer) == "");
        pair.advance(1s);
        if (rate.burst() > 1) pair.advance(90ms);  // slots come due, and nobody is too late yet
        // Behind as many as room is kept for, and behind one more.
        for (const std::uint64_t id : std::vector<std::uint64_t>{1, 18, 2, 20, 38, 39})
            REQUIRE(pair.ask(k_key, question_at(id, rate), answer) == "");
        std::uint64_t next = 7;
        for (int i = 0; i < 600; ++i) {
            next = (next * 67 + 31) % k_crowd;
            const auto question = question_at(next + 1, rate);
            REQUIRE((i % 10 == 0 ? pair.ask(k_key, question, answer)
                                 : pair.ask_only(k_key, question, answer)) == "");
            if (i % 40 == 39) pair.advance(9ms);
        }
        REQUIRE(pair.inspect(k_key) == "");
    }
}

TEST_CASE("lua: the ring of recent starts turns as in C++", "[contract]") {
    Pair pair;
    const Rate rate = *Rate::make(1'000'000, 1s);
    std::uint64_t id = 0;
    start_many(pair, rate, 1100, id);
    Answer answer;
    for (const std::uint64_t asked : {id, id - 1023, id - 1024, id - 1, std::uint64_t{1}}) {
        auto question = question_at(asked, rate);
        question.fresh = false;
        REQUIRE(pair.ask(k_key, question, answer) == "");
    }
    // An id whose bytes stand in the ring, but not where an entry begins, is not there.
    const std::uint64_t odd = 0x0102030405060708;
    REQUIRE(pair.ask(k_key, question_at(odd, rate), answer) == "");
    REQUIRE(answer.kind == AnswerKind::start);
    const auto at = static_cast<std::uint64_t>(to_us(pair.now() + answer.wait));
    auto question = question_at(odd << 8 | (at & 0xFF), rate);
    question.fresh = false;
    REQUIRE(pair.ask(k_key, question, answer) == "");
}

TEST_CASE("lua: a pause without end and the longest periods as in C++", "[contract]") {
    Pair pair;
    const Rate slow = *Rate::make(1, 24h * 366);
    const Rate wide = *Rate::make(31'622'400, 24h * 366, 31'622'400);
    PauseRequest forever;
    forever.forever = true;
    forever.note = "by hand";
    REQUIRE(pair.pause(k_key, forever) == "");
    Answer answer;
    for (std::uint64_t id = 1; id <= 300; ++id) {
        auto question = question_at(id, id % 3 == 0 ? wide : slow);
        question.caller = id % 2 == 0;
        if (id % 50 == 1) {
            REQUIRE(pair.ask(k_key, question, answer) == "");
        } else {
            REQUIRE(pair.ask_only(k_key, question, answer) == "");
        }
    }
    REQUIRE(pair.inspect(k_key) == "");
    REQUIRE(pair.resume(k_key) == "");
    for (std::uint64_t id = 1; id <= 30; ++id) {
        REQUIRE(pair.ask(k_key, question_at(id, id % 3 == 0 ? wide : slow), answer) == "");
        pair.advance(answer.wait < 24h ? answer.wait : Duration{1s});
    }
}

TEST_CASE("lua: what became free in a pause is offered when it is resumed, as in C++", "[contract]") {
    Pair pair;
    Answer answer;
    for (std::uint64_t id = 1; id <= 3; ++id) {
        auto question = question_at(id, terms_of({}, 1));
        question.lock_for = 30s;
        REQUIRE(pair.ask(k_key, question, answer) == "");
    }
    CHECK(answer.wake == 2);
    PauseRequest forever;
    forever.forever = true;
    REQUIRE(pair.pause(k_key, forever) == "");
    REQUIRE(pair.release(k_key, {1, false}) == "");
    REQUIRE(pair.resume(k_key) == "");
    auto question = question_at(2, terms_of({}, 1));
    question.lock_for = 30s;
    REQUIRE(pair.ask(k_key, question, answer) == "");
    CHECK(answer.kind == AnswerKind::start);
}

TEST_CASE("lua: a key with pauses alone as in C++", "[contract]") {
    Pair pair;
    Answer answer;
    for (std::uint64_t id = 1; id <= 5; ++id)
        REQUIRE(pair.ask(k_key, question_at(id, Terms{}), answer) == "");
    CHECK(answer.kind == AnswerKind::start);
    PauseRequest pause;
    pause.length = 2s;
    REQUIRE(pair.pause(k_key, pause) == "");
    for (std::uint64_t id = 10; id <= 20; ++id)
        REQUIRE(pair.ask(k_key, question_at(id, Terms{}), answer) == "");
    CHECK(answer.kind == AnswerKind::wait);
    pair.advance(2s);
    for (int round = 0; round < 40; ++round) {
        for (std::uint64_t id = 10; id <= 20; id += 2)
            REQUIRE(pair.ask(k_key, question_at(id, Terms{}), answer) == "");
        pair.advance(70ms);
    }
    auto unlimited = question_at(50, Terms{});
    unlimited.pause_only = false;
    REQUIRE(pair.ask(k_key, unlimited, answer) == "");
    CHECK(answer.kind == AnswerKind::no_limit);
    const Registration registered{terms_of({*Rate::make(5, 1s)}), 1'700'000'000, "ops@box"};
    REQUIRE(pair.set_registration(k_key, registered) == "");
    REQUIRE(pair.ask(k_key, unlimited, answer) == "");
    CHECK(answer.terms == registered.terms);
    REQUIRE(pair.ask(k_key, question_at(51, *Rate::make(5, 2s)), answer) == "");
    CHECK(answer.terms.rates().size() == 2);
    const Terms four =
        terms_of({*Rate::make(5, 2s), *Rate::make(5, 3s), *Rate::make(5, 4s), *Rate::make(5, 5s)});
    REQUIRE(pair.ask(k_key, question_at(53, four), answer) == "");
    CHECK(answer.kind == AnswerKind::conflict);
    REQUIRE(pair.ask(k_key, question_at(52, *Rate::make(9, 1s, 9)), answer) == "");
    CHECK(answer.terms == registered.terms);
}

}  // namespace jobthrottle::test
