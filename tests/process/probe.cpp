// SPDX-License-Identifier: MIT
// What the tests of this folder run: the library as a program ("wrap"), and commands that tell what reaches
// them.
#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "probe_companion.hpp"
#include "process/process_runner.hpp"
#include "process/replace.hpp"
#include "process/standard_descriptors.hpp"

using namespace jobthrottle;
using test::Sender;

namespace {

using Args = std::vector<std::string>;

class Counter final : public OutputWatcher {
public:
    void saw(Stream stream, std::string_view bytes) override {
        if (stream == Stream::standard_output) output += bytes.size();
        if (stream == Stream::standard_error) error += bytes.size();
        if (stream == Stream::output_and_error) both += bytes.size();
    }
    std::size_t output = 0;
    std::size_t error = 0;
    std::size_t both = 0;
};

struct WrapOptions {
    Command command;
    std::string report;
    int times = 1;
    bool replace = false;
    bool no_terminal = false;
    bool accompanied = false;
    Sender sender;
};

std::string open_descriptors() {
    std::string list;
    for (int fd = 0; fd < 256; ++fd) {
        if (fcntl(fd, F_GETFD) >= 0) list += (list.empty() ? "" : ",") + std::to_string(fd);
    }
    return list;
}

void parse(const Args& args, WrapOptions& options) {
    std::size_t i = 0;
    for (; i < args.size() && args[i] != "--"; ++i) {
        const auto& name = args[i];
        if (name == "--watch") options.command.watch_output = options.command.watch_error = true;
        if (name == "--watch-out") options.command.watch_output = true;
        if (name == "--watch-err") options.command.watch_error = true;
        if (name == "--replace") options.replace = true;
        if (name == "--no-terminal") options.no_terminal = true;
        if (name == "--dies-with-us") options.command.dies_with_us = true;
        if (name == "--accompanied") options.accompanied = true;
        if (name == "--act-after") options.sender.wait_for(args[++i]);
        if (name == "--act") options.sender.plan(args[++i]);
        if (name == "--report") options.report = args[++i];
        if (name == "--times") options.times = std::atoi(args[++i].c_str());
        if (name == "--env") {
            const auto& entry = args[++i];
            const auto equal = entry.find('=');
            options.command.extra_environment.emplace_back(entry.substr(0, equal), entry.substr(equal + 1));
        }
    }
    for (++i; i < args.size(); ++i)
        options.command.argv.push_back(args[i]);
}

int code_of(const ChildEnd& end) {
    if (const auto* exited = std::get_if<Exited>(&end)) return exited->code;
    if (const auto* signaled = std::get_if<Signaled>(&end)) return 128 + signaled->signal;
    return std::holds_alternative<NotFound>(end) ? 127 : 126;
}

std::string name_of(const ChildEnd& end) {
    constexpr std::array k_names = {"exited", "signaled", "not-found", "not-executable"};
    return k_names.at(end.index());
}

int wrap(const Args& args) {
    reserve_standard_descriptors();
    WrapOptions options;
    parse(args, options);
    if (options.no_terminal && setsid() < 0) return 125;
    auto inbox = SignalInbox::open();
    if (!inbox) return 125;
    if (options.replace) return code_of(replace_process(options.command));
    ProcessRunner runner{*inbox};
    Counter counter;
    ChildReport last;
    const auto before = open_descriptors();
    for (int i = 0; i < options.times; ++i) {
        auto report = runner.run(options.command, &counter, options.accompanied ? &options.sender : nullptr);
        if (!report) {
            std::fprintf(stderr, "%s\n", report.error().message.c_str());
            return 125;
        }
        last = *report;
    }
    const bool kept_descriptors = open_descriptors() == before;
    const bool has_children = getpid() != 1 && waitpid(-1, nullptr, WNOHANG) >= 0;
    if (!options.report.empty()) {
        std::ofstream file(options.report);
        file << "end=" << name_of(last.end) << " code=" << code_of(last.end)
             << " stop=" << last.stop_signal.value_or(0) << " output_error=" << last.output_error
             << " saw=" << counter.output << "+" << counter.error << "+" << counter.both
             << " pid=" << getpid() << " descriptors=" << (kept_descriptors ? "kept" : "leaked")
             << " children=" << (has_children ? "left" : "none") << "\n";
    }
    return code_of(last.end);
}

void say(const std::string& line) {
    const std::string text = line + "\n";
    if (write(STDOUT_FILENO, text.data(), text.size()) < 0) _exit(99);
}

Command plain(const Args& argv) {
    Command command;
    command.argv = argv;
    return command;
}

// Tells of each signal as it comes; USR2 ends it.
int count() {
    sigset_t all;
    sigfillset(&all);
    sigdelset(&all, SIGTTOU);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    say("ready " + std::to_string(getpid()));
    while (true) {
        siginfo_t info{};
        const int signal = sigwaitinfo(&all, &info);
        if (signal < 0) continue;
        say("got " + std::to_string(signal));
        if (signal == SIGUSR2) return 0;
    }
}

volatile std::sig_atomic_t g_continued = 0;

// Stops as asked by the terminal, in its own way if `by` says so, and ends with 5 when continued (five times,
// if it says so).
int stop_and_go(const std::string& by) {
    std::signal(SIGCONT, [](int) { g_continued = 1; });
    if (by == "stop") std::signal(SIGTSTP, [](int) { raise(SIGSTOP); });
    sigset_t held;
    sigset_t before;
    sigemptyset(&held);
    sigaddset(&held, SIGCONT);
    sigprocmask(SIG_BLOCK, &held, &before);
    say("ready " + std::to_string(getpid()));
    for (int times = by == "five times" ? 5 : 1; times > 0; --times) {
        g_continued = 0;
        while (g_continued == 0)
            sigsuspend(&before);
        say("continued");
    }
    return 5;
}

// Leaves an orphan that ends, and waits until someone has reaped it; then 7.
int orphan() {
    std::array<int, 2> pipe_ends{};
    if (pipe(pipe_ends.data()) != 0) return 1;
    const pid_t middle = fork();
    if (middle == 0) {
        const pid_t grandchild = fork();
        if (grandchild == 0) {
            // It outlives its parent, so that it is an orphan when it ends.
            while (getppid() != 1)
                usleep(1000);
            _exit(0);
        }
        _exit(write(pipe_ends[1], &grandchild, sizeof grandchild) == sizeof grandchild ? 0 : 1);
    }
    pid_t grandchild = 0;
    if (read(pipe_ends[0], &grandchild, sizeof grandchild) != sizeof grandchild) return 1;
    waitpid(middle, nullptr, 0);
    for (int i = 0; i < 30000; ++i) {
        if (kill(grandchild, 0) != 0 && errno == ESRCH) return 7;
        usleep(1000);
    }
    return 2;
}

int write_descriptors(const std::string& path) {
    const auto list = open_descriptors();
    std::ofstream(path) << list;
    return 0;
}

// Makes standard output non-blocking for all who share it, then becomes the command.
int nonblock(const Args& args) {
    fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
    return code_of(replace_process(plain(args)));
}

// Becomes the command with INT and USR1 blocked.
int blocked(const Args& args) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    return code_of(replace_process(plain(args)));
}

