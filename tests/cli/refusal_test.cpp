// SPDX-License-Identifier: MIT
// A command that its provider refuses: the key is paused and the job runs again.
#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "support/cli.hpp"

using namespace jobthrottle::test;
using namespace std::chrono_literals;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

const std::string k_head = R"(printf 'HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\n\r\n')";
// Notes each attempt in the file "log".
const std::string k_note = "echo x >> log; ";
// Refused the first time, done the second.
const std::string k_once_refused =
    k_note + "if [ $(wc -l < log) -gt 1 ]; then echo ok; else " + k_head + "; exit 22; fi";

Argv run_words(const std::string& script, const Argv& options = {}) {
    Argv words = {"run", "-k", "acme", "-r", "100/s"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "sh", "-c", script});
    return words;
}

std::size_t attempts(const Sandbox& sandbox) {
    return read_file(sandbox.file("log")).size() / 2;
}

json inspect(const Sandbox& sandbox) {
    return json::parse(sandbox.run({"inspect", "acme", "--json"}).out);
}

}  // namespace

TEST_CASE("refusal: a 429 head pauses the key and the job runs again", "[cli]") {
    Sandbox sandbox;
    const ProgramResult result = sandbox.run(run_words(k_once_refused));
    INFO(describe(result));
    CHECK(result.code == 0);
    CHECK_THAT(result.out, Catch::Matchers::EndsWith("ok\n"));
    CHECK(attempts(sandbox) == 2);
    CHECK(result.elapsed() >= 900ms);
    CHECK(result.err.find('\n') == result.err.size() - 1);
    CHECK_THAT(result.err, ContainsSubstring("HTTP 429, Retry-After: 1"));
    CHECK(inspect(sandbox)["pause"]["summary"] == "HTTP 429, Retry-After: 1");
    CHECK(inspect(sandbox)["pause"]["stream"] == "stdout");
    CHECK(inspect(sandbox)["pause"]["job"] == "sh");
}

TEST_CASE("refusal: what a client says counts also where both streams are one, as cron has them", "[cli]") {
    const Sandbox box;
    auto options = box.options();
    options.err_to_out = true;
    const auto ended =
        run_program(box.command({"run", "-k", "a", "-r", "5/s", "--rerun", "never", "--", "sh", "-c",
                                 "echo 'curl: (22) The requested URL returned error: 429' >&2; exit 22"}),
                    options);
    CHECK(ended.code == 75);
    CHECK_THAT(box.run({"inspect", "a"}).out, ContainsSubstring("PAUSED"));
}

TEST_CASE("refusal: -q hides it", "[cli]") {
    Sandbox sandbox;
    const ProgramResult result = sandbox.run(run_words(k_once_refused, {"-q"}));
    CHECK(result.code == 0);
    CHECK(result.err.empty());
    CHECK(attempts(sandbox) == 2);
}

TEST_CASE("refusal: --rerun never ends with 75, and the key is paused", "[cli]") {
    Sandbox sandbox;
    const ProgramResult result = sandbox.run(run_words(k_once_refused, {"--rerun", "never"}));
    INFO(describe(result));
    CHECK(result.code == 75);
    CHECK(attempts(sandbox) == 1);
    CHECK_THAT(result.err, ContainsSubstring("acme"));
    CHECK(inspect(sandbox)["pause"]["summary"] == "HTTP 429, Retry-After: 1");
    const ProgramResult quiet =
        sandbox.run(run_words(k_note + k_head + "; exit 22", {"--rerun", "never", "-E", "9", "-q"}));
    CHECK(quiet.code == 9);
    CHECK(quiet.err.find('\n') == quiet.err.size() - 1);
}

TEST_CASE("refusal: a pause longer than --max-wait is told in one line, with its evidence", "[cli]") {
    for (const Argv& bound : std::initializer_list<Argv>{{"-w", "0.5"}, {"-n"}}) {
        Sandbox sandbox;
        const ProgramResult result = sandbox.run(
            run_words(k_note + "printf 'HTTP/1.1 429 x\\r\\nRetry-After: 600\\r\\n\\r\\n'; exit 22", bound));
        INFO(describe(result));
        CHECK(result.code == 75);
        CHECK(attempts(sandbox) == 1);
        CHECK(result.err.find('\n') == result.err.size() - 1);
        CHECK_THAT(result.err, ContainsSubstring("HTTP 429, Retry-After: 600, seen by sh on "));
        CHECK_THAT(result.err, ContainsSubstring("not run again"));
    }
}

TEST_CASE("refusal: --max-refusals gives up", "[cli]") {
    Sandbox sandbox;
    const ProgramResult result =
        sandbox.run(run_words(k_note + k_head + "; exit 22", {"--max-refusals", "2"}));
    INFO(describe(result));
    CHECK(result.code == 75);
    CHECK(attempts(sandbox) == 2);
}

