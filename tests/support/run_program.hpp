// SPDX-License-Identifier: MIT
// Runs other programs as a test needs them: a clean environment, every output kept, never a hang. What goes
// wrong here throws std::runtime_error, which fails the test.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <csignal>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "base/time.hpp"

namespace jobthrottle::test {

using Argv = std::vector<std::string>;

enum class Input {
    null,    // /dev/null
    closed,  // no descriptor 0 at all
    pipe,    // a pipe that gives `input` and then ends
    open,    // a pipe that stays open: send(), close_input()
    file,    // the file named by `input`
};

struct ProgramOptions {
    // The whole environment, but for PATH (ours), HOME=/nonexistent, and the options of the sanitizers, which
    // are there unless given here.
    std::map<std::string, std::string> env;
    Input input_from = Input::null;
    std::string input;                           // for Input::pipe the bytes, for Input::file the path
    std::string cwd;                             // empty: ours
    Duration timeout = std::chrono::minutes{1};  // from the start; then the group is killed and wait() throws
    bool err_to_out = false;                     // both streams are one pipe; `err` stays empty
    bool own_group = true;                       // a process group of its own, killed when the Program goes
    bool die_with_parent = true;                 // SIGKILL when the *thread* that started it ends
    std::vector<int> keep_fds;                   // reach the program under their number; all others do not
    std::vector<int> ignored_signals;            // as nohup would leave them
};

struct ProgramResult {
    int code = -1;   // exit code, or -1 when a signal ended it
    int signal = 0;  // the signal that ended it, or 0
    std::string out;
    std::string err;
    BootTime started;
    BootTime ended;

    int status() const { return signal == 0 ? code : 128 + signal; }  // as a shell shows it
    Duration elapsed() const { return ended - started; }
};

// For INFO() in a test: the status and both outputs.
std::string describe(const ProgramResult& result);

// A pid that only one object owns; -1 is none.
struct OwnedPid {
    pid_t value = -1;
    OwnedPid() = default;
    OwnedPid(OwnedPid&& other) noexcept : value(std::exchange(other.value, -1)) {}
    OwnedPid& operator=(OwnedPid&&) = delete;
    ~OwnedPid() = default;
};

// A program under way. One thread at a time.
class Program {
public:
    // argv[0] is searched in our PATH. Throws when it cannot be executed.
    explicit Program(const Argv& argv, ProgramOptions options = {});
    Program(Program&&) noexcept = default;
    Program& operator=(Program&&) = delete;
    ~Program();

    pid_t pid() const { return m_pid.value; }
    void kill(int signal) const;        // the process alone
    void kill_group(int signal) const;  // REQUIRES: own_group
    void freeze() const;                // SIGSTOP; returns when it has stopped
    void thaw() const { kill(SIGCONT); }
    void send(std::string_view bytes);  // queued, written by the waits below. REQUIRES: Input::pipe or open
    void close_input();                 // once all that is queued is written

    // The next line of its standard output, without the newline. Throws after `timeout`, and when its output
    // or its process ends before a line is complete.
    std::string read_line(Duration timeout = std::chrono::seconds{20});
    // Until `text` stands in its standard error; throws likewise.
    void wait_for_err(std::string_view text, Duration timeout = std::chrono::seconds{20});

    // Waits for the process itself, not for those who hold its pipes. Throws when the time-out of the options
    // is over. REQUIRES: called once.
    ProgramResult wait();

    bool ended() const { return m_ended; }
    BootTime deadline() const { return m_deadline; }
    // For those who watch several: what to poll, and what to do after any poll. service() never blocks and
    // throws when the time-out is over.
    void add_poll_fds(std::vector<pollfd>& fds) const;
    void service();

private:
    void start(const Argv& argv);
    void service_once();
    void wait_step(BootTime until);
    [[noreturn]] void fail(const std::string& what);
    bool reap();
    void write_input();

    ProgramOptions m_options;
    std::string m_name;
    OwnedPid m_pid;
    Fd m_pidfd, m_in, m_out, m_err;
    std::string m_unsent;
    bool m_close_when_sent = false;
    std::size_t m_read = 0;  // how much of the output read_line has given
    bool m_ended = false;
    BootTime m_deadline;
    ProgramResult m_result;
};

ProgramResult run_program(const Argv& argv, ProgramOptions options = {});
Program start_program(const Argv& argv, ProgramOptions options = {});

}  // namespace jobthrottle::test
