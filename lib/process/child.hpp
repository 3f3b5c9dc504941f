// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace jobthrottle {

struct Exited {
    int code = 0;  // 0 to 255
};
struct Signaled {
    int signal = 0;
};
struct NotFound {};  // no such command: nothing ran
struct NotExecutable {
    int error = 0;  // errno of the exec: EACCES, ENOEXEC, E2BIG ...: nothing ran
};
using ChildEnd = std::variant<Exited, Signaled, NotFound, NotExecutable>;

// `output_and_error`: they are the same open file and share one pipe.
enum class Stream { standard_output, standard_error, output_and_error };

// Is told what passes through a watched stream, before it is passed on. What it does delays the output, so it
// has to be fast. `bytes` are valid during the call only; a chunk ends anywhere.
class OutputWatcher {
public:
    OutputWatcher() = default;
    virtual ~OutputWatcher() = default;
    OutputWatcher(const OutputWatcher&) = delete;
    OutputWatcher& operator=(const OutputWatcher&) = delete;
    virtual void saw(Stream stream, std::string_view bytes) = 0;
};

// Is asked now and then while a command runs, on the thread that waits for it. What it does delays output and
// signals, so it has to be fast.
class Companion {
public:
    Companion() = default;
    virtual ~Companion() = default;
    Companion(const Companion&) = delete;
    Companion& operator=(const Companion&) = delete;
    // The command runs as this process. Called once, before anything else; not when it cannot be run.
    virtual void started(pid_t command) = 0;
    // When to call act() next, as things stand.
    virtual BootTime due() const = 0;
    // A signal that the command and all in its process group are to get, or nothing.
    virtual std::optional<int> act() = 0;
};

// REQUIRES: argv is not empty. No string holds a NUL.
struct Command {
    std::vector<std::string> argv;  // passed as it is; argv[0] is searched in PATH when it has no slash
    // Added to the environment; a name that is there already gets the new value.
    std::vector<std::pair<std::string, std::string>> extra_environment;
    // A watched stream goes through a pipe, unchanged and at once. A stream that is a terminal or closed is
    // inherited whatever is asked. When standard output and error are the same open file they share one pipe
    // if either is watched, so that their order is kept.
    bool watch_output = false;
    bool watch_error = false;
    // The command gets TERM when this process dies (the kernel's parent-death signal). It does not outlive a
    // set-user-id program, nor a command that leaves us by a daemon of its own.
    bool dies_with_us = false;
};

struct ChildReport {
    ChildEnd end;
    // The first of INT, TERM, HUP and QUIT that reached this process, or the terminal's group, while it ran.
    std::optional<int> stop_signal;
    // errno of the write that lost watched output (a full disk); 0 when none was. A reader that went away is
    // no loss: the command is told by SIGPIPE.
    int output_error = 0;
};

// Runs a command to its end. An error is a fault of ours (no process, no descriptor left); that the command
// cannot be found or executed is an end.
class ChildRunner {
public:
    ChildRunner() = default;
    virtual ~ChildRunner() = default;
    ChildRunner(const ChildRunner&) = delete;
    ChildRunner& operator=(const ChildRunner&) = delete;
    // `watcher` may be null: then nothing is watched; `companion`, too.
    virtual Result<ChildReport> run(const Command& command, OutputWatcher* watcher, Companion* companion) = 0;
};

}  // namespace jobthrottle
