// SPDX-License-Identifier: MIT
// What a team registers holds on every machine, whatever an old command line there still says.
#include <algorithm>

#include "base/text.hpp"
#include "paced.hpp"
#include "places.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr Duration k_slot = 750ms;  // of 80 a minute

std::size_t lines_saying(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (const std::string_view line : split(text, '\n')) {
        if (line.find(what) != std::string_view::npos) ++found;
    }
    return found;
}

Argv stale(const Argv& more, const Argv& command) {
    Argv args = {"run", "-k", "k", "-r", "500/min", "-w", "forever"};
    args.insert(args.end(), more.begin(), more.end());
    args.emplace_back("--");
    args.insert(args.end(), command.begin(), command.end());
    return args;
}

void check_registered(Where where) {
    const Site site(where);
    ProbeLog log(site.sandbox().path());
    REQUIRE(site.run({"register", "k", "-r", "80/min", "-j", "4"}).code == 0);

    // Of five jobs that bring 500/min four run, one every 750 ms; who brings nothing is held to the same.
    Crowd crowd;
    for (int i = 0; i < 4; ++i)
        crowd.add(site.start(stale({}, log.command({std::to_string(i), 1min, 4}))));
    crowd.watch_until([&] { return log.read().size() == 4; });
    std::vector<BootTime> begun;
    for (const Probed& probe : log.read())
        begun.push_back(probe.began);
    std::sort(begun.begin(), begun.end());
    CHECK(begun.back() - begun.front() >= 3 * k_slot - k_lateness - site.standstill().longest());
    for (const Argv& args : {stale({"-n"}, {"true"}), Argv{"run", "-k", "k", "-n", "--", "true"}}) {
        // Not only for the next slot.
        crowd.watch_for(k_slot + 300ms);
        const ProgramResult fifth = site.run(args);
        INFO(describe(fifth));
        CHECK(fifth.code == 75);
        CHECK_THAT(fifth.err, ContainsSubstring("all 4 places taken"));
    }
    for (std::size_t i = 0; i < crowd.size(); ++i)
        crowd.at(i).kill(SIGTERM);
    for (const ProgramResult& result : crowd.finish()) {
        INFO(describe(result));
        CHECK(lines_saying(result.err, "is registered at 80/min") == 1);
    }
    CHECK(log.count_over() == 0);
}

}  // namespace

TEST_CASE("registered: a stale rate is held to what the team registered (local store)", "[e2e]") {
    check_registered(Where::local);
}

TEST_CASE("registered: a stale rate is held to what the team registered (Redis)", "[e2e]") {
    check_registered(Where::redis);
}

TEST_CASE("registered: a job is told once that its numbers do not hold, whatever it has to ask", "[e2e]") {
    const Site site(Where::local);
    REQUIRE(site.run({"register", "k", "-r", "20/s", "-j", "4"}).code == 0);
    const ProgramResult result = site.run({"run", "-k", "k", "-r", "100/s", "--tries", "3", "--backoff", "0",
                                           "--", "sh", "-c", "echo tried; exit 7"});
    INFO(describe(result));
    CHECK(result.code == 7);
    CHECK(result.out == "tried\ntried\ntried\n");
    CHECK(lines_saying(result.err, "is registered at 20/s, 4 at once") == 1);
    CHECK_THAT(result.err, ContainsSubstring("--override"));
}
