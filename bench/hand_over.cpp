// SPDX-License-Identifier: MIT
// Measures how long a place is empty between two commands: this program on both stores, flock(1), and sem
// (GNU parallel). From the last act of one command to the first of the next, by their own clocks.
//   hand_over [COUNT [HOLD_MS]...]     by default 10 times each with 500, 3000 and 12000 ms
// Needs redis-server, flock (util-linux) and sem (the Debian package parallel).
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <future>
#include <thread>
#include <vector>

#include "e2e/hand_overs.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;

namespace {

struct Row {
    const char* name;
    Keeper keeper;
};
constexpr Row k_rows[] = {
    {"local", Keeper::local}, {"redis", Keeper::redis}, {"flock", Keeper::flock}, {"sem --fg", Keeper::sem}};

double in_ms(Duration length) {
    return static_cast<double>(length.count()) / 1000.0;
}

// All keepers beside each other, but not at the same moments.
void measure(std::size_t count, Duration hold) {
    std::vector<std::future<HandOvers>> measured;
    Duration wait{};
    for (const Row& row : k_rows) {
        measured.push_back(std::async(std::launch::async, [=] {
            std::this_thread::sleep_for(wait);
            return measure_hand_overs(row.keeper, hold, count);
        }));
        wait += hold / 5;
    }
    for (std::size_t i = 0; i < measured.size(); ++i) {
        const HandOvers found = measured[i].get();
        std::printf("%7.1f s  %-9s %9.2f %9.2f %6zu %s\n", in_ms(hold) / 1000, k_rows[i].name,
                    in_ms(found.median()), in_ms(found.most()), found.took.size(),
                    found.overlapped ? "OVERLAPPED" : "");
    }
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10;
    std::vector<Duration> holds;
    for (int i = 2; i < argc; ++i)
        holds.push_back(std::chrono::milliseconds{std::atol(argv[i])});
    if (holds.empty()) {
        using namespace std::chrono_literals;
        holds = {500ms, 3s, 12s};
    }
    std::printf("     held  keeper    median ms   most ms  times\n");
    try {
        for (const Duration hold : holds)
            measure(count, hold);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "hand_over: %s\n", error.what());
        return 1;
    }
    return 0;
}
