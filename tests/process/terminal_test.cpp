// SPDX-License-Identifier: MIT
// At a terminal: keys, job control, and signals that come from elsewhere all the same.
#include <csignal>

#include "probe.hpp"
#include "support/catch.hpp"
#include "support/pty.hpp"

using namespace jobthrottle;
using namespace jobthrottle::test;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string k_interrupt = "\x03";
const std::string k_quit = "\x1c";
const std::string k_suspend = "\x1a";

Argv at_terminal(const Argv& options, const Argv& command) {
    Argv argv{k_probe, "wrap"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.emplace_back("--");
    argv.insert(argv.end(), command.begin(), command.end());
    return argv;
}

std::string got(int signal) {
    return "got " + std::to_string(signal);
}

// Two equal signals to a process that has not got round to the first are one, with or without us in between.
void wait_until_none_pending(pid_t pid) {
    const auto has_pending = [&] {
        const auto status = read_file("/proc/" + std::to_string(pid) + "/status");
        return status.find("SigPnd:\t0000000000000000\nShdPnd:\t0000000000000000\n") == std::string::npos;
    };
    for (int i = 0; i < 30000 && has_pending(); ++i)
        poll(nullptr, 0, 1);
}

pid_t pid_in(const std::string& line) {
    return std::stoi(line.substr(line.rfind(' ') + 1));
}

// A shell with job control runs `script`, in which $P is the probe.
Argv with_job_control(const std::string& script) {
    return {"bash", "--norc", "-c", "set -m; " + script};
}

std::map<std::string, std::string> probe_variable(const TempDir& dir) {
    return {{"P", k_probe}, {"R", dir.file("report")}};
}

}  // namespace

TEST_CASE("terminal: keys reach the command once, and signals from elsewhere too", "[process]") {
    const TempDir dir;
    for (const Argv& how : {Argv{}, Argv{"--watch"}}) {
        auto options = how;
        options.insert(options.end(), {"--report", dir.file("report")});
        Pty terminal(at_terminal(options, {k_probe, "count"}));
        const pid_t command = pid_in(terminal.read_line());
        CHECK(getpgid(command) == terminal.pid());
        // A second delivery would stand between two of these lines.
        unsigned short columns = 81;
        for (int round = 0; round < 5; ++round) {
            terminal.send(k_interrupt);
            CHECK(terminal.read_line() == got(SIGINT));
            terminal.send(k_quit);
            CHECK(terminal.read_line() == got(SIGQUIT));
            terminal.send(k_suspend);
            CHECK(terminal.read_line() == got(SIGTSTP));
            terminal.resize(columns++, 24);
            CHECK(terminal.read_line() == got(SIGWINCH));
            for (const int signal :
                 {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGWINCH, SIGCONT, SIGTSTP, SIGALRM}) {
                wait_until_none_pending(terminal.pid());
                kill(terminal.pid(), signal);
                CHECK(terminal.read_line() == got(signal));
                wait_until_none_pending(terminal.pid());
                kill(-terminal.pid(), signal);
                CHECK(terminal.read_line() == got(signal));
            }
        }
        kill(terminal.pid(), SIGUSR2);
        CHECK(terminal.read_line() == got(SIGUSR2));
        CHECK(terminal.wait() == 0);
        CHECK_THAT(read_file(dir.file("report")), ContainsSubstring("end=exited code=0 stop=2 ") &&
                                                      ContainsSubstring("descriptors=kept children=none"));
    }
}

TEST_CASE("terminal: Ctrl-C ends a command that does not care for it", "[process]") {
    const TempDir dir;
    Pty terminal(
        at_terminal({"--watch", "--report", dir.file("report")}, {"sh", "-c", "echo ready; exec sleep 300"}));
    CHECK(terminal.read_line() == "ready");
    terminal.send(k_interrupt);
    CHECK(terminal.wait() == 128 + SIGINT);
    CHECK_THAT(read_file(dir.file("report")), ContainsSubstring("end=signaled code=130 stop=2 "));
}

TEST_CASE("terminal: the command has the terminal that we have", "[process]") {
    const std::string script =
        "for fd in 0 1 2; do test -t $fd && echo $fd is one; done; stty size; read x; echo read-$x";
    Pty terminal(at_terminal({"--watch"}, {"sh", "-c", script}));
    for (const char* fd : {"0", "1", "2"})
        CHECK(terminal.read_line() == std::string(fd) + " is one");
    CHECK(terminal.read_line() == "24 80");
    terminal.send("line\n");
    CHECK(terminal.read_line() == "read-line");
    CHECK(terminal.wait() == 0);
}

