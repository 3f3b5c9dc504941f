// SPDX-License-Identifier: MIT
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>

#include "core/refusal/http_date.hpp"
#include "core/refusal/retry_after.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace std::chrono_literals;

namespace {

// 2026-11-30T12:00:00Z
const WallTime k_now{1'796'040'000s};

Duration since_now(std::optional<WallTime> time) {
    REQUIRE(time);
    return *time - k_now;
}

Duration since_now(std::string_view date) {
    return since_now(parse_http_date(date, k_now));
}

}  // namespace

TEST_CASE("http date: reads the three forms as UTC", "[unit]") {
    CHECK(since_now("Mon, 30 Nov 2026 12:02:00 GMT") == 2min);
    CHECK(since_now("Monday, 30-Nov-26 12:02:00 GMT") == 2min);
    CHECK(since_now("Mon Nov 30 12:02:00 2026") == 2min);
    CHECK(since_now("Tue Dec  1 00:00:00 2026") == 12h);
    CHECK(since_now("Tue Dec 1 00:00:00 2026") == 12h);
    CHECK(since_now("Tue, 1 Dec 2026 00:00:00 GMT") == 12h);
    CHECK(since_now("Mon, 30-Nov-26 12:02:00 GMT") == 2min);
}

TEST_CASE("http date: no time zone of the environment changes it", "[unit]") {
    const char* before = std::getenv("TZ");
    const std::string kept = before == nullptr ? "" : before;
    ::setenv("TZ", "America/New_York", 1);
    ::tzset();
    CHECK(since_now("Mon Nov 30 12:02:00 2026") == 2min);
    CHECK(since_now("Mon, 30 Nov 2026 12:02:00") == 2min);
    if (before == nullptr) {
        ::unsetenv("TZ");
    } else {
        ::setenv("TZ", kept.c_str(), 1);
    }
    ::tzset();
}

TEST_CASE("http date: takes zones, letter case and the leap second", "[unit]") {
    CHECK(since_now("mon, 30 nov 2026 12:02:00 gmt") == 2min);
    CHECK(since_now("Mon, 30 Nov 2026 12:02:00 UTC") == 2min);
    CHECK(since_now("Mon, 30 Nov 2026 12:02:00 UT") == 2min);
    CHECK(since_now("Mon, 30 Nov 2026 12:02:00 Z") == 2min);
    CHECK(since_now("Mon, 30 Nov 2026 13:02:00 +0100") == 2min);
    CHECK(since_now("Mon, 30 Nov 2026 06:32:00 -0530") == 2min);
    CHECK(since_now("Mon, 30 Nov 2026 12:01:60 GMT") == 2min);
    CHECK(since_now("Sun, 30 Nov 2026 12:02:00 GMT") == 2min);  // the weekday is not compared
}

TEST_CASE("http date: a year of two digits is at most fifty years ahead", "[unit]") {
    using namespace std::chrono;
    const auto year_of = [](std::string_view text) {
        const auto time = parse_http_date(text, k_now);
        REQUIRE(time);
        return static_cast<int>(year_month_day{floor<days>(*time)}.year());
    };
    CHECK(year_of("Monday, 30-Nov-76 12:00:00 GMT") == 2076);
    CHECK(year_of("Monday, 30-Nov-76 12:00:01 GMT") == 1976);
    CHECK(year_of("Monday, 01-Dec-76 00:00:00 GMT") == 1976);
    CHECK(year_of("Monday, 01-Dec-26 00:00:00 GMT") == 2026);
    CHECK(year_of("Monday, 01-Dec-99 00:00:00 GMT") == 1999);
    CHECK(year_of("Tuesday, 29-Feb-28 00:00:00 GMT") == 2028);
    CHECK_FALSE(parse_http_date("Tuesday, 29-Feb-27 00:00:00 GMT", k_now));
}

TEST_CASE("http date: refuses what is not one", "[unit]") {
    for (const char* text : {"",
                             "Mon",
                             "Mon, 30 Nov 2026",
                             "30 Nov 2026 12:02:00 GMT",
                             "Mon, 30 Nov 2026 12:02 GMT",
                             "Mon, 30 Nov 2026 24:00:00 GMT",
                             "Mon, 30 Nov 2026 12:60:00 GMT",
                             "Mon, 30 Nov 2026 12:00:61 GMT",
                             "Tue, 31 Nov 2026 12:00:00 GMT",
                             "Mon, 29 Feb 2027 12:00:00 GMT",
                             "Mon, 00 Nov 2026 12:00:00 GMT",
                             "Mon, 30 Foo 2026 12:02:00 GMT",
                             "Foo, 30 Nov 2026 12:02:00 GMT",
                             "Mon, 030 Nov 2026 12:02:00 GMT",
                             "Mon, 30 Nov 26 12:02:00 GMT",
                             "Mon, 30 Nov 20266 12:02:00 GMT",
                             "Mon,30 Nov 2026 12:02:00 GMT",
                             "Mon, 30 Nov 2026 12:02:00 PST",
                             "Mon, 30 Nov 2026 12:02:00 GMTx",
                             "Mon, 30 Nov 2026 12:02:00 +100",
                             "Mon, 30 Nov 2026 12:02:00 +2500",
                             "Mon, 30 Nov 2026 12:02:00 GMT ",
                             " Mon, 30 Nov 2026 12:02:00 GMT",
                             "Mon, 30 Nov 2026 +2:02:00 GMT",
                             "Mon Nov  30 12:02:00 2026",
                             "Mon Nov 30 12:02:00 2026 GMT",
                             "Monday, 30-Nov-2026 12:02:00 GMT",
                             "Mon, 30 Nov 2026 1:02:00 GMT"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_http_date(text, k_now));
    }
}

TEST_CASE("rfc 3339: wants date, time with seconds and an offset", "[unit]") {
    CHECK(since_now(parse_rfc3339("2026-11-30T12:02:00Z")) == 2min);
    CHECK(since_now(parse_rfc3339("2026-11-30t12:02:00z")) == 2min);
    CHECK(since_now(parse_rfc3339("2026-11-30T12:00:00.5Z")) == 500ms);
    CHECK(since_now(parse_rfc3339("2026-11-30T12:00:00.0000001Z")) == 1us);
    CHECK(since_now(parse_rfc3339("2026-11-30T13:02:00+01:00")) == 2min);
    for (const char* text : {"2026-11-30T12:02:00", "2026-11-30T12:02Z", "2026-11-30", "2026-11-31T12:02:00Z",
                             "2026-11-30T12:02:00.Z", "2026-11-30T12:02:00+0100", "2026-11-30 12:02:00Z"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_rfc3339(text));
    }
    CHECK(since_now(parse_iso8601("2026-11-30T12:02Z")) == 2min);
    CHECK(since_now(parse_iso8601("2026-11-30T12:02:00")) == 2min);
    CHECK(since_now(parse_iso8601("2026-11-30T13:02:00+0100")) == 2min);
    CHECK_FALSE(parse_iso8601("2026-11-30T12"));
}

TEST_CASE("retry-after: seconds", "[unit]") {
    CHECK(parse_retry_after("0", k_now) == 0s);
    CHECK(parse_retry_after("30", k_now) == 30s);
    CHECK(parse_retry_after("010", k_now) == 10s);
    CHECK(parse_retry_after("0000000030", k_now) == 30s);
    CHECK(parse_retry_after("2.5", k_now) == 2500ms);
    CHECK(parse_retry_after("0.0001", k_now) == 1ms);
    CHECK(parse_retry_after("292.052427053", k_now) == 292053ms);
    CHECK(parse_retry_after("1.9999999", k_now) == 2s);
    CHECK(parse_retry_after("999999999", k_now) == 999999999s);
}

TEST_CASE("retry-after: large numbers end and never wrap", "[unit]") {
    const std::string many(400, '9');
    CHECK(parse_retry_after(many, k_now) == k_longest_delay);
    CHECK(parse_retry_after(many + ".5", k_now) == k_longest_delay);
    CHECK(parse_retry_after("999999999999999", k_now) == k_longest_delay);
    CHECK(parse_retry_after("999999999999", k_now) == 999999999999s);
    CHECK(parse_milliseconds(many) == k_longest_delay);
    CHECK(parse_seconds("9007199254740.992") == k_longest_delay);
    for (const char* text : {"4294967297", "9223372037", "9999999999", "18446744073709551617"}) {
        CAPTURE(text);
        CHECK(parse_retry_after(text, k_now).value_or(0s) > 24h);
    }
}

TEST_CASE("retry-after: moments", "[unit]") {
    CHECK(parse_retry_after("1796040300", k_now) == 5min);
    CHECK(parse_retry_after("1796040012.5", k_now) == 12500ms);
    CHECK(parse_retry_after("1796040300000", k_now) == 5min);
    CHECK(parse_retry_after("10000000000", k_now) == 10'000'000'000s - k_now.time_since_epoch());
    CHECK(parse_retry_after("10000000000000", k_now) == 10'000'000'000s - k_now.time_since_epoch());
    CHECK(parse_retry_after("1796039990", k_now) == 0s);
    CHECK(parse_retry_after("Mon, 30 Nov 2026 12:02:00 GMT", k_now) == 2min);
    CHECK(parse_retry_after("Mon, 30 Nov 2026 10:00:00 GMT", k_now) == 0s);
    CHECK(parse_retry_after("2026-11-30T12:02:00Z", k_now) == 2min);
    CHECK(parse_retry_after("Mon, 30 Nov 2026 12:00:01 GMT", k_now + 1us) == 1s);  // never earlier than asked
}

TEST_CASE("retry-after: joined values, the largest", "[unit]") {
    CHECK(parse_retry_after("5, 120", k_now) == 2min);
    CHECK(parse_retry_after("120,  5", k_now) == 2min);
    CHECK(parse_retry_after("5, 1796040300, 7", k_now) == 5min);
    CHECK_FALSE(parse_retry_after("5,120", k_now));
    CHECK_FALSE(parse_retry_after("5, ", k_now));
    CHECK_FALSE(parse_retry_after(", 5", k_now));
    CHECK_FALSE(parse_retry_after("5, x", k_now));
}

TEST_CASE("retry-after: refuses signs, units, exponents and the rest", "[unit]") {
    for (const char* text : {"",
                             " ",
                             "-30",
                             "+5",
                             "1e3",
                             "0x10",
                             "5.",
                             ".5",
                             "1.2.3",
                             "30 seconds",
                             "30s",
                             "1m0s",
                             "\"30\"",
                             "'30'",
                             "Infinity",
                             "NaN",
                             "inf",
                             "30;w=60",
                             "30 (see docs)",
                             " 30",
                             "30 ",
                             "30\t",
                             "1,5",
                             "1_000",
                             "soon",
                             "\xEF\xBC\x93\xEF\xBC\x90",
                             "30\xC2\xA0",
                             "P30S",
                             "PT30S"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_retry_after(text, k_now));
    }
    CHECK_FALSE(parse_retry_after(std::string_view("30\0", 3), k_now));
}

TEST_CASE("reset: tells its unit by its form", "[unit]") {
    CHECK(parse_reset("41", k_now) == 41s);
    CHECK(parse_reset("64.57", k_now) == 64570ms);
    CHECK(parse_reset("86400", k_now) == 24h);
    CHECK(parse_reset("1796040900", k_now) == 15min);
    CHECK(parse_reset("1796040012.5", k_now) == 12500ms);
    CHECK(parse_reset("1796040900000", k_now) == 15min);
    CHECK(parse_reset("1796039990", k_now) == 0s);
    CHECK(parse_reset("2026-11-30T12:05Z", k_now) == 5min);
    CHECK(parse_reset("Mon, 30 Nov 2026 12:04:00 GMT", k_now) == 4min);
    for (const char* text : {"600000", "86401", "86400.001", "6m0s", "20ms", "1796040900000000000", "-1", "",
                             "Mon Nov 30 2026 13:02:00 GMT+0100 (Central European Standard Time)"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_reset(text, k_now));
    }
}

TEST_CASE("milliseconds: as they are named", "[unit]") {
    CHECK(parse_milliseconds("1500") == 1500ms);
    CHECK(parse_milliseconds("20") == 20ms);
    CHECK(parse_milliseconds("0.5") == 1ms);
    CHECK(parse_milliseconds("1796040300000") == 1796040300000ms);
    CHECK_FALSE(parse_milliseconds("-1"));
    CHECK_FALSE(parse_milliseconds("20ms"));
}

TEST_CASE("pause bounds: a second to a day, a minute for none", "[unit]") {
    const PauseBounds bounds;
    CHECK(bounds.pause_for(0s) == 1s);
    CHECK(bounds.pause_for(20ms) == 1s);
    CHECK(bounds.pause_for(1001ms) == 1001ms);
    CHECK(bounds.pause_for(24h) == 24h);
    CHECK(bounds.pause_for(48h) == 24h);
    CHECK(bounds.pause_for(k_longest_delay) == 24h);
    CHECK(bounds.pause_for(std::nullopt) == 60s);
    const PauseBounds narrow{1s, 10s, 60s};
    CHECK(narrow.pause_for(std::nullopt) == 10s);
    CHECK(narrow.pause_for(1h) == 10s);
    CHECK(PauseBounds{1s, 500ms, 60s}.pause_for(0s) == 500ms);
}