TEST_CASE("refusal: an exit code says so with --pause-on-exit", "[cli]") {
    Sandbox sandbox;
    const std::string script = k_note + "[ $(wc -l < log) -gt 1 ] || exit 54";
    const ProgramResult result = sandbox.run(run_words(script, {"--pause-on-exit", "54=1s"}));
    INFO(describe(result));
    CHECK(result.code == 0);
    CHECK(attempts(sandbox) == 2);
    CHECK(result.elapsed() >= 900ms);
    CHECK(inspect(sandbox)["pause"]["stream"] == "exit code");
    Sandbox other;
    CHECK(other.run(run_words("exit 55", {"--pause-on-exit", "54=1s"})).code == 55);
    CHECK(inspect(other)["pause"].is_null());
}

TEST_CASE("refusal: --scan says where to look", "[cli]") {
    const std::string on_error = k_note + k_head + " >&2; exit 22";
    const std::string on_output = k_note + k_head + "; exit 22";
    const auto code = [](const std::string& script, const char* scan) {
        Sandbox sandbox;
        return sandbox.run(run_words(script, {"--scan", scan, "--rerun", "never"})).code;
    };
    CHECK(code(on_output, "stdout") == 75);
    CHECK(code(on_output, "both") == 75);
    CHECK(code(on_output, "auto") == 75);
    CHECK(code(on_output, "stderr") == 22);
    CHECK(code(on_output, "none") == 22);
    CHECK(code(on_error, "stderr") == 75);
    CHECK(code(on_error, "both") == 75);
    CHECK(code(on_error, "auto") == 75);
    CHECK(code(on_error, "stdout") == 22);
}

TEST_CASE("refusal: --max-pause and --default-pause bound the pause", "[cli]") {
    Sandbox sandbox;
    const std::string day = R"(printf 'HTTP/1.1 429 x\r\nRetry-After: 86400\r\n\r\n'; exit 22)";
    CHECK(sandbox.run(run_words(day, {"--rerun", "never", "--max-pause", "10m"})).code == 75);
    CHECK(inspect(sandbox)["paused_for_ms"] <= 600'000);
    CHECK(inspect(sandbox)["paused_for_ms"] > 500'000);
    Sandbox other;
    CHECK(
        other.run(run_words("exit 9", {"--rerun", "never", "--pause-on-exit", "9", "--default-pause", "5m"}))
            .code == 75);
    CHECK(inspect(other)["paused_for_ms"] <= 300'000);
    CHECK(inspect(other)["paused_for_ms"] > 200'000);
}

TEST_CASE("refusal: a failure spends a try, and each is said", "[cli]") {
    Sandbox sandbox;
    const ProgramResult failed =
        sandbox.run(run_words(k_note + "exit 3", {"--tries", "3", "--backoff", "0"}));
    INFO(describe(failed));
    CHECK(failed.code == 3);
    CHECK(attempts(sandbox) == 3);
    CHECK_THAT(failed.err, ContainsSubstring("acme: sh failed (exit 3): trying again, 2 tries left"));
    CHECK_THAT(failed.err, ContainsSubstring("1 try left"));
    Sandbox other;
    const std::string second = k_note + "[ $(wc -l < log) -gt 1 ]";
    CHECK(other.run(run_words(second, {"--tries", "3", "--backoff", "10ms", "-q"})).code == 0);
    CHECK(attempts(other) == 2);
}

TEST_CASE("refusal: a file on standard input is read again from where it stood, a pipe is not", "[cli]") {
    Sandbox sandbox;
    write_file(sandbox.file("in"), "line\n");
    auto options = sandbox.options();
    options.input_from = Input::file;
    options.input = sandbox.file("in");
    const std::string script =
        k_note + "cat; if [ $(wc -l < log) -gt 1 ]; then exit 0; fi; " + k_head + "; exit 22";
    const ProgramResult file = sandbox.run(run_words(script, {"-q"}), options);
    INFO(describe(file));
    CHECK(file.code == 0);
    CHECK_THAT(file.out, Catch::Matchers::EndsWith("\r\n\r\nline\n"));

    Sandbox other;
    options = other.options();
    options.input_from = Input::pipe;
    options.input = "line\n";
    const ProgramResult piped = other.run(run_words(script), options);
    INFO(describe(piped));
    CHECK(piped.code == 75);
    CHECK(attempts(other) == 1);
    CHECK_THAT(piped.err, ContainsSubstring("acme: "));
    CHECK_THAT(piped.err, ContainsSubstring("half of its input. Give it a file instead"));
}
