// SPDX-License-Identifier: MIT
// What a job shows on a terminal while it waits.
#include "support/catch.hpp"
#include "support/cli.hpp"
#include "support/pty.hpp"

using namespace jobthrottle::test;
using Catch::Matchers::ContainsSubstring;

namespace {

std::map<std::string, std::string> environment_of(const Sandbox& sandbox) {
    return {{"HOME", sandbox.path()}, {"JOBTHROTTLE_STORE", sandbox.store_url()}};
}

}  // namespace

TEST_CASE("terminal: a wait is one line that is kept up to date, and taken away", "[cli]") {
    Sandbox sandbox;
    REQUIRE(sandbox.run({"pause", "acme", "forever"}).code == 0);
    Pty terminal(
        sandbox.command({"run", "-k", "acme", "-r", "5/s", "--notice-after", "0", "--", "echo", "done"}),
        environment_of(sandbox));
    terminal.wait_for("jobthrottle: acme: paused by hand");
    terminal.wait_for("jobthrottle: acme: paused by hand");
    REQUIRE(sandbox.run({"resume", "acme"}).code == 0);
    terminal.wait_for("done");
    CHECK(terminal.wait() == 0);
    const std::string screen = terminal.screen();
    INFO(screen);
    CHECK(screen.find('\n') == screen.find("done\n") + 4);  // no line but the command's own
    CHECK_THAT(screen, ContainsSubstring("\r\x1b[Kdone"));
    CHECK(screen.find("key=acme") == std::string::npos);
}

TEST_CASE("terminal: the line fits the terminal with a ^C behind it, and Ctrl-C takes it away", "[cli]") {
    Sandbox sandbox;
    REQUIRE(sandbox.run({"pause", "acme", "1h", "--reason", std::string(300, 'x')}).code == 0);
    Pty terminal(sandbox.command({"run", "-k", "acme", "-r", "5/s", "--notice-after", "0.3", "--", "true"}),
                 environment_of(sandbox));
    terminal.resize(40, 10);
    terminal.wait_for("acme: ");
    for (int line = 0; line < 2; ++line) {  // the first may have come before the new width
        terminal.wait_for("\racme: 59m");
        terminal.wait_for("\x1b[K");
    }
    terminal.send("\x03");
    CHECK(terminal.wait() == 130);
    const std::string screen = terminal.screen();
    const auto begin = screen.rfind("acme: ");
    CHECK(screen.find("\x1b[K", begin) - begin <= 37);
    CHECK_THAT(screen, Catch::Matchers::EndsWith("\x1b[K\r\x1b[K"));
}

TEST_CASE("terminal: Ctrl-C ends a loop of bash, in the command and in the wait", "[cli]") {
    for (const bool waits : {false, true}) {
        CAPTURE(waits);
        Sandbox sandbox;
        if (waits) REQUIRE(sandbox.run({"pause", "acme", "1h"}).code == 0);
        Argv loop{"bash", "-c",
                  "for i in 1 2 3; do \"$@\"; echo after $i with $?; done; echo the loop went on", "bash"};
        const Argv run = sandbox.command({"run", "-k", "acme", "-r", "1000/s", "--notice-after", "0", "--",
                                          "sh", "-c", "echo ready; exec sleep 30"});
        loop.insert(loop.end(), run.begin(), run.end());
        Pty terminal(loop, environment_of(sandbox));
        terminal.wait_for(waits ? "acme: " : "ready");
        terminal.send("\x03");
        CHECK(terminal.wait() == 130);
        CHECK(terminal.screen().find("the loop went on") == std::string::npos);
        CHECK(terminal.screen().find("after") == std::string::npos);
    }
}

TEST_CASE("terminal: --scan of a stream that is a terminal is warned about", "[cli]") {
    Sandbox sandbox;
    const auto screen_of = [&](const Argv& words) {
        Pty terminal(sandbox.command(words), environment_of(sandbox));
        CHECK(terminal.wait() == 0);
        return terminal.screen();
    };
    const auto words = [](const char* scan) {
        return Argv{"run", "-k", "acme", "-r", "1000/s", "--scan", scan, "--", "true"};
    };
    CHECK_THAT(screen_of(words("both")), ContainsSubstring("standard output and error are a terminal"));
    CHECK_THAT(screen_of(words("stdout")), ContainsSubstring("standard output is a terminal"));
    CHECK_THAT(screen_of(words("stderr")), ContainsSubstring("standard error is a terminal"));
    CHECK(screen_of(words("auto")).empty());
    CHECK(sandbox.run(words("both")).err.empty());
}

TEST_CASE("terminal: keys says that there are none, off a terminal nothing", "[cli]") {
    Sandbox sandbox;
    Pty terminal(sandbox.command({"keys"}), environment_of(sandbox));
    CHECK(terminal.wait() == 0);
    CHECK_THAT(terminal.screen(), ContainsSubstring("jobthrottle: no keys in local:"));
    Pty some(sandbox.command({"keys", "aws:*"}), environment_of(sandbox));
    CHECK(some.wait() == 0);
    CHECK_THAT(some.screen(), ContainsSubstring("jobthrottle: no key matches 'aws:*' in local:"));
    const ProgramResult piped = sandbox.run({"keys"});
    CHECK(piped.out.empty());
    CHECK(piped.err.empty());
}

TEST_CASE("terminal: help is no wider than the terminal", "[cli]") {
    Sandbox sandbox;
    Pty terminal({"sh", "-c", "stty cols 50; exec \"$1\" keys --help", "sh", program_path()},
                 environment_of(sandbox));
    CHECK(terminal.wait() == 0);
    const std::string screen = terminal.screen();
    INFO(screen);
    std::size_t begin = 0;
    for (auto end = screen.find('\n'); end != std::string::npos; end = screen.find('\n', begin)) {
        CHECK(end - begin <= 51);  // some terminals return before a new line
        begin = end + 1;
    }
    CHECK_THAT(screen, ContainsSubstring("glob"));
}

TEST_CASE("terminal: the command has its terminal, and nothing is said without a wait", "[cli]") {
    Sandbox sandbox;
    Pty terminal(sandbox.command({"run", "-k", "acme", "-r", "5/s", "--", "sh", "-c",
                                  "test -t 0 && test -t 1 && test -t 2"}),
                 environment_of(sandbox));
    CHECK(terminal.wait() == 0);
    CHECK(terminal.screen().empty());
}
