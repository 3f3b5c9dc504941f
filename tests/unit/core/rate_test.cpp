// SPDX-License-Identifier: MIT
#include "core/rate.hpp"

#include <tuple>

#include "core/key.hpp"
#include "core/slots.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace std::chrono_literals;

TEST_CASE("rate: reads what people write", "[unit]") {
    using Row = std::tuple<const char*, std::int64_t, Duration, std::int64_t>;
    const Row rows[] = {
        {"8/s", 8, 1s, 1},
        {"60/min", 60, 1min, 1},
        {"60/m", 60, 1min, 1},
        {"5000/h", 5000, 1h, 1},
        {"10000/d", 10'000, 24h, 1},
        {"10/90s", 10, 90s, 1},
        {"1/500ms", 1, 500ms, 1},
        {"10/1m30s", 10, 90s, 1},
        {"8/1", 8, 1s, 1},
        {"3/0.5", 3, 500ms, 1},
        {"5/sec", 5, 1s, 1},
        {"5/minutes", 5, 1min, 1},
        {"5/hour", 5, 1h, 1},
        {"1/week", 1, 24h * 7, 1},
        {"90k/min", 90'000, 1min, 1},
        {"90K/min", 90'000, 1min, 1},
        {"2M/d", 2'000'000, 24h, 1},
        {"10000/d,burst=500", 10'000, 24h, 500},
        {"8/s,burst=8", 8, 1s, 8},
        {"2k/s,burst=1k", 2000, 1s, 1000},
        {"1000/ms", 1000, 1ms, 1},
        {"1000000/s", 1'000'000, 1s, 1},
        {"1/366d", 1, 24h * 366, 1},
        {"31622400M/366d", 31'622'400'000'000, 24h * 366, 1},
    };
    for (const auto& [text, allow, period, burst] : rows) {
        INFO(text);
        const auto rate = parse_rate(text);
        REQUIRE(rate.ok());
        CHECK(rate->allow() == allow);
        CHECK(rate->period() == period);
        CHECK(rate->burst() == burst);
        CHECK(parse_rate(rate->text()).value() == *rate);
    }
}

TEST_CASE("rate: anything else is a usage error that quotes it and shows a right one", "[unit]") {
    for (const char* bad : {"",
                            "8",
                            "/s",
                            "8/",
                            "0/s",
                            "-1/s",
                            "+8/s",
                            " 8/s",
                            "8/s ",
                            "8 /s",
                            "8/ s",
                            "8/0s",
                            "8/0",
                            "8/-1s",
                            "8/s/min",
                            "8/sec/min",
                            "12s",
                            "0/1s",
                            "1/0s",
                            "1/",
                            "eight/s",
                            "8/S",
                            "8/M",
                            "8/fortnight",
                            "1.5/s",
                            "1e3/s",
                            "0x8/s",
                            "8m/s",
                            "k/s",
                            "M/s",
                            "8//s",
                            "8/1m30",
                            "8/s,",
                            "8/s,9",
                            "8/s,burst",
                            "8/s,burst=",
                            "8/s,burst=0",
                            "8/s,burst=9",
                            "8/s,burst=-1",
                            "8/s,burst=2,burst=3",
                            "8/s,Burst=2",
                            "8/s, burst=2",
                            "8/0.5ms",
                            "1/367d",
                            "8/999us",
                            "1001/ms",
                            "1000001/s",
                            "99999999999999999999/s",
                            "9223372036854775807M/d",
                            "8/99999999999999999999d"}) {
        INFO(bad);
        const auto rate = parse_rate(bad);
        REQUIRE_FALSE(rate.ok());
        CHECK(rate.error().kind == ErrorKind::usage);
        CHECK_THAT(rate.error().message, Catch::Matchers::StartsWith("'" + std::string(bad) + "': "));
        CHECK_THAT(rate.error().message, Catch::Matchers::ContainsSubstring("for example"));
        CHECK(rate.error().message.find('\n') == std::string::npos);
    }
    CHECK(parse_rate("8/sec/min").error().message ==
          "'8/sec/min': want N/PERIOD, for example 8/s, 500/min, 10/90s");
    CHECK_THAT(parse_rate("8/\x1b[31m").error().message, Catch::Matchers::ContainsSubstring("\\x1b[31m"));
}

TEST_CASE("rate: rejects a zero period, no starts, more than a start a microsecond, a burst above N",
          "[unit]") {
    CHECK_FALSE(Rate::make(1, Duration{0}).ok());
    CHECK_FALSE(Rate::make(1, Duration{999}).ok());
    CHECK(Rate::make(1, Duration{1000}).ok());
    CHECK_FALSE(Rate::make(0, 1s).ok());
    CHECK_FALSE(Rate::make(-5, 1s).ok());
    CHECK(Rate::make(1'000'000, 1s).ok());
    CHECK_FALSE(Rate::make(1'000'001, 1s).ok());
    CHECK_FALSE(Rate::make(1, 24h * 366 + 1us).ok());
    CHECK(Rate::make(8, 1s, 8).ok());
    CHECK_FALSE(Rate::make(8, 1s, 9).ok());
    CHECK_FALSE(Rate::make(8, 1s, 0).ok());
    CHECK_FALSE(parse_rate("8/s")->with_burst(9).ok());
}

TEST_CASE("rate: is shown as people write it", "[unit]") {
    for (const char* text : {"8/s", "60/min", "5000/h", "10000/d", "1/500ms", "10/1m30s", "8/s,burst=8"}) {
        CHECK(parse_rate(text)->text() == text);
    }
    CHECK(parse_rate("2k/60s")->text() == "2000/min");
}

TEST_CASE("rate: the spacing is exact and the grant is 100 ms, or a shorter period", "[unit]") {
    CHECK(parse_rate("7/s")->spacing_us() == 142'857);
    CHECK(parse_rate("7/s")->spacing_rest() == 1);
    CHECK(parse_rate("7/s")->grant() == 100ms);
    CHECK(parse_rate("7/30ms")->grant() == 30ms);
}

TEST_CASE("rate: of two on one period the strictest of each number holds", "[unit]") {
    const Rate strict = strictest(*parse_rate("10/s,burst=6"), *parse_rate("8/s,burst=7"));
    CHECK(strict == *parse_rate("8/s,burst=6"));
    CHECK(strictest(*parse_rate("10/s,burst=9"), *parse_rate("4/s,burst=4")) == *parse_rate("4/s,burst=4"));
}

TEST_CASE("rate: a count takes k and M and is at least 1", "[unit]") {
    CHECK(parse_count("80").value() == 80);
    CHECK(parse_count("90k").value() == 90'000);
    CHECK(parse_count("2M").value() == 2'000'000);
    for (const char* bad : {"", "0", "-1", "k", "1.5", "1G", " 1", "0k", "99999999999999999999"})
        CHECK_FALSE(parse_count(bad).ok());
}

TEST_CASE("key: 1 to 480 bytes of any kind", "[unit]") {
    CHECK(Key::make("a").ok());
    CHECK(Key::make(std::string(480, 'x')).ok());
    CHECK(Key::make(std::string("\0{}\n \xff", 6)).value().shown() == "\\x00{}\\n \\xff");
    const auto empty = Key::make("");
    REQUIRE_FALSE(empty.ok());
    CHECK(empty.error().kind == ErrorKind::usage);
    const auto longer = Key::make(std::string(481, 'x'));
    REQUIRE_FALSE(longer.ok());
    CHECK_THAT(longer.error().message, Catch::Matchers::ContainsSubstring("481 bytes"));
}

TEST_CASE("slots: a million at 7/s and back lose no part of a microsecond", "[unit]") {
    const Rate seven = *parse_rate("7/s");
    Slot slot{1000, 0};
    for (int i = 0; i < 999'999; ++i)
        slot = slot_after(slot, 1, seven);
    CHECK(slot.time_us == 1000 + 999'999 * std::int64_t{1'000'000} / 7);
    CHECK(slot.rest == 999'999 * std::int64_t{1'000'000} % 7);
    CHECK(slot_after(slot_before(5'000'000, 3, seven), 3, seven) == Slot{5'000'000, 0});
    CHECK(slot_before(5'000'000, 0, seven) == Slot{5'000'000, 0});
    CHECK(slot_after({0, 6}, 7, seven) == Slot{1'000'000, 6});
}

TEST_CASE("slots: strange numbers stay below 2^53 and are never early", "[unit]") {
    const Rate year = *parse_rate("1/366d");
    const Rate most = *parse_rate("31622400M/366d");
    CHECK(slot_after({k_forever_us, 0}, 256, year) == Slot{k_forever_us, 0});
    CHECK(slot_after({1'700'000'000'000'000, 0}, 250, year) == Slot{k_forever_us, 0});
    const Slot far = slot_after({1'700'000'000'000'000, 0}, 1'000'000, year);
    CHECK(far.time_us > k_far_us);
    CHECK(far.time_us <= k_forever_us);
    CHECK(slot_after({5, 0}, 1'000'000, most) == Slot{1'000'005, 0});
    CHECK(slot_before(1'700'000'000'000'000, 31'622'400'000'000, most).time_us ==
          1'700'000'000'000'000 - 31'622'400'000'000);
    const Rate odd = *Rate::make(31'622'399'999'999, 24h * 366);
    CHECK(slot_after({7, 0}, 256, odd).time_us == 7 + 256);
    CHECK(slot_before(1000, 256, odd).rounded_up_us() == 1000 - 256);
    CHECK(slot_after({0, 0}, 300, *parse_rate("7/s")).time_us >= 300 * std::int64_t{1'000'000} / 7);
}
