// SPDX-License-Identifier: MIT
// Several limits on one key. contract.md section 1.
#include <random>

#include "support/catch.hpp"
#include "support/line_simulation.hpp"

using namespace jobthrottle;
using namespace jobthrottle::testing;
using namespace std::chrono_literals;

namespace {

SimPlan at_once(std::size_t jobs, const std::string& limit) {
    SimPlan plan;
    plan.limit = limit;
    plan.jobs.resize(jobs);
    return plan;
}

struct Started {
    std::int64_t at_us = 0;
    Terms terms;
};

// One runner that starts as often as it may, and keeps a list of when it did.
class Greedy {
public:
    explicit Greedy(const std::string& limit) : desk(limit, 60s) {}

    void start() {
        Answer answer = desk.ask(1);
        while (answer.kind == AnswerKind::wait)
            answer = desk.after(answer.wait).ask(1);
        REQUIRE(answer.kind == AnswerKind::start);
        starts.push_back({desk.now_us() + answer.wait.count(), answer.terms});
    }
    Duration last() const { return Duration{starts.back().at_us - Desk::k_begin_us}; }

    Desk desk;
    std::vector<Started> starts;
};

bool has(const Terms& terms, const Rate& rate) {
    for (const Rate& other : terms.rates())
        if (other.allow() == rate.allow() && other.period() == rate.period()) return true;
    return false;
}

// The most starts of any window of the rate, of those windows that begin after its numbers came in force.
std::int64_t most_in_window(const std::vector<Started>& starts, const Rate& rate) {
    std::int64_t most = 0, count = 0;
    std::size_t first = 0;
    for (std::size_t last = 0; last < starts.size(); ++last) {
        if (!has(starts[last].terms, rate)) {
            first = last + 1;
            count = 0;
            continue;
        }
        ++count;
        for (; starts[last].at_us - starts[first].at_us >= rate.period().count(); ++first)
            --count;
        most = std::max(most, count);
    }
    return most;
}

}  // namespace

