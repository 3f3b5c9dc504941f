// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "support/run_program.hpp"

namespace jobthrottle::test {

// A command that notes by its own clock when it begins and ends, and counts those of its kind that live at
// the same time (tests/e2e/probe.cpp).
struct Probe {
    std::string name;  // no space in it
    Duration hold{};   // how long it lives, to the millisecond
    int places = 0;    // of which it needs one: where so many others live it is "over"; 0: it does not count
    bool ignores_term = false;
    bool fails = false;  // exits 1
};

struct Probed {
    std::string name;
    pid_t pid = -1;
    BootTime began;
    std::optional<BootTime> ended;  // none: it still lives, or was killed
    bool over = false;              // there were `places` others
};

// What the probes of one folder have noted. Reads on where it stopped.
class ProbeLog {
public:
    explicit ProbeLog(std::string folder) : m_folder(std::move(folder)) {}

    Argv command(const Probe&) const;
    // In the order in which they noted their begin; valid until the next call.
    const std::vector<Probed>& read();
    // The first of this name; none yet.
    std::optional<Probed> find(const std::string& name);
    std::size_t count_over();

private:
    void take_line(const std::string& line);

    std::string m_folder;
    std::size_t m_read = 0;
    std::vector<Probed> m_probes;
};

// Ended, whether or not anybody has asked how.
bool has_ended(pid_t pid);

}  // namespace jobthrottle::test