TEST_CASE("terminal: a password prompt works while the output is watched", "[process]") {
    const std::string script =
        "stty -echo </dev/tty; printf \"password: \" >/dev/tty; read x </dev/tty; echo out-$x; exit 4";
    const std::string wrap = k_probe + " wrap --watch -- ";
    Pty terminal({"sh", "-c", wrap + "sh -c '" + script + "' | cat; echo end"});
    terminal.wait_for("password: ");
    terminal.send("secret\n");
    CHECK(terminal.read_line() == "out-secret");
    CHECK(terminal.read_line() == "end");
    CHECK(terminal.wait() == 0);
}

TEST_CASE("terminal: Ctrl-Z stops the job, fg continues it", "[process]") {
    const TempDir dir;
    // Whether the command is stopped by the signal itself or, asked by it, stops in its own way.
    for (const std::string how : {"", "stop"}) {
        Pty terminal(with_job_control("$P wrap --report $R -- $P stop-and-go " + how +
                                      "; echo stopped $?; read x; fg; echo ended $?"),
                     probe_variable(dir));
        const pid_t command = pid_in(terminal.read_line());
        terminal.send(k_suspend);
        terminal.wait_for(how.empty() ? "stopped 148\n" : "stopped 147\n");
        CHECK(state_of(command) == 'T');
        terminal.send("\n");
        terminal.wait_for("continued\n");
        terminal.wait_for("ended 5\n");
        CHECK(terminal.wait() == 0);
        CHECK_THAT(read_file(dir.file("report")), ContainsSubstring("end=exited code=5 "));
    }
}

TEST_CASE("terminal: a job can be stopped and continued many times", "[process]") {
    const TempDir dir;
    Pty terminal(with_job_control("$P wrap -- $P stop-and-go 'five times'; "
                                  "fg; fg; fg; fg; fg; echo ended $?"),
                 probe_variable(dir));
    CHECK_THAT(terminal.read_line(), ContainsSubstring("ready "));
    for (int i = 0; i < 5; ++i) {
        terminal.send(k_suspend);
        terminal.wait_for("continued\n");
    }
    terminal.wait_for("ended 5\n");
}

TEST_CASE("terminal: a job of the background is brought to the foreground", "[process]") {
    const TempDir dir;
    Pty terminal(with_job_control("$P wrap --report $R -- sh -c 'echo ready; read x; echo read-$x' & "
                                  "while ! grep -q '^State:.T' /proc/$!/status; do :; done; "
                                  "echo waits; fg; echo ended $?"),
                 probe_variable(dir));
    // The command reads from the terminal, which is not its to read from yet.
    terminal.wait_for("waits\n");
    terminal.send("line\n");
    terminal.wait_for("read-line\n");
    terminal.wait_for("ended 0\n");
}

TEST_CASE("terminal: a shell with job control under us has the keys", "[process]") {
    const TempDir dir;
    const auto env = probe_variable(dir);
    Pty terminal(at_terminal({"--report", dir.file("report")}, with_job_control("$P count; echo end $?")),
                 env);
    const pid_t command = pid_in(terminal.read_line());
    CHECK(getpgid(command) != terminal.pid());
    for (int round = 0; round < 3; ++round) {
        terminal.send(k_interrupt);
        CHECK(terminal.read_line() == got(SIGINT));
    }
    kill(command, SIGUSR2);
    terminal.wait_for("end 0\n");
    CHECK(terminal.wait() == 0);
    CHECK_THAT(read_file(dir.file("report")), ContainsSubstring("end=exited code=0 stop=0 "));
}

TEST_CASE("terminal: a command that left our group gets what is sent to the group", "[process]") {
    Pty terminal(at_terminal({}, {k_probe, "leave", k_probe, "count"}));
    CHECK(getpgid(pid_in(terminal.read_line())) != terminal.pid());
    for (const int signal : {SIGINT, SIGTERM, SIGINT, SIGUSR2}) {
        kill(-terminal.pid(), signal);
        CHECK(terminal.read_line() == got(signal));
    }
    CHECK(terminal.wait() == 0);
}

TEST_CASE("terminal: one that hangs up ends the job", "[process]") {
    pid_t command = -1;
    {
        Pty terminal(at_terminal({"--watch"}, {"sh", "-c", "echo ready $$; exec sleep 300"}));
        command = pid_in(terminal.read_line());
    }
    wait_until_gone(command);
}

TEST_CASE("terminal: nothing of ours is left when we are killed", "[process]") {
    Pty terminal(
        {"sh", "-c",
         k_probe + " wrap --dies-with-us -- sh -c 'echo wrapper $PPID; exec sleep 300'; echo end $?"});
    const pid_t wrapper = pid_in(terminal.read_line());
    kill(wrapper, SIGKILL);
    terminal.wait_for("end 137\n");
    // The screen ends when nobody holds the terminal open any more, the process that watches signals neither.
    CHECK(terminal.wait() == 0);
}