TEST_CASE("terms: all limits hold, and the starts come as soon as they allow", "[unit]") {
    // Thirty at ten a second, and the next thirty when ten seconds are over.
    for (const char* limit : {"10/s and 30/10s", "30/10s and 10/s"}) {
        const SimResult result = simulate(at_once(100, limit));
        REQUIRE(result.starts.size() == 100);
        for (std::int64_t k = 0; k < 100; ++k)
            CHECK(result.starts[static_cast<std::size_t>(k)].after == k / 30 * 10s + k % 30 * 100ms);
    }
    const SimResult result = simulate(at_once(162, "5/s and 20/10s and 60/min and 100/h"));
    REQUIRE(result.starts.size() == 162);
    const auto after = [&](std::size_t k) { return result.starts[k].after; };
    CHECK(after(4) == 800ms);
    CHECK(after(20) == 10s);
    CHECK(after(60) == 1min);
    CHECK(after(99) == 1min + 13'800ms);
    CHECK(after(100) == 1h);
    CHECK(after(160) == 1h + 1min);
}

TEST_CASE("terms: the closest slots pace, the others are plain windows unless given a burst", "[unit]") {
    const Terms three = terms("500/min and 10/s and 4000/h");
    CHECK(three.rates()[0] == rate("10/s"));
    CHECK(three.rates()[1] == rate("500/min,burst=500"));
    CHECK(three.rates()[2] == rate("4000/h,burst=4000"));
    CHECK(three.text() == "10/s, 500/min and 4000/h");
    CHECK(three.given()[1] == rate("500/min"));
    // 60/min and 1/s are as close: the shorter period paces.
    CHECK(terms("60/min and 1/s").rates()[0] == rate("1/s"));

    Greedy plain("10/s and 30/10s"), burst("10/s and 30/10s,burst=5"), one("10/s and 30/10s,burst=1");
    CHECK(burst.desk.peek().terms.text() == "10/s and 30/10s,burst=5");
    CHECK(one.desk.peek().terms.text() == "10/s and 30/10s,burst=1");
    for (int i = 0; i < 30; ++i) {
        plain.start();
        burst.start();
        one.start();
    }
    CHECK(plain.last() == 2'900ms);
    CHECK(burst.last() == Duration{25 * 10'000'000 / 30 + 1});  // five are ahead of their slots
    CHECK(one.last() == Duration{29 * 10'000'000 / 30 + 1});    // each 333 1/3 ms
}

TEST_CASE("terms: limits above and below 2,044 starts have a log each and stay exact", "[unit]") {
    // The first is paced by its burst alone: 2,000 of them 1 ms apart, then as the first ones leave.
    Greedy greedy("2000/4s,burst=2000 and 5000/20s");
    for (int i = 0; i < 5000; ++i) {
        greedy.start();
        greedy.desk.after(1ms);
    }
    const auto after = [&](std::size_t k) { return Duration{greedy.starts[k].at_us - Desk::k_begin_us}; };
    CHECK(after(1999) == 1'999ms);
    CHECK(after(2000) == 4s);
    CHECK(after(2001) == 4'001ms);
    CHECK(after(4000) == 8s);
    const Header header = greedy.desk.header();
    CHECK(header.rows[0].log_group == 1);
    CHECK(header.rows[1].log_group == 3);
    CHECK(header.rows[2].log_group == 0);
    greedy.start();
    CHECK(greedy.last() >= 20s);
    CHECK(greedy.last() <= 20'002ms);  // where three starts share a time
    CHECK(most_in_window(greedy.starts, rate("2000/4s")) == 2000);
    CHECK(most_in_window(greedy.starts, rate("5000/20s")) == 5000);
    CHECK(greedy.desk.records().log(0).size() <= 2045);
    CHECK(greedy.desk.records().log(1).size() <= 2045);
}

TEST_CASE("terms: four logs beside each other, and one that a fifth size takes the place of", "[unit]") {
    Greedy greedy("9000/s and 9000/10s and 30000/min and 90000/h");
    for (int i = 0; i < 100; ++i)
        greedy.start();
    Header header = greedy.desk.header();
    CHECK(header.rows[0].log_group == 5);  // of both 9,000
    CHECK(header.rows[1].log_group == 15);
    CHECK(header.rows[2].log_group == 45);
    CHECK(header.rows[3].log_group == 0);
    greedy.desk.set_limit("9000/s and 500/min");
    greedy.start();
    CHECK(greedy.desk.header().rows[3].log_group == 1);
    greedy.desk.set_limit("9000/s and 900000/d");
    greedy.start();
    header = greedy.desk.header();
    // Of those that are not needed now the one of 30,000 a minute is over first, with 500 a minute.
    CHECK(header.rows[1].log_group == 441);
    CHECK(header.rows[1].log_total == 1);
    CHECK(header.rows[1].log_fill == 102);
    CHECK(header.rows[3].log_group == 1);
}

TEST_CASE("terms: a log is dropped when nobody needs it any more", "[unit]") {
    Desk desk("1000/s and 5000/10s");
    desk.ask(1);
    CHECK(desk.header().rows_in_use() == 2);
    desk.set_limit("1000/s");
    desk.at(9s).ask(1);
    CHECK(desk.header().rows[1].log_group == 3);
    CHECK(desk.header().rows[1].log_fill == 2);  // every start is in every log
    desk.at(9'500ms).ask(1);
    desk.at(10s + 1us).ask(1);
    CHECK(desk.header().rows[1].log_group == 0);
    CHECK(desk.header().rows[0].log_group == 1);
}

TEST_CASE("terms: what others start under other limits counts for all", "[unit]") {
    Desk desk("8/s,burst=8 and 20/min");
    for (TicketId place = 1; place <= 8; ++place)
        CHECK(say(desk.ask(place)) == "start now");
    desk.set_limit("30/s,burst=30");
    desk.at(1s);
    for (TicketId place = 9; place <= 20; ++place)
        CHECK(say(desk.ask(place)) == "start now");
    desk.set_limit("8/s,burst=8 and 20/min");
    CHECK(desk.at(3s).peek().earliest == 57s);
    CHECK(desk.peek().other == terms("30/s,burst=30"));
}

TEST_CASE("terms: limits that come and go let no window over that begins after they came", "[unit]") {
    const char* const sets[] = {"8/s",
                                "20/s,burst=20 and 50/10s",
                                "50/10s and 8/s",
                                "3/100ms and 60/min",
                                "60/min and 3000/20s and 20/s,burst=20",
                                "3000/20s and 8/s,burst=8",
                                "7000/20s and 50/10s",
                                "12000/30s and 7000/20s and 3000/20s2ms and 20000/40s",
                                "20/s,burst=20"};
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        std::mt19937_64 random(seed);
        Greedy greedy(sets[random() % std::size(sets)]);
        std::vector<Rate> rates;
        for (int i = 0; i < 600; ++i) {
            if (random() % 40 == 0) greedy.desk.set_limit(sets[random() % std::size(sets)]);
            if (random() % 3 == 0) greedy.desk.after(Duration{static_cast<std::int64_t>(random() % 700'000)});
            greedy.start();
            for (const Rate& rate : greedy.starts.back().terms.rates())
                if (std::find(rates.begin(), rates.end(), rate) == rates.end()) rates.push_back(rate);
        }
        INFO("seed " << seed);
        for (const Rate& rate : rates) {
            INFO(rate.text());
            CHECK(most_in_window(greedy.starts, rate) <= rate.allow());
        }
    }
}

TEST_CASE("terms: are read as they are written, and what is not valid names the numbers", "[unit]") {
    for (const char* text : {"8/s", "10/s and 500/min", "10/s, 500/min and 4000/h, 3 at once", "4 at once",
                             "10/s,burst=3 and 500/min,burst=20, 3 at once"})
        CHECK(terms(text).text() == text);
    CHECK(Terms{}.text() == "");
    const auto fails = [](std::vector<Rate> rates, std::optional<std::int64_t> at_once = {}) {
        const auto made = Terms::make(std::move(rates), at_once);
        REQUIRE_FALSE(made.ok());
        CHECK(made.error().kind == ErrorKind::usage);
        return made.error().message;
    };
    CHECK_THAT(fails({rate("8/s"), rate("9/s")}), Catch::Matchers::ContainsSubstring("8/s"));
    CHECK_THAT(fails({rate("1/s"), rate("2/2s"), rate("3/4s"), rate("3/5s"), rate("3/6s")}),
               Catch::Matchers::ContainsSubstring("5 limits"));
    CHECK_THAT(fails({}, 0), Catch::Matchers::ContainsSubstring("0 at once"));
    CHECK_THAT(fails({}, 1'000'001), Catch::Matchers::ContainsSubstring("1000001 at once"));
}

TEST_CASE("terms: of two sets the strictest of each period holds, and of the concurrency", "[unit]") {
    const auto both = [](const char* a, const char* b) {
        return strictest(terms(a), terms(b)).value().text();
    };
    CHECK(both("10/s", "8/s") == "8/s");
    CHECK(both("10/s and 100/h", "8/s and 50/min") == "8/s, 50/min and 100/h");
    CHECK(both("10/s,burst=5", "8/s,burst=3") == "8/s,burst=3");
    // A burst that was given stays one where it does not pace.
    CHECK(both("500/min,burst=20", "10/s") == "10/s and 500/min,burst=20");
    CHECK(both("10/s and 500/min", "400/min,burst=20") == "10/s and 400/min,burst=20");
    CHECK(both("4 at once", "10/s") == "10/s, 4 at once");
    CHECK(both("4 at once", "10/s, 6 at once") == "10/s, 4 at once");
    CHECK(both("", "10/s, 6 at once") == "10/s, 6 at once");
    CHECK_FALSE(strictest(terms("1/s and 2/2s and 3/4s"), terms("3/5s and 3/6s")).ok());
}
