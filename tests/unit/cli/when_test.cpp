// SPDX-License-Identifier: MIT
#include "core/when.hpp"

#include "support/catch.hpp"

using namespace jobthrottle;
using namespace std::chrono_literals;

namespace {

// 2026-11-30T12:00:00Z, a Monday.
constexpr WallTime k_noon{std::chrono::seconds{1'796'040'000}};

// Central Europe in 2026: forward on 29 March, back on 25 October, both at 01:00 UTC.
int berlin(WallTime when) {
    constexpr WallTime k_forward{std::chrono::seconds{1'774'746'000}};
    constexpr WallTime k_back{std::chrono::seconds{1'792'890'000}};
    return when >= k_forward && when < k_back ? 7200 : 3600;
}
int utc(WallTime) {
    return 0;
}

std::int64_t seconds_of(const Result<WallTime>& when) {
    REQUIRE(when.ok());
    return std::chrono::floor<std::chrono::seconds>(*when).time_since_epoch().count();
}

}  // namespace

TEST_CASE("when: each form names its moment", "[unit]") {
    struct Row {
        const char* text;
        std::int64_t seconds;
    };
    for (const Row& row : std::initializer_list<Row>{
             {"2026-11-30T14:30:00Z", 1'796'049'000},
             {"2026-11-30T14:30:00+01:00", 1'796'045'400},
             {"2026-11-30 14:30:00 +01:00", 1'796'045'400},
             {"2026-11-30T14:30:00", 1'796'045'400},
             {"2026-11-30 14:30", 1'796'045'400},
             {"@1796049000", 1'796'049'000},
             {"@1796049000.5", 1'796'049'000},
             {"14:30", 1'796'045'400},
             {"14:30:15", 1'796'045'415},
             {"12:59", 1'796'040'000 - 60 + 86'400},
             {"13:00", 1'796'040'000 + 86'400},
             {"Mon, 30 Nov 2026 14:30:00 GMT", 1'796'049'000},
             {"10m", 1'796'040'600},
             {"1h30m", 1'796'045'400},
             {"90", 1'796'040'090},
         }) {
        INFO(row.text);
        CHECK(seconds_of(parse_when(row.text, k_noon, berlin)) == row.seconds);
    }
}

TEST_CASE("when: a fraction of an epoch second counts", "[unit]") {
    const auto when = parse_when("@1796040000.25", k_noon, utc);
    REQUIRE(when.ok());
    CHECK(*when - k_noon == 250ms);
}

TEST_CASE("when: anything else is a usage error with a right example", "[unit]") {
    for (const char* bad : {"",
                            "tomorrow",
                            "24:00",
                            "14:60",
                            "14:3",

                            "14:30:60",
                            "@",
                            "@-1",
                            "@1e9",
                            "@1.",
                            "@1.1234567",
                            "@999999999999",
                            "2026-13-01T00:00:00Z",
                            "2026-02-30T00:00:00Z",
                            "2026-11-30T25:00:00Z",
                            "2026-11-30",
                            "2026-11-30T14:30:00+1",
                            "400d",
                            "-5m",
                            "14:30 ",
                            "\x1b[31m"}) {
        INFO(bad);
        const auto when = parse_when(bad, k_noon, berlin);
        REQUIRE_FALSE(when.ok());
        CHECK(when.error().kind == ErrorKind::usage);
        CHECK_THAT(when.error().message, Catch::Matchers::ContainsSubstring("for example 14:30"));
        CHECK(when.error().message.find('\x1b') == std::string::npos);
    }
}

TEST_CASE("when: a local time that the clocks skip or show twice still is one moment", "[unit]") {
    // 02:30 on 29 March does not exist: the clocks go from 02:00 to 03:00 at 01:00 UTC.
    CHECK(seconds_of(parse_when("2026-03-29T02:30:00", k_noon, berlin)) == 1'774'746'000);
    CHECK(seconds_of(parse_when("2026-03-29T03:00:00", k_noon, berlin)) == 1'774'746'000);
    CHECK(seconds_of(parse_when("2026-03-29T01:59:59", k_noon, berlin)) == 1'774'746'000 - 1);
    // 02:30 on 25 October comes twice: the first is at 00:30 UTC.
    CHECK(seconds_of(parse_when("2026-10-25T02:30:00", k_noon, berlin)) == 1'792'890'000 - 1800);
    CHECK(seconds_of(parse_when("2026-10-25T03:00:00", k_noon, berlin)) == 1'792'890'000 + 3600);
}

TEST_CASE("when: a moment is shown with its zone and read back", "[unit]") {
    CHECK(format_when(k_noon, berlin) == "2026-11-30 13:00:00 +01:00");
    CHECK(format_when(k_noon, [](WallTime) { return -12'600; }) == "2026-11-30 08:30:00 -03:30");
    CHECK(format_when(k_noon + 1us, utc) == "2026-11-30 12:00:01 +00:00");
    for (const ZoneOffset& zone : {ZoneOffset(berlin), ZoneOffset(utc)}) {
        CHECK(seconds_of(parse_when(format_when(k_noon, zone), k_noon, utc)) == 1'796'040'000);
    }
}
