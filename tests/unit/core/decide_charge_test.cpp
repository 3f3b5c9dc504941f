// SPDX-License-Identifier: MIT
// What is charged beyond a window. contract.md section 1, settle.
#include "support/catch.hpp"
#include "support/desk.hpp"

using namespace jobthrottle;
using namespace jobthrottle::testing;
using namespace std::chrono_literals;

namespace {

// One start on an idle key, settled for more than the limit.
Desk overcharged(const std::string& limit, std::int64_t guess, std::int64_t cost) {
    Desk desk(limit, 60s);
    desk.usual().settles = true;
    REQUIRE(say(desk.ask_costing(1, guess)) == "start now");
    REQUIRE(desk.settle(desk.last_id(), cost).cost_before == guess);
    return desk;
}

void check_that_the_window_is_all(const std::string& limit, Duration period, std::int64_t guess,
                                  std::int64_t cost) {
    INFO(limit << ", " << cost);
    Desk waiting = overcharged(limit, guess, cost);
    CHECK(waiting.ask(2).earliest == period);
    CHECK(waiting.at(period - 200ms).ask(2).kind == AnswerKind::wait);
    CHECK(say(waiting.at(period).ask(2)) == "start now");

    Desk fresh = overcharged(limit, guess, cost);
    CHECK(fresh.at(period - 200ms).peek().earliest == 200ms);
    CHECK(say(fresh.at(period).ask(3)) == "start now");
}

}  // namespace

TEST_CASE("charge: more than a window holds is over with the window, for all alike", "[unit]") {
    check_that_the_window_is_all("10/s", 1s, 2, 50);
    check_that_the_window_is_all("100/3s", 3s, 1, 1'000'000);
    check_that_the_window_is_all("7/3s", 3s, 3, 8);  // slots with a rest
    check_that_the_window_is_all("10/s,burst=10", 1s, 10, 11);
}

TEST_CASE("charge: what fits the window moves the slots as far as it says", "[unit]") {
    Desk desk = overcharged("10/s", 2, 9);
    CHECK(desk.ask(2).earliest == 900ms);
}

TEST_CASE("charge: a late charge moves nothing back", "[unit]") {
    Desk desk = overcharged("10/s", 1, 1);
    const LeaseId first = desk.last_id();
    REQUIRE(say(desk.at(900ms).ask_costing(2, 8)) == "start now");
    desk.settle(first, 50);
    CHECK(desk.ask(3).earliest == 800ms);  // 8 slots of the second, beyond the window of the first
}
