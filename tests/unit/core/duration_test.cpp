// SPDX-License-Identifier: MIT
#include "core/duration.hpp"

#include <utility>

#include "support/catch.hpp"

using namespace jobthrottle;
using namespace std::chrono_literals;

TEST_CASE("duration: reads what people write", "[unit]") {
    const std::pair<const char*, Duration> rows[] = {
        {"0", 0s},
        {"30", 30s},
        {"0.5", 500ms},
        {"250ms", 250ms},
        {"2s", 2s},
        {"1m30s", 90s},
        {"2h", 2h},
        {"1d", 24h},
        {"90us", 90us},
        {"1w", 24h * 7},
        {"1h0m5s", 1h + 5s},
        {"1.5h", 90min},
        {"2d12.5h", 60h + 30min},
        {"20minutes", 20min},
        {"1hour30min", 90min},
        {"5secs", 5s},
        {"1.000001s", 1s + 1us},
        {"0.0000001s", 1us},
        {"1.0000000s", 1s},
        {"0.1us", 1us},
        {"366d", 24h * 366},
        {"31622400", 24h * 366},
        {"007", 7s},
    };
    for (const auto& [text, want] : rows) {
        INFO(text);
        const auto duration = parse_duration(text);
        REQUIRE(duration.ok());
        CHECK(*duration == want);
    }
}

TEST_CASE("duration: anything else is a usage error that quotes it and shows a right one", "[unit]") {
    for (const char* bad : {"",
                            " ",
                            "s",
                            "-1",
                            "+5",
                            " 5",
                            "5 ",
                            "5 s",
                            "1m30",
                            "30s1m",
                            "1s1s",
                            "1.5m3s",
                            "1.",
                            ".5",
                            "1..5s",
                            "1e9",
                            "0x10",
                            "5S",
                            "5M",
                            "5sec.",
                            "367d",
                            "366d1us",
                            "1:30",
                            "inf",
                            "forever",
                            "5s,",
                            "120, 60",
                            "99999999999999999999",
                            "9223372036854775807d",
                            "5\xc2\xb5s"}) {
        INFO(bad);
        const auto duration = parse_duration(bad);
        REQUIRE_FALSE(duration.ok());
        CHECK(duration.error().kind == ErrorKind::usage);
        CHECK_THAT(duration.error().message, Catch::Matchers::StartsWith("'" + std::string(bad) + "': "));
        CHECK_THAT(duration.error().message, Catch::Matchers::ContainsSubstring("for example 250ms"));
    }
}

TEST_CASE("duration: is shown in at most three figures, rounded up", "[unit]") {
    const std::pair<Duration, const char*> rows[] = {
        {-1s, "0 s"},           {0s, "0 s"},          {1us, "1 us"},
        {999us, "999 us"},      {1001us, "2 ms"},     {99ms, "99 ms"},
        {100ms, "0.1 s"},       {400ms, "0.4 s"},     {401ms, "0.5 s"},
        {12'300ms, "12.3 s"},   {42s, "42 s"},        {59'900ms, "59.9 s"},
        {59'901ms, "1m00s"},    {90s, "1m30s"},       {27min + 45s, "27m45s"},
        {3599'001ms, "1h00m"},  {2h + 3min, "2h03m"}, {2h + 3min + 1s, "2h04m"},
        {24h - 1s, "1d00h"},    {76h, "3d04h"},       {76h + 1s, "3d05h"},
        {24h * 366, "366d00h"},
    };
    for (const auto& [duration, text] : rows) {
        INFO(duration.count() << " us");
        CHECK(format_duration(duration) == text);
    }
}

TEST_CASE("duration: the exact form is read back as it was", "[unit]") {
    for (const Duration d : {Duration{1us}, Duration{1500us}, Duration{750ms}, Duration{90s}, Duration{25h},
                             Duration{24h * 366}, Duration{1h + 1us}}) {
        CHECK(parse_duration(format_duration_exactly(d)).value() == d);
    }
    CHECK(format_duration_exactly(0s) == "0s");
    CHECK(format_duration_exactly(90s) == "1m30s");
    CHECK(format_duration_exactly(100us) == "100us");
}
