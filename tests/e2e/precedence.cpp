// SPDX-License-Identifier: MIT
#include "precedence.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace jobthrottle::test {
namespace {

constexpr int k_wanted = -10;
const char* const k_session = "/proc/self/autogroup";

// "/autogroup-71 nice 0"; no such file where the kernel knows no such thing.
int nice_of_session() {
    std::ifstream file(k_session);
    std::string name, word;
    int nice = 0;
    file >> name >> word >> nice;
    return nice;
}

void set_nice_of_session(int nice) {
    std::ofstream(k_session) << nice << '\n';
}

}  // namespace

Precedence::Precedence() : m_before(getpriority(PRIO_PROCESS, 0)), m_session_before(nice_of_session()) {
    setpriority(PRIO_PROCESS, 0, std::min(m_before, k_wanted));
    set_nice_of_session(std::min(m_session_before, k_wanted));
}

Precedence::~Precedence() {
    setpriority(PRIO_PROCESS, 0, m_before);
    set_nice_of_session(m_session_before);
}

}  // namespace jobthrottle::test
