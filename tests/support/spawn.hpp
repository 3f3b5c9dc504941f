// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/fd.hpp"

namespace jobthrottle::test {

// A pipe whose ends are above 2, closed on exec: a test may run with no standard streams of its own.
struct Pipe {
    Fd read_end, write_end;
};
Pipe make_pipe();
Fd above_standard(Fd fd);
void set_nonblocking(int fd);

struct SpawnPlan {
    std::vector<std::string> argv;
    std::vector<std::string> env;     // NAME=VALUE
    std::string cwd;                  // empty: ours
    int in = -1, out = -1, err = -1;  // above 2; -1: closed in the program
    bool own_group = true;
    bool die_with_parent = true;
    std::vector<int> keep_fds;
    std::vector<int> ignored_signals;
};

// All signals not named are at their default and none is blocked. Throws std::runtime_error when the program
// cannot be executed.
pid_t spawn(const SpawnPlan& plan);

}  // namespace jobthrottle::test
