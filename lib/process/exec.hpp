// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "process/child.hpp"

namespace jobthrottle {

// A command laid out as the kernel takes it. Made before a fork, for a child may not allocate. It points into
// the Command, which has to outlive it.
class ExecImage {
public:
    explicit ExecImage(const Command& command);

    // Replaces this process; returns errno when it could not. As a shell does it: PATH is searched, and a
    // file the kernel does not know is run by /bin/sh. Allocates nothing; needs stack_need() bytes of stack.
    int exec() const;
    std::size_t stack_need() const;

private:
    std::vector<char*> m_argv;
    std::vector<std::string> m_added;  // NAME=value
    std::vector<char*> m_environment;
};

// What an errno of ExecImage::exec() says about the command.
ChildEnd end_of_failed_exec(int error);

}  // namespace jobthrottle
