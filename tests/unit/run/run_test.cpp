// SPDX-License-Identifier: MIT
#include "run/run.hpp"

#include <unistd.h>

#include <csignal>

#include "base/fd.hpp"
#include "core/duration.hpp"
#include "fakes.hpp"
#include "support/catch.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using Told = std::vector<std::string>;

namespace {

struct Job : World {
    RunPlan plan{{}, {}, {"job"}, true, true, "memory:", "job", "dev@host:1", OnLeaseLost::warn, {}};
    FakeRunner runner;
    GateOptions options = at("10/s");

    RunResult go() {
        Gate the_gate = gate(options);
        return run(plan, the_gate, runner, sleeper, events);
    }
    std::string variable(std::size_t attempt, const std::string& name) const {
        for (const auto& [key_, value] : runner.commands.at(attempt).extra_environment) {
            if (key_ == name) return value;
        }
        return "(none)";
    }
};

int code_of(const RunResult& result) {
    REQUIRE(std::holds_alternative<Ran>(result.outcome));
    return exit_code_of(std::get<Ran>(result.outcome).end);
}

RefusedForGood refused_of(const RunResult& result) {
    REQUIRE(std::holds_alternative<RefusedForGood>(result.outcome));
    return std::get<RefusedForGood>(result.outcome);
}

// A delay that was asked for counts from when it was read, on the real clock.
bool nearly(Duration length, Duration whole) {
    return length > whole - 10s && length <= whole;
}

// Standard input is this pipe while it lives.
class PipeOnInput {
public:
    PipeOnInput() {
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        m_before = dup(0);
        REQUIRE(dup2(ends[0], 0) == 0);
        if (ends[0] != 0) close(ends[0]);
        m_write.reset(ends[1]);
    }
    ~PipeOnInput() {
        if (m_before < 0) {
            close(0);
        } else {
            dup2(m_before, 0);
            close(m_before);
        }
    }
    PipeOnInput(const PipeOnInput&) = delete;
    PipeOnInput& operator=(const PipeOnInput&) = delete;
    void give(const std::string& text) {
        REQUIRE(write(m_write.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    }
    static void read_some() {
        char c = 0;
        REQUIRE(read(0, &c, 1) == 1);
    }

private:
    int m_before = -1;
    Fd m_write;
};

}  // namespace

TEST_CASE("run: a command that succeeds or fails runs once", "[unit]") {
    for (const int code : {0, 1, 255}) {
        Job job;
        job.runner.attempts = {{Exited{code}}};
        CHECK(code_of(job.go()) == code);
        CHECK(job.runner.commands.size() == 1);
        CHECK(job.events.told.empty());
    }
    Job job;
    job.runner.attempts = {{Signaled{SIGKILL}}};
    CHECK(code_of(job.go()) == 128 + SIGKILL);
}

TEST_CASE("run: what cannot be run is not tried again", "[unit]") {
    Job job;
    job.plan.job.tries = 5;
    job.runner.attempts = {{NotFound{}}};
    CHECK(code_of(job.go()) == 127);
    CHECK(job.runner.commands.size() == 1);
    Job other;
    other.plan.job.tries = 5;
    other.runner.attempts = {{NotExecutable{13}}};
    CHECK(code_of(other.go()) == 126);
    CHECK(other.runner.commands.size() == 1);
}

TEST_CASE("run: a refused attempt pauses the key and runs again without spending a try", "[unit]") {
    Job job;
    job.runner.attempts = {{Exited{22}, k_429}, {Exited{22}, k_429}, {Exited{0}}};
    const RunResult result = job.go();
    CHECK(code_of(result) == 0);
    CHECK(result.attempts == 3);
    CHECK(result.refusals == 2);
    CHECK(nearly(job.sleeper.gone(), 60s));
    CHECK(nearly(result.waited, 60s));
    CHECK(job.events.told == Told{"refused, lines up", "refused, lines up"});
    CHECK(job.events.last_refusal->note.job == "job");
    CHECK(job.events.last_refusal->note.stream == "stdout");
    CHECK(job.variable(0, "JOBTHROTTLE_ATTEMPT") == "1");
    CHECK(job.variable(2, "JOBTHROTTLE_ATTEMPT") == "3");
    CHECK(nearly(*parse_duration(job.variable(2, "JOBTHROTTLE_WAITED")), 60s));
    CHECK(job.variable(0, "JOBTHROTTLE_KEY") == "acme");
    CHECK(job.variable(0, "JOBTHROTTLE_STORE") == "memory:");
}

TEST_CASE("run: failed attempts spend tries, with their backoff between", "[unit]") {
    Job job;
    job.plan.job.tries = 3;
    job.plan.job.backoff.list = {2s, 10s};
    job.runner.attempts = {{Exited{1}}, {Exited{22}, k_429}, {Exited{2}}, {Exited{3}}};
    const RunResult result = job.go();
    CHECK(code_of(result) == 3);
    CHECK(result.attempts == 4);
    CHECK(nearly(job.sleeper.gone(), 42s));
    CHECK(nearly(result.waited, 30s));  // the backoff is no wait for the throttle
    CHECK(job.events.told == Told{"retry, 2 left", "refused, lines up", "retry, 1 left"});
}

TEST_CASE("run: success on a later try ends it", "[unit]") {
    Job job;
    job.plan.job.tries = 3;
    job.plan.job.backoff.list = {0s};
    job.runner.attempts = {{Exited{1}}, {Exited{0}}};
    CHECK(code_of(job.go()) == 0);
    CHECK(job.runner.commands.size() == 2);
}

TEST_CASE("run: --rerun never and --max-refusals end with what was refused", "[unit]") {
    Job never;
    never.plan.job.rerun = Rerun::never;
    never.runner.attempts = {{Exited{22}, k_429}};
    const auto refused = refused_of(never.go());
    CHECK(refused.why == RefusedForGood::Why::rerun_never);
    CHECK(nearly(refused.pause, 30s));
    CHECK(nearly(never.report().paused_for, 30s));
    CHECK(never.events.told == Told{});

    Job bounded;
    bounded.plan.job.max_refusals = 2;
    bounded.runner.attempts = {{Exited{22}, k_429}, {Exited{22}, k_429}};
    CHECK(refused_of(bounded.go()).why == RefusedForGood::Why::max_refusals);
    CHECK(bounded.runner.commands.size() == 2);
}

TEST_CASE("run: an attempt that exited 0 runs again only for an HTTP client or with --rerun always",
          "[unit]") {
    Job plain;
    plain.runner.attempts = {{Exited{0}, k_429}};
    CHECK(code_of(plain.go()) == 0);
    CHECK(plain.runner.commands.size() == 1);
    CHECK(nearly(plain.report().paused_for, 30s));

    Job client;
    client.plan.argv = {"/usr/bin/curl", "-si"};
    client.runner.attempts = {{Exited{0}, k_429}};
    CHECK(code_of(client.go()) == 0);
    CHECK(client.runner.commands.size() == 2);

    Job always;
    always.plan.job.rerun = Rerun::always;
    always.runner.attempts = {{Exited{0}, k_429}};
    CHECK(code_of(always.go()) == 0);
    CHECK(always.runner.commands.size() == 2);
}

TEST_CASE("run: an exit code can say that it was refused", "[unit]") {
    Job job;
    job.plan.rules.exit_rules = {{254, 5s}, {7, std::nullopt}};
    job.runner.attempts = {{Exited{254}}, {Exited{7}}, {Exited{1}}};
    CHECK(code_of(job.go()) == 1);
    CHECK(job.sleeper.gone() == 65s);
    CHECK(job.events.last_refusal->note.stream == "exit code");
}

TEST_CASE("run: a stop signal ends the retries", "[unit]") {
    SECTION("to the wrapper while the command runs") {
        Job job;
        job.plan.job.tries = 5;
        job.runner.attempts = {{Exited{1}, "", "", {}, SIGTERM}};
        CHECK(code_of(job.go()) == 1);
        CHECK(job.runner.commands.size() == 1);
    }
    SECTION("the command died of INT") {
        Job job;
        job.plan.job.tries = 5;
        job.runner.attempts = {{Signaled{SIGINT}}};
        CHECK(code_of(job.go()) == 128 + SIGINT);
        CHECK(job.runner.commands.size() == 1);
    }
    SECTION("while it backs off") {
        Job job;
        job.plan.job.tries = 5;
        job.plan.job.backoff.list = {1h};
        job.runner.attempts = {{Exited{1}}};
        job.sleeper.stop_at = job.sleeper.now() + 3s;
        const RunResult result = job.go();
        REQUIRE(std::holds_alternative<Interrupted>(result.outcome));
        CHECK(job.sleeper.gone() == 3s);
    }
    SECTION("while it waits out the pause") {
        Job job;
        job.runner.attempts = {{Exited{22}, k_429}};
        job.sleeper.stop_at = job.sleeper.now() + 3s;
        const RunResult result = job.go();
        REQUIRE(std::holds_alternative<Interrupted>(result.outcome));
        CHECK(job.report().waiting.empty());
    }
}

TEST_CASE("run: a refused job lines up at the back", "[unit]") {
    Job job;
    job.options = job.at("1/s");
    job.runner.attempts = {{Exited{22}, k_429, "", [&job] {
                                (void)job.ask("1/s", 5, 50);
                                (void)job.ask("1/s", 6, 60);
                            }}};
    const RunResult result = job.go();
    CHECK(code_of(result) == 0);
    CHECK(result.attempts == 2);
    CHECK(job.events.last_status->answer.number == 3);
}

TEST_CASE("run: --max-wait counts the pause after a refusal", "[unit]") {
    Job job;
    job.options.max_wait = 29s;
    job.runner.attempts = {{Exited{22}, k_429}};
    const RunResult result = job.go();
    REQUIRE(std::holds_alternative<Throttled>(result.outcome));
    CHECK(std::get<Throttled>(result.outcome).why == Throttled::Why::too_long);
    CHECK(result.attempts == 1);
    CHECK(job.sleeper.gone() == 0s);
    CHECK(job.events.told == Told{"refused, outlasts the wait"});
}

TEST_CASE("run: a refusal in a longer pause by hand lines up, whatever --max-wait", "[unit]") {
    Job job;
    job.options.max_wait = 29s;
    job.runner.attempts = {{Exited{22}, k_429, "", [&job] {
                                (void)job.store.pause(job.key, {60s, false, true, "by hand"});
                            }}};
    const RunResult result = job.go();
    REQUIRE(std::holds_alternative<Throttled>(result.outcome));
    CHECK(std::get<Throttled>(result.outcome).why == Throttled::Why::waited_out);
    CHECK(job.events.told == Told{"refused, lines up"});
}

TEST_CASE("run: a refusal with --no-wait is told by the end alone", "[unit]") {
    Job job;
    job.options.no_wait = true;
    job.runner.attempts = {{Exited{22}, k_429}};
    const RunResult result = job.go();
    REQUIRE(std::holds_alternative<Throttled>(result.outcome));
    CHECK(std::get<Throttled>(result.outcome).why == Throttled::Why::no_wait);
    CHECK(job.events.told == Told{"refused, outlasts the wait"});
}

TEST_CASE("run: every answer and attempt is told, and who failed how", "[unit]") {
    Job job;
    job.plan.job.tries = 2;
    job.runner.attempts = {{Exited{3}}, {Signaled{9}}};
    CHECK(code_of(job.go()) == 137);
    CHECK(job.events.answers >= 2);
    CHECK(job.events.attempts == Told{"1 job", "1 exit 3", "2 job", "2 exit 137"});
    REQUIRE(job.events.last_failure);
    CHECK(job.events.last_failure->key == job.key);
    CHECK(job.events.last_failure->job == "job");
    CHECK(exit_code_of(job.events.last_failure->end) == 3);
    CHECK(job.events.last_failure->tries_left == 1);
}

TEST_CASE("run: a pause that the store could not be told is kept by the job and told later", "[unit]") {
    Job job;
    job.options.on_store_error = OnStoreError::open;
    job.runner.attempts = {{Exited{22}, k_429, "", [&job] { job.go_away(); }}, {Exited{0}}};
    job.sleeper.on_sleep = [&job] { job.come_back(); };
    const RunResult result = job.go();
    CHECK(code_of(result) == 0);
    CHECK(result.attempts == 2);
    CHECK(nearly(job.sleeper.gone(), 30s));
    CHECK_THAT(job.events.told.at(0), Catch::Matchers::ContainsSubstring("could not be told of the pause"));
}

TEST_CASE("run: input that an attempt has read from a pipe is not given again", "[unit]") {
    SECTION("refused: 75, and it does not wait first") {
        PipeOnInput input;
        input.give("abc");
        Job job;
        job.runner.attempts = {{Exited{22}, k_429, "", PipeOnInput::read_some}};
        const auto refused = refused_of(job.go());
        CHECK(refused.why == RefusedForGood::Why::half_read_input);
        CHECK(nearly(refused.pause, 30s));
        CHECK(job.sleeper.gone() == 0s);
        CHECK(job.runner.commands.size() == 1);
        CHECK(job.events.told == Told{});
    }
    SECTION("failed: its own code") {
        PipeOnInput input;
        input.give("abc");
        Job job;
        job.plan.job.tries = 2;
        job.runner.attempts = {{Exited{9}, "", "", PipeOnInput::read_some}};
        CHECK(code_of(job.go()) == 9);
        CHECK(job.runner.commands.size() == 1);
        REQUIRE(job.events.told.size() == 1);
        CHECK_THAT(job.events.told[0], Catch::Matchers::ContainsSubstring("half of its input"));
        CHECK_THAT(job.events.told[0], Catch::Matchers::ContainsSubstring("acme: job failed"));
        CHECK_THAT(job.events.told[0], Catch::Matchers::ContainsSubstring("< FILE"));
    }
    SECTION("not read: run again") {
        PipeOnInput input;
        input.give("abc");
        Job job;
        job.runner.attempts = {{Exited{22}, k_429}};
        CHECK(code_of(job.go()) == 0);
        CHECK(job.runner.commands.size() == 2);
    }
}

TEST_CASE("run: only with nothing to watch for may the command take the process over", "[unit]") {
    RunPlan plan{{}, {}, {"x"}, false, false, "", "x", "", OnLeaseLost::warn, {}};
    plan.job.rerun = Rerun::never;
    CHECK(nothing_left_to_do(plan));
    const auto but = [&plan](auto change) {
        RunPlan other = plan;
        change(other);
        return nothing_left_to_do(other);
    };
    CHECK_FALSE(but([](RunPlan& p) { p.scan_output = true; }));
    CHECK_FALSE(but([](RunPlan& p) { p.scan_error = true; }));
    CHECK_FALSE(but([](RunPlan& p) { p.job.rerun = Rerun::refused; }));
    CHECK_FALSE(but([](RunPlan& p) { p.job.tries = 2; }));
    CHECK_FALSE(but([](RunPlan& p) { p.rules.exit_rules.push_back({7, std::nullopt}); }));
}
