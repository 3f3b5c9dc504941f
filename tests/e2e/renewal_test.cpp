// SPDX-License-Identifier: MIT
// Jobs that take longer than their lease: kept while it can be renewed, and what is done where it cannot.
#include <csignal>

#include "places.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr Duration k_lock_for = 2s;

void check_renewed(Where where) {
    Places places(where, 1, {"--lock-for", "1s"});
    const auto holder = places.start_to_run({"holder", 3s});
    const auto first = places.start_to_wait({"first", 10ms});
    const auto second = places.start_to_wait({"second", 10ms});
    for (const ProgramResult& result : places.crowd().finish()) {
        INFO(describe(result));
        CHECK(result.code == 0);
        CHECK(result.err.find("lost") == std::string::npos);
    }
    CHECK(places.log().count_over() == 0);
    CHECK(places.began(first) >= places.log().find(holder.name)->ended.value());
    CHECK(places.began(second) >= places.log().find(first.name)->ended.value());
}

// One place that is held over an outage of its Redis, by a job with this --on-lease-lost.
struct Outage : Places {
    explicit Outage(const std::string& on_lease_lost)
        : Places(Where::redis, 1,
                 {"--lock-for", "2s", "--command-timeout", "500ms", "--on-lease-lost", on_lease_lost}) {}

    void freeze() {
        site().redis().freeze();
        frozen = BootClock::now();
    }
    // However much of the lease is left, it is over by then.
    void outlast_the_lease() { crowd().watch_for(frozen + k_lock_for + 1500ms - BootClock::now()); }

    // One at a time again, and nothing is held when all are done.
    void check_count() {
        for (int i = 0; i < 4; ++i)
            start({"later-" + std::to_string(i), 100ms});
        crowd().watch_until([&] { return log().find("later-3") && crowd().running().empty(); });
        const std::vector<Probed>& probes = log().read();
        for (std::size_t i = probes.size() - 3; i < probes.size(); ++i)
            CHECK(probes[i].began >= probes[i - 1].ended.value());
        CHECK(site().inspect("k", "places") == 0);
        CHECK(site().inspect("k", "waiting") == 0);
    }

    BootTime frozen;
};

}  // namespace

TEST_CASE("renewal: a job three times as long as its lease keeps it (local store)", "[e2e]") {
    check_renewed(Where::local);
}

TEST_CASE("renewal: a job three times as long as its lease keeps it (Redis)", "[e2e]") {
    check_renewed(Where::redis);
}

TEST_CASE("renewal: a Redis away for longer than the lease is told of, and the job goes on", "[e2e]") {
    Outage outage("warn");
    const auto holder = outage.start_to_run({"holder", 6500ms});
    outage.freeze();
    outage.wrapper(holder).wait_for_err("the place of this job was lost", k_lock_for + 10s);
    outage.outlast_the_lease();
    outage.site().redis().thaw();
    // Nobody else wants it, so that it is taken again; and it counts.
    outage.wrapper(holder).wait_for_err("is held again", 10s);
    CHECK(outage.site().inspect("k", "places") == 1);
    CHECK(outage.site().run({"run", "-k", "k", "-j", "1", "-n", "--", "true"}).code == 75);
    CHECK_FALSE(has_ended(outage.command(holder)));
    const ProgramResult result = outage.wrapper(holder).wait();
    INFO(describe(result));
    CHECK(result.code == 0);
    CHECK(outage.log().find("holder")->ended.has_value());
    outage.check_count();
}

TEST_CASE("renewal: a Redis away for longer than the lease lets another in beside a job that is told",
          "[e2e]") {
    Outage outage("warn");
    const auto holder = outage.start_to_run({"holder", 6500ms});
    outage.start_to_wait({"waiter", 100ms});
    outage.freeze();
    outage.wrapper(holder).wait_for_err("the place of this job was lost", k_lock_for + 10s);
    outage.outlast_the_lease();
    outage.site().redis().thaw();
    outage.crowd().watch_until([&] { return outage.crowd().running().empty(); });
    const ProgramResult result = outage.wrapper(holder).wait();
    INFO(describe(result));
    CHECK(result.code == 0);
    CHECK(outage.log().find("waiter")->ended.has_value());
    outage.check_count();
}

TEST_CASE("renewal: with --on-lease-lost kill the command ends before another could start", "[e2e]") {
    Outage outage("kill");
    const auto holder = outage.start_to_run({"holder", 1min});
    const auto waiter = outage.start_to_wait({"waiter", 100ms});
    const pid_t command = outage.command(holder);
    outage.freeze();
    outage.wait_ended(command);
    CHECK(BootClock::now() - outage.frozen <= k_lock_for + outage.site().standstill().together());
    outage.outlast_the_lease();
    outage.site().redis().thaw();
    outage.wait_begun(waiter, 20s);
    outage.crowd().watch_until([&] { return outage.crowd().running().empty(); });
    const ProgramResult result = outage.wrapper(holder).wait();
    INFO(describe(result));
    CHECK(result.status() == 128 + SIGTERM);
    CHECK_THAT(result.err, ContainsSubstring("--on-lease-lost kill"));
    CHECK(outage.log().count_over() == 0);
    outage.check_count();
}

TEST_CASE("renewal: kill ends a command that ignores TERM, too, before another could start", "[e2e]") {
    Outage outage("kill");
    const auto holder = outage.start_to_run({"holder", 1min, 0, true});
    const pid_t command = outage.command(holder);
    outage.freeze();
    outage.wait_ended(command);
    CHECK(BootClock::now() - outage.frozen <= k_lock_for + outage.site().standstill().together());
    outage.site().redis().thaw();
    CHECK(outage.wrapper(holder).wait().status() == 128 + SIGKILL);
    outage.check_count();
}
