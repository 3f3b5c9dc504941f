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
    terminal.wait_for("jobthrottle: waiting for acme");
    terminal.wait_for("jobthrottle: waiting for acme");
    REQUIRE(sandbox.run({"resume", "acme"}).code == 0);
    terminal.wait_for("done");
    CHECK(terminal.wait() == 0);
    const std::string screen = terminal.screen();
    INFO(screen);
    CHECK(screen.find('\n') == screen.find("done\n") + 4);  // no line but the command's own
    CHECK_THAT(screen, ContainsSubstring("\r\x1b[Kdone"));
    CHECK(screen.find("key=acme") == std::string::npos);
}

TEST_CASE("terminal: the line is never wider than the terminal", "[cli]") {
    Sandbox sandbox;
    REQUIRE(sandbox.run({"pause", "acme", "forever", "--reason", std::string(300, 'x')}).code == 0);
    Pty terminal(sandbox.command({"run", "-k", "acme", "-r", "5/s", "--notice-after", "0.3", "--", "true"}),
                 environment_of(sandbox));
    terminal.resize(40, 10);
    for (int line = 0; line < 2; ++line) {  // the first may have come before the new width
        terminal.wait_for("\rjobthrottle: waiting for acme");
        terminal.wait_for("\x1b[K");
    }
    terminal.send("\x03");
    CHECK(terminal.wait() == 130);
    const std::string screen = terminal.screen();
    const auto begin = screen.rfind("jobthrottle");
    CHECK(screen.find("\x1b[K", begin) - begin == 39);
}

TEST_CASE("terminal: the command has its terminal, and nothing is said without a wait", "[cli]") {
    Sandbox sandbox;
    Pty terminal(sandbox.command({"run", "-k", "acme", "-r", "5/s", "--", "sh", "-c",
                                  "test -t 0 && test -t 1 && test -t 2"}),
                 environment_of(sandbox));
    CHECK(terminal.wait() == 0);
    CHECK(terminal.screen().empty());
}
