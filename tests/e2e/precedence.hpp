// SPDX-License-Identifier: MIT
#pragma once

namespace jobthrottle::test {

// What this thread starts goes before other work of this machine, where we have the right to ask for that: a
// build beside the tests is not what they measure. REQUIRES: destroyed in the thread that made it.
class Precedence {
public:
    Precedence();
    Precedence(const Precedence&) = delete;
    Precedence& operator=(const Precedence&) = delete;
    ~Precedence();

private:
    int m_before;          // of this thread
    int m_session_before;  // Linux shares the processor out to sessions first
};

}  // namespace jobthrottle::test
