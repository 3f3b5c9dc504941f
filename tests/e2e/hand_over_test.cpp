// SPDX-License-Identifier: MIT
// How long a place is empty between two commands, beside flock in the same minute. bench/hand_over measures
// it at length.
#include <future>

#include "hand_overs.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;

namespace {

constexpr Duration k_hold = 500ms;
constexpr std::size_t k_count = 10;
constexpr int k_more_attempts = 3;
constexpr Duration k_local = 5ms;
constexpr Duration k_redis = 10ms;

struct Measured {
    HandOvers local, redis, flock;

    // What flock takes is what the machine takes now to start a command.
    bool local_in_time() const { return local.median() <= k_local + flock.median(); }
    bool redis_in_time() const { return redis.median() <= k_redis + flock.median(); }
};

Measured measure() {
    const auto from_now = [](Keeper keeper, Duration wait) {
        return std::async(std::launch::async, [=] {
            std::this_thread::sleep_for(wait);
            return measure_hand_overs(keeper, k_hold, k_count);
        });
    };
    // Beside each other, but not at the same moments.
    auto local = from_now(Keeper::local, 0ms);
    auto redis = from_now(Keeper::redis, 150ms);
    auto flock = from_now(Keeper::flock, 300ms);
    return {local.get(), redis.get(), flock.get()};
}

}  // namespace

TEST_CASE("hand-over: the next command begins within milliseconds", "[e2e]") {
    Measured measured = measure();
    for (int again = 0; again < k_more_attempts && !(measured.local_in_time() && measured.redis_in_time());
         ++again)
        measured = measure();
    INFO("medians in us: local " << measured.local.median().count() << ", Redis "
                                 << measured.redis.median().count() << ", flock "
                                 << measured.flock.median().count());
    CHECK(measured.local.took.size() == k_count);
    CHECK(measured.redis.took.size() == k_count);
    CHECK(measured.local_in_time());
    CHECK(measured.redis_in_time());
    CHECK_FALSE(measured.local.overlapped);
    CHECK_FALSE(measured.redis.overlapped);
}
