// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "support/run_program.hpp"

namespace jobthrottle::test {

// Programs that run at the same time, looked after by one thread while the test does something else to them.
class Crowd {
public:
    void add(Program program) { m_programs.push_back(std::move(program)); }
    std::size_t size() const { return m_programs.size(); }
    Program& at(std::size_t index) { return m_programs.at(index); }
    std::vector<std::size_t> running() const;

    void watch_for(Duration length);
    // Looks every 20 ms; throws when it is not so after `limit`.
    void watch_until(const std::function<bool()>& so, Duration limit = std::chrono::seconds{60});
    // Until all have ended; in the order they were added. REQUIRES: called once. Throws as Program::wait().
    std::vector<ProgramResult> finish();

private:
    void watch_once(Duration longest);

    std::vector<Program> m_programs;
};

}  // namespace jobthrottle::test
