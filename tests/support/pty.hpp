// SPDX-License-Identifier: MIT
// Runs a program at a terminal of its own, as its session leader and foreground group. What goes wrong here
// throws std::runtime_error, which fails the test.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "base/time.hpp"
#include "support/run_program.hpp"

namespace jobthrottle::test {

// The terminal neither echoes nor turns newlines into two characters, so that the screen holds what the
// program wrote and nothing else. Its keys (Ctrl-C and the like) are the usual ones.
class Pty {
public:
    // argv[0] is searched in our PATH; `env` is added to our environment.
    explicit Pty(const Argv& argv, const std::map<std::string, std::string>& env = {});
    Pty(const Pty&) = delete;
    Pty& operator=(const Pty&) = delete;
    ~Pty();  // hangs up, then kills the program and its group

    pid_t pid() const { return m_pid; }
    void send(std::string_view keys);
    void resize(unsigned short columns, unsigned short rows);

    // The next line on the screen, without the newline. Throws after `timeout`, or when the screen ends
    // before.
    std::string read_line(Duration timeout = std::chrono::seconds{30});
    // Until `text` stands on the screen behind what was read; that much is then read.
    void wait_for(std::string_view text, Duration timeout = std::chrono::seconds{30});

    // Waits for the program; 128 + n when signal n ended it. REQUIRES: called once.
    int wait(Duration timeout = std::chrono::seconds{30});

    const std::string& screen() const { return m_screen; }  // all of it up to now

private:
    bool read_more(BootTime until);
    [[noreturn]] void fail(const std::string& what) const;

    Fd m_master;
    pid_t m_pid = -1;
    std::string m_screen;
    std::size_t m_read = 0;
};

}  // namespace jobthrottle::test
