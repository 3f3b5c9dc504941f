// SPDX-License-Identifier: MIT
// A holder whose lease the store has lost with its state.
#include "core/attempts.hpp"
#include "core/decide.hpp"
#include "core/memory_records.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t k_now_us = 1'700'000'000'000'000;
constexpr std::int64_t k_old_birth_us = 1'600'000'000'000'000;

Renewal renewal_of(LeaseId id) {
    return {id, 60s, {}, 1, k_old_birth_us, "job dev@host:1"};
}

std::int64_t places(const MemoryRecords& records) {
    return records.header().value_or(Header{}).places;
}

}  // namespace

TEST_CASE("lease: a state that was lost gives the place back to its holder, and to no more", "[unit]") {
    MemoryRecords records;
    CHECK(renew(records, k_now_us, renewal_of(1)).state == LeaseState::retaken);
    CHECK(places(records) == 1);
    CHECK(renew(records, k_now_us + 1, renewal_of(1)).state == LeaseState::held);
    CHECK(renew(records, k_now_us + 2, renewal_of(2)).state == LeaseState::lost);
    CHECK(places(records) == 1);
    // It lasts like any other and is released like any other.
    REQUIRE(records.lease(1));
    CHECK(records.lease(1)->until_us == k_now_us + 1 + 60'000'000);
    CHECK(release(records, k_now_us + 3, {1, false}).state == LeaseState::held);
    CHECK(places(records) == 0);
}

TEST_CASE("lease: what was released by hand is not taken again while the key's state lives", "[unit]") {
    MemoryRecords records;
    Question question;
    question.id = 1;
    question.place = 101;
    question.terms = *Terms::make({*parse_rate("1/h")}, 1);
    REQUIRE(ask(records, k_now_us, question, {2s}).leased);
    Renewal again = renewal_of(1);
    again.birth_us = records.header()->birth_us;  // as the holder was told
    CHECK(release_leases(records, k_now_us + 1, false).size() == 1);
    CHECK(renew(records, k_now_us + 2, again).state == LeaseState::unknown);
    again.concurrency = 0;
    again.birth_us = k_old_birth_us;
    CHECK(renew(records, k_now_us + 3, again).state == LeaseState::unknown);
    CHECK(places(records) == 0);
}