// Waits until nobody can read its standard output any more; then 8.
int await_broken() {
    pollfd output{STDOUT_FILENO, 0, 0};
    poll(&output, 1, 30000);
    return (output.revents & POLLERR) != 0 ? 8 : 1;
}

// Writes until nothing more is taken, says so on standard error, and waits for a signal.
int fill() {
    fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
    const std::string bytes(4096, 'x');
    pollfd output{STDOUT_FILENO, POLLOUT, 0};
    while (poll(&output, 1, 200) > 0) {
        if (write(STDOUT_FILENO, bytes.data(), bytes.size()) < 0 && errno != EAGAIN) return 1;
    }
    std::fputs("filled\n", stderr);
    pause();
    return 1;
}

// Becomes the command with one signal blocked and pending.
int pending(const Args& args) {
    const int signal = std::atoi(args[0].c_str());
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    kill(getpid(), signal);
    return code_of(replace_process(plain(Args(args.begin() + 1, args.end()))));
}

// Becomes the command in a process group of its own.
int leave(const Args& args) {
    setpgid(0, 0);
    return code_of(replace_process(plain(args)));
}

int print_arguments(const Args& args) {
    for (const auto& argument : args) {
        std::fwrite(argument.c_str(), 1, argument.size() + 1, stdout);
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const Args all(argv + 1, argv + argc);
    if (all.empty()) return 64;
    const Args rest(all.begin() + 1, all.end());
    const auto& what = all[0];
    if (what == "wrap") return wrap(rest);
    if (what == "count") return count();
    if (what == "stop-and-go") return stop_and_go(rest.empty() ? "" : rest[0]);
    if (what == "orphan") return orphan();
    if (what == "descriptors") return write_descriptors(rest.at(0));
    if (what == "nonblock") return nonblock(rest);
    if (what == "blocked") return blocked(rest);
    if (what == "await-broken") return await_broken();
    if (what == "fill") return fill();
    if (what == "pending") return pending(rest);
    if (what == "leave") return leave(rest);
    if (what == "arguments") return print_arguments(rest);
    return 64;
}
