// SPDX-License-Identifier: MIT
// Random histories: the same calls to all stores, and everything they say compared.
#include "contract/store_walk.hpp"

#include <cstdlib>

#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

constexpr int k_default_steps = 3'000;
constexpr int k_history_steps = 300;
constexpr std::uint64_t k_seed = 20'261'201;

int steps_wanted() {
    const char* text = std::getenv("JT_SUITE_STEPS");
    return text == nullptr ? k_default_steps : std::atoi(text);
}

std::uint64_t first_seed() {
    const char* text = std::getenv("JT_SUITE_SEED");
    return text == nullptr ? k_seed : static_cast<std::uint64_t>(std::atoll(text));
}

}  // namespace

TEST_CASE("store: random histories get the same answers and reports from all", "[contract]") {
    const int wanted = steps_wanted();
    std::map<std::string, int> seen;
    int steps = 0;
    for (std::uint64_t seed = first_seed(); steps < wanted; ++seed) {
        const bool even = seed % 3 == 0;
        Walk walk(seed, even, seen);
        for (int i = 0; i < k_history_steps && steps < wanted; ++i, ++steps) {
            INFO("history " << seed << (even ? ", even" : "") << ", step " << i);
            const std::string difference = walk.step();
            if (!difference.empty()) FAIL(difference);
        }
        INFO("after history " << seed);
        CHECK(walk.compare_all() == "");
    }
    CHECK(steps == wanted);
    // Enough of everything, so that a walk that stands still is seen.
    for (const char* what :
         {"arrival",    "return",      "told to wait",  "told at once", "held back",  "several keys",
          "wake-up",    "cancel",      "pause",         "resume",       "repetition", "registration",
          "forget",     "peek",        "report",        "rest",         "renewal",    "release",
          "settlement", "giving back", "release of all"}) {
        INFO(what << ": " << seen[what]);
        CHECK(seen[what] >= steps / 150);
    }
}

}  // namespace jobthrottle::test
