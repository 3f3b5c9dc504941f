// SPDX-License-Identifier: MIT
#include "crowd.hpp"

#include <poll.h>

#include <algorithm>
#include <stdexcept>

namespace jobthrottle::test {
namespace {

using namespace std::chrono_literals;

constexpr Duration k_look_every = 20ms;

}  // namespace

std::vector<std::size_t> Crowd::running() const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < m_programs.size(); ++i) {
        if (!m_programs[i].ended()) found.push_back(i);
    }
    return found;
}

void Crowd::watch_once(Duration longest) {
    std::vector<pollfd> fds;
    for (const Program& program : m_programs)
        program.add_poll_fds(fds);
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(std::min(longest, k_look_every)).count();
    poll(fds.data(), fds.size(), static_cast<int>(std::max<std::int64_t>(ms, 0)));
    for (Program& program : m_programs)
        program.service();
}

void Crowd::watch_for(Duration length) {
    const BootTime until = BootClock::now() + length;
    while (BootClock::now() < until)
        watch_once(until - BootClock::now());
}

void Crowd::watch_until(const std::function<bool()>& so, Duration limit) {
    const BootTime until = BootClock::now() + limit;
    while (!so()) {
        if (BootClock::now() >= until) throw std::runtime_error("what was waited for has not come");
        watch_once(k_look_every);
    }
}

std::vector<ProgramResult> Crowd::finish() {
    while (!running().empty())
        watch_once(k_look_every);
    std::vector<ProgramResult> results;
    for (Program& program : m_programs)
        results.push_back(program.wait());
    return results;
}

}  // namespace jobthrottle::test
