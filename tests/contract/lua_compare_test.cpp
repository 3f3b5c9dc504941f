// SPDX-License-Identifier: MIT
// The decision in C++ and the one in Lua are the same: every answer, and every byte of the state after it.
#include <cstdlib>
#include <random>

#include "lua_walk.hpp"
#include "support/catch.hpp"

namespace jobthrottle::test {

namespace {

using namespace std::chrono_literals;

constexpr int k_default_steps = 20'000;
constexpr std::uint64_t k_seed = 20'261'130;

int steps_wanted() {
    const char* text = std::getenv("JT_COMPARE_STEPS");
    return text == nullptr ? k_default_steps : std::atoi(text);
}

}  // namespace

TEST_CASE("lua: random histories give the same answers and the same bytes as in C++", "[contract]") {
    Pair pair;
    const int wanted = steps_wanted();
    std::mt19937_64 lengths(k_seed);
    int steps = 0;
    for (std::uint64_t seed = k_seed; steps < wanted; ++seed) {
        LuaWalk walk(pair, seed);
        const int length = lengths() % 25 == 0 ? 3000 : 50 + static_cast<int>(lengths() % 350);
        // Where the clock of the test stands still for long the real expiry of the records comes.
        const BootTime over = BootClock::now() + 20s;
        for (int i = 0; i < length && steps < wanted && BootClock::now() < over; ++i, ++steps) {
            INFO("history " << seed << ", step " << i << " of " << length);
            const std::string difference = walk.step();
            if (difference.empty()) continue;
            FAIL(walk.what() << ": " << difference);
        }
        pair.server().cli({"FLUSHALL"});
    }
    CHECK(steps >= wanted);
}

}  // namespace jobthrottle::test
