// SPDX-License-Identifier: MIT
// What a run does with the leases of its attempts, and what its command is told of them.
#include <csignal>
#include <cstdlib>

#include "fakes.hpp"
#include "run/run.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using Told = std::vector<std::string>;

namespace {

// Keeps the order of what changes something.
class Diary final : public DoorTo {
public:
    explicit Diary(Store& store) : DoorTo(store) {}
    Result<LeaseAnswer> release(const Key& k, const Release& r) override {
        entries.push_back(r.give_back ? "release, give back" : "release");
        return DoorTo::release(k, r);
    }
    Result<PauseAnswer> pause(const Key& k, const PauseRequest& r) override {
        entries.emplace_back("pause");
        return DoorTo::pause(k, r);
    }
    Told entries;
};

struct Job : World {
    RunPlan plan{{}, {}, {"job"}, true, true, "memory:", "job", "dev@host:1", OnLeaseLost::warn, {}};
    FakeRunner runner;
    GateOptions options = at_once(1);
    Diary diary{store};

    Gate gate_there() {
        return {options, diary, [] { return Result<std::unique_ptr<Store>>(internal_error("none")); },
                sleeper, events};
    }
    RunResult go() {
        Gate gate = gate_there();
        return run(plan, gate, runner, sleeper, events);
    }
    std::int64_t places() { return report().places; }
    std::int64_t starts() { return report().limits.at(0).starts; }
    std::string variable(std::size_t attempt, const std::string& name) const {
        for (const auto& [key_, value] : runner.commands.at(attempt).extra_environment) {
            if (key_ == name) return value;
        }
        return "(none)";
    }
    void count_successes(const char* rate) {
        options = at(rate);
        options.claims.front().count_successes = true;
    }
};

}  // namespace

TEST_CASE("run: a lease is held while the command runs, and kept by somebody", "[unit]") {
    Job job;
    std::int64_t during = 0;
    job.runner.attempts = {{Exited{0}, "", "", [&] { during = job.places(); }}};
    (void)job.go();
    CHECK(during == 1);
    CHECK(job.places() == 0);
    CHECK(job.runner.companions == 1);
    CHECK(job.runner.commands[0].dies_with_us);
    CHECK(job.diary.entries == Told{"release"});

    Job without;
    without.options = without.at("10/s");
    (void)without.go();
    CHECK(without.runner.companions == 0);
    CHECK(without.diary.entries.empty());
}

TEST_CASE("run: a lease is free however the attempt ends", "[unit]") {
    const std::vector<Attempt> ends = {{Exited{1}},
                                       {Signaled{SIGKILL}},
                                       {NotFound{}},
                                       {NotExecutable{13}},
                                       {Exited{1}, "", "", {}, SIGTERM},
                                       {Exited{0}, "", "", {}, {}, internal_error("no process left")}};
    for (const auto& end : ends) {
        Job job;
        job.runner.attempts = {end};
        (void)job.go();
        CHECK(job.runner.commands.size() == 1);
        CHECK(job.places() == 0);
    }
}

TEST_CASE("run: a lease is free while the job backs off or lines up again", "[unit]") {
    Job job;
    job.plan.job.tries = 2;
    job.plan.job.backoff.list = {10s};
    job.runner.attempts = {{Exited{1}}, {Exited{22}, k_429}};
    std::vector<std::int64_t> places;
    job.sleeper.on_sleep = [&] { places.push_back(job.places()); };
    const RunResult result = job.go();
    CHECK(result.attempts == 3);
    CHECK(places.size() >= 2);
    CHECK(places == std::vector<std::int64_t>(places.size(), 0));
}

TEST_CASE("run: after a refusal the key is paused before its place is free", "[unit]") {
    Job job;
    job.runner.attempts = {{Exited{22}, k_429}};
    CHECK(job.go().attempts == 2);
    CHECK(job.diary.entries == Told{"pause", "release", "release"});
}

