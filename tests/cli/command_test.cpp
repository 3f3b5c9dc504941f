// SPDX-License-Identifier: MIT
// The command runs as if there were no wrapper: arguments, environment, standard input, exit code.
#include <sstream>

#include "support/catch.hpp"
#include "support/cli.hpp"

using namespace jobthrottle::test;
using Catch::Matchers::ContainsSubstring;

namespace {

Argv run_words(const Argv& command, const Argv& options = {}) {
    Argv words = {"run", "-k", "acme", "-r", "1000/s"};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

}  // namespace

TEST_CASE("command: arguments arrive byte by byte", "[cli]") {
    Sandbox sandbox;
    const Argv arguments = {"",  "[a,b]", "--rate", "-n",       "--", "a b", "$HOME",
                            "*", "\n",    "it's",   "\xff\xfe", "-",  "=",   "{}"};
    Argv command = {"printf", "<%s>"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    std::string expected;
    for (const auto& argument : arguments)
        expected += "<" + argument + ">";
    const ProgramResult result = sandbox.run(run_words(command));
    INFO(describe(result));
    CHECK(result.code == 0);
    CHECK(result.out == expected);
    CHECK(result.err.empty());
}

TEST_CASE("command: nothing is said when nothing happened", "[cli]") {
    Sandbox sandbox;
    for (const char* code : {"0", "1", "75", "255"}) {
        const ProgramResult result = sandbox.run(run_words({"sh", "-c", std::string("exit ") + code}));
        INFO(describe(result));
        CHECK(result.code == std::stoi(code));
        CHECK(result.out.empty());
        CHECK(result.err.empty());
    }
}

TEST_CASE("command: what cannot be run has the codes of the shell", "[cli]") {
    Sandbox sandbox;
    write_file(sandbox.file("plain"), "no program\n");
    const ProgramResult missing = sandbox.run(run_words({"no-such-command-here"}));
    CHECK(missing.code == 127);
    CHECK_THAT(missing.err, ContainsSubstring("no-such-command-here: command not found"));
    const ProgramResult forbidden = sandbox.run(run_words({"./plain"}));
    CHECK(forbidden.code == 126);
    CHECK_THAT(forbidden.err, ContainsSubstring("./plain: "));
    CHECK(sandbox.run(run_words({"sh", "-c", "kill -KILL $$"})).code == 137);
    CHECK(sandbox.run(run_words({"sh", "-c", "kill -TERM $$"})).code == 143);
    const Argv replaced = {"--scan", "none", "--rerun", "never"};
    CHECK(sandbox.run(run_words({"no-such-command-here"}, replaced)).code == 127);
    CHECK(sandbox.run(run_words({"./plain"}, replaced)).code == 126);
}

TEST_CASE("command: it is told its key, attempt, wait and store", "[cli]") {
    Sandbox sandbox;
    auto options = sandbox.options();
    options.env["OTHER"] = "kept";
    const ProgramResult result = sandbox.run(run_words({"env"}), options);
    CHECK_THAT(result.out, ContainsSubstring("JOBTHROTTLE_KEY=acme\n"));
    CHECK_THAT(result.out, ContainsSubstring("JOBTHROTTLE_ATTEMPT=1\n"));
    CHECK_THAT(result.out, ContainsSubstring("JOBTHROTTLE_WAITED=0."));
    CHECK_THAT(result.out, ContainsSubstring("JOBTHROTTLE_TICKET="));
    CHECK_THAT(result.out, ContainsSubstring("JOBTHROTTLE_STORE=" + sandbox.store_url() + "\n"));
    CHECK_THAT(result.out, ContainsSubstring("OTHER=kept\n"));
}

TEST_CASE("command: standard input is its own", "[cli]") {
    Sandbox sandbox;
    auto options = sandbox.options();
    options.input_from = Input::pipe;
    options.input = "one\ntwo\nthree\n";
    const ProgramResult whole = sandbox.run(run_words({"cat"}), options);
    CHECK(whole.out == options.input);
    const std::string loop =
        "while read -r line; do \"$1\" run -k acme -r 1000/s -- echo \"got $line\"; done";
    const ProgramResult lines = run_program({"sh", "-c", loop, "sh", program_path()}, options);
    INFO(describe(lines));
    CHECK(lines.out == "got one\ngot two\ngot three\n");
    CHECK(lines.err.empty());
}

TEST_CASE("command: with nothing left to do it takes the place of the wrapper", "[cli]") {
    Sandbox sandbox;
    Program program =
        sandbox.start(run_words({"sh", "-c", "echo $$"}, {"--scan", "none", "--rerun", "never"}));
    const std::string pid = std::to_string(program.pid());
    CHECK(program.wait().out == pid + "\n");
    Program watched = sandbox.start(run_words({"sh", "-c", "echo $$"}));
    const std::string wrapper = std::to_string(watched.pid());
    CHECK(watched.wait().out != wrapper + "\n");
}

TEST_CASE("command: output passes unchanged and the streams stay apart", "[cli]") {
    Sandbox sandbox;
    const ProgramResult result = sandbox.run(run_words({"sh", "-c", "printf 'a\\0b\\377'; printf e >&2"}));
    CHECK(result.out == std::string("a\0b\xff", 4));
    CHECK(result.err == "e");
}

TEST_CASE("command: -v tells every step, and the output of the command stays as it is", "[cli]") {
    Sandbox sandbox;
    const ProgramResult result = sandbox.run(run_words({"echo", "x"}, {"-v"}));
    CHECK(result.code == 0);
    CHECK(result.out == "x\n");
    CHECK_THAT(result.err, ContainsSubstring("jobthrottle: debug:"));
    CHECK_THAT(result.err, ContainsSubstring(sandbox.store_url()));
}

TEST_CASE("command: help and version are results, on standard output", "[cli]") {
    Sandbox sandbox;
    auto no_store = sandbox.options();
    no_store.env["JOBTHROTTLE_STORE"] = "";  // help needs none
    for (const Argv& words : std::initializer_list<Argv>{{"--help"},
                                                         {"-h"},
                                                         {"help"},
                                                         {"help", "run"},
                                                         {"run", "--help"},
                                                         {"inspect", "-h"},
                                                         {"--version"}}) {
        const ProgramResult result = sandbox.run(words, no_store);
        INFO(describe(result));
        CHECK(result.code == 0);
        CHECK(result.err.empty());
        CHECK(result.out.size() > 10);
        std::istringstream lines(result.out);
        for (std::string line; std::getline(lines, line);)
            CHECK(line.size() <= 80);
    }
    CHECK_THAT(sandbox.run({"run", "--help"}).out, ContainsSubstring("--max-wait DURATION"));
}
