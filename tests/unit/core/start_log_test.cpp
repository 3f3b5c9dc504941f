// SPDX-License-Identifier: MIT
#include "core/start_log.hpp"

#include <algorithm>

#include "core/memory_records.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace std::chrono_literals;

namespace {

// A log beside the plain list of all starts.
struct Logged {
    MemoryRecords records;
    Header header;
    std::vector<std::int64_t> all;

    void add(std::int64_t at, const Rate& rate) {
        StartLogs(records, header).add(at, 1, {rate});
        all.push_back(at);
        m_rate = rate;
    }
    // By the log for the rate of the last start.
    std::optional<std::int64_t> back(std::int64_t count) {
        return StartLogs(records, header).start_back(m_rate, count);
    }
    std::int64_t count_after(std::int64_t us) { return StartLogs(records, header).count_after(m_rate, us); }
    std::int64_t truth(std::int64_t count) const { return all[all.size() - static_cast<std::size_t>(count)]; }

private:
    Rate m_rate = *Rate::make(1, 1h);
};

}  // namespace

TEST_CASE("start log: exact for N up to 2,044", "[unit]") {
    for (const std::int64_t n : {1, 2, 7, 8, 9, 1000, 2044}) {
        const Rate rate = *Rate::make(n, 1h);
        Logged log;
        CHECK_FALSE(log.back(1).has_value());
        for (std::int64_t i = 1; i <= 3 * n; ++i) {
            log.add(i * 10, rate);
            REQUIRE(log.back(1) == log.truth(1));
            if (i >= n) REQUIRE(log.back(n) == log.truth(n));
            if (i < n) REQUIRE_FALSE(log.back(n).has_value());
        }
        CHECK(log.records.log(0).size() <= 2045);
    }
}

TEST_CASE("start log: above that never early and at most a thousandth late", "[unit]") {
    for (const std::int64_t n : {2045, 4088, 10'000, 1'000'000}) {
        const Rate rate = *Rate::make(n, 1h);
        const std::int64_t group = (n + 2043) / 2044;
        Logged log;
        for (std::int64_t i = 1; i <= n + 3 * group; ++i)
            log.add(i, rate);
        for (std::int64_t more = 0; more < 3 * group; ++more) {
            log.add(log.all.back() + 1, rate);
            const auto seen = log.back(n);
            REQUIRE(seen.has_value());
            REQUIRE(*seen >= log.truth(n));
            REQUIRE(*seen - log.truth(n) < group);  // one start is one microsecond here
        }
        CHECK(log.records.log(0).size() <= 2045);
        CHECK(group - 1 <= n / 1000);
    }
}

TEST_CASE("start log: other numbers lay it out anew and no start seems older than it is", "[unit]") {
    const std::int64_t numbers[] = {8, 5000, 100, 1'000'000, 3000, 2044, 8, 20'000, 1};
    Logged log;
    std::int64_t at = 1'000'000;
    for (const std::int64_t n : numbers) {
        const Rate rate = *Rate::make(n, 1h);
        for (int i = 0; i < 700; ++i)
            log.add(at += 3, rate);
        const auto all = static_cast<std::int64_t>(log.all.size());
        std::int64_t reached = 0;
        for (std::int64_t count = 1; count <= all; ++count) {
            const auto seen = log.back(count);
            if (!seen) break;
            REQUIRE(*seen >= log.truth(count));
            reached = count;
        }
        INFO("N = " << n << ", kept " << reached << " of " << all);
        CHECK(reached >= std::min<std::int64_t>(n, 700));
        CHECK(log.back(1) == log.truth(1));
    }
}

TEST_CASE("start log: growing keeps what there was, shrinking moves nothing", "[unit]") {
    Logged log;
    const Rate eight = *Rate::make(8, 1h), hundred = *Rate::make(100, 1h);
    for (std::int64_t i = 1; i <= 20; ++i)
        log.add(i * 10, eight);
    log.add(210, hundred);
    CHECK(log.header.rows[0].log_capacity == 128);
    for (std::int64_t count = 1; count <= 17; ++count)
        CHECK(log.back(count) == log.truth(count));
    CHECK_FALSE(log.back(18).has_value());
    log.add(220, eight);
    CHECK(log.header.rows[0].log_capacity == 128);
    CHECK(log.back(18) == log.truth(18));
}

TEST_CASE("start log: a group that is part full when it is laid out is filled up", "[unit]") {
    Logged log;
    for (std::int64_t i = 1; i <= 7; ++i)
        log.add(i * 10, *Rate::make(8, 1h));
    log.add(80, *Rate::make(6000, 1h));  // groups of three: 1-3, 4-6, 7-8
    CHECK(log.header.rows[1].log_fill == 2);
    for (const std::int64_t count : {1, 3, 6})
        CHECK(log.back(count) == log.truth(count));
    CHECK(log.back(2) == log.truth(1));
    CHECK(log.back(5) == log.truth(3));
    CHECK_FALSE(log.back(9).has_value());
}

TEST_CASE("start log: counts the starts later than a moment", "[unit]") {
    Logged log;
    const Rate rate = *Rate::make(100, 1h);
    CHECK(log.count_after(0) == 0);
    for (std::int64_t i = 1; i <= 150; ++i)
        log.add(i * 10, rate);
    CHECK(log.count_after(1500) == 0);
    CHECK(log.count_after(1499) == 1);
    CHECK(log.count_after(1000) == 50);
    CHECK(log.count_after(999) == 51);

    Logged grouped;
    const Rate many = *Rate::make(10'000, 1h);
    for (std::int64_t i = 1; i <= 12'000; ++i)
        grouped.add(i, many);
    const std::int64_t counted = grouped.count_after(5000);
    CHECK(counted >= 7000);
    CHECK(counted < 7005);
}