TEST_CASE("run: where successes are counted a start that was none is given back", "[unit]") {
    const struct {
        Attempt attempt;
        std::int64_t counted;
    } cases[] = {{{Exited{0}}, 1},  {{Exited{1}}, 0},        {{Signaled{SIGKILL}}, 0},
                 {{NotFound{}}, 0}, {{Exited{0}, k_429}, 0}, {{Exited{0}, "", "", {}, SIGTERM}, 1}};
    for (const auto& [attempt, counted] : cases) {
        Job job;
        job.count_successes("3/h");
        std::int64_t during = 0;
        job.runner.attempts = {attempt};
        job.runner.attempts[0].during = [&] { during = job.starts(); };
        (void)job.go();
        CHECK(job.runner.commands.size() == 1);
        CHECK(during == 1);
        CHECK(job.starts() == counted);
    }
}

TEST_CASE("run: an admission that was taken before is the first attempt", "[unit]") {
    Job job;
    job.runner.attempts = {{Exited{22}, k_429}};
    Gate gate = job.gate_there();
    auto admission = gate.pass();
    REQUIRE(std::holds_alternative<Admitted>(admission));
    const StartId start = std::get<Admitted>(admission).start;
    const RunResult result = run_admitted(job.plan, gate, std::get<Admitted>(std::move(admission)),
                                          job.runner, job.sleeper, job.events);
    CHECK(result.attempts == 2);
    CHECK(job.variable(0, "JOBTHROTTLE_TICKET") == token_of(start));
    CHECK(job.variable(1, "JOBTHROTTLE_TICKET") != token_of(start));
    CHECK(job.places() == 0);
}

TEST_CASE("run: the command is told of its start, and of the leases around it", "[unit]") {
    unsetenv("JOBTHROTTLE_COST_KEY");
    Job job;
    job.options.ancestors = {0xabc, 0x1234567890abcdef};
    (void)job.go();
    const auto start = job.variable(0, "JOBTHROTTLE_TICKET");
    CHECK(start_of_token(start));
    CHECK(job.variable(0, "JOBTHROTTLE_LEASES") == "0000000000000abc,1234567890abcdef," + start);
    CHECK(job.variable(0, "JOBTHROTTLE_COST_KEY") == "(none)");

    Job without;
    without.options = without.at("10/s");
    (void)without.go();
    CHECK(without.variable(0, "JOBTHROTTLE_LEASES") == "(none)");
    without.options.ancestors = {1};
    (void)without.go();
    CHECK(without.variable(1, "JOBTHROTTLE_LEASES") == "0000000000000001");
}

TEST_CASE("run: the command is told which key's cost it may settle", "[unit]") {
    unsetenv("JOBTHROTTLE_COST_KEY");
    Job job;
    job.options = job.at("10/s");
    job.options.claims.emplace_back(key_named("tokens"));
    job.options.claims.back().terms = *Terms::make({*parse_rate("100/s")});
    job.options.claims.back().settles = true;
    (void)job.go();
    CHECK(job.variable(0, "JOBTHROTTLE_COST_KEY") == "tokens");
    CHECK(job.variable(0, "JOBTHROTTLE_KEY") == "acme");

    // The key of a run around this one would stand beside another start.
    setenv("JOBTHROTTLE_COST_KEY", "outer", 1);
    Job inner;
    (void)inner.go();
    CHECK(inner.variable(0, "JOBTHROTTLE_COST_KEY").empty());
    unsetenv("JOBTHROTTLE_COST_KEY");
}

TEST_CASE("token: sixteen hex digits and nothing else", "[unit]") {
    for (const StartId start : {StartId{0}, StartId{1}, StartId{0x7fffffffffffffff}, ~StartId{0}})
        CHECK(start_of_token(token_of(start)) == start);
    CHECK(token_of(0xabc) == "0000000000000abc");
    for (const char* text : {"", "abc", "0000000000000abg", "0000000000000ABC", "00000000000000abc",
                             "+000000000000abc", " 000000000000abc", "0x00000000000abc"})
        CHECK_FALSE(start_of_token(text));
}
