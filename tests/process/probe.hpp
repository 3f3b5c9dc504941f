// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "support/run_program.hpp"
#include "support/temp_dir.hpp"

namespace jobthrottle::test {

inline const std::string k_probe = JT_PROCESS_PROBE;

// `probe wrap OPTIONS -- COMMAND` away from any terminal.
inline Argv wrapped(const Argv& options, const Argv& command) {
    Argv argv{k_probe, "wrap", "--no-terminal"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.emplace_back("--");
    argv.insert(argv.end(), command.begin(), command.end());
    return argv;
}

// A group leader cannot leave its terminal, so the program may not be one.
inline ProgramOptions off_terminal() {
    ProgramOptions options;
    options.own_group = false;
    return options;
}

// As /proc tells it: R, S, T (stopped), Z (ended, not reaped); '-' when there is no such process.
inline char state_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::stringstream text;
    text << file.rdbuf();
    const auto name_end = text.str().rfind(") ");
    return name_end == std::string::npos ? '-' : text.str()[name_end + 2];
}

// A process that ended but that its new parent has not reaped yet counts as gone.
inline bool is_gone(pid_t pid) {
    return (kill(pid, 0) != 0 && errno == ESRCH) || state_of(pid) == 'Z';
}

inline void wait_until_gone(pid_t pid) {
    for (int i = 0; i < 6000; ++i) {
        if (is_gone(pid)) return;
        poll(nullptr, 0, 5);
    }
    throw std::runtime_error("process " + std::to_string(pid) + " is still there");
}

}  // namespace jobthrottle::test
