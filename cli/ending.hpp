// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "cli/teller.hpp"
#include "run/gate.hpp"
#include "run/run.hpp"

namespace jobthrottle {

// Says why a job did not run, or not to its end, and gives the exit code for it. All it is given is borrowed.
class Ending {
public:
    Ending(const Common& common, const LimitOptions& limit, Gate& gate, Teller& teller)
        : m_common(common), m_limit(limit), m_gate(gate), m_teller(teller) {}

    // `program` is the first word of the command.
    int of(const RunResult& result, const std::string& program);
    // How an admission ended that is none.
    int of(const Throttled& throttled, bool ran_before = false);
    int of(const Unjudged& unjudged);
    int of(const Interrupted& interrupted);
    int of(const Error& error, bool ran_before = false);
    int of(const Ran& ran, const std::string& program);

    // The signal that ended the job, if one did: see exit_as().
    std::optional<int> died_of() const { return m_died_of; }

    int throttled_exit() const { return m_common.settings.throttled_exit.value; }

private:
    int of(const RefusedForGood& refused, int refusals);
    Line line_of(const Unjudged& unjudged);

    const Common& m_common;
    const LimitOptions& m_limit;
    Gate& m_gate;
    Teller& m_teller;
    std::optional<int> m_died_of;
};

// How the program ends. `signal`: what ended the job, the command's death of it included.
struct Ended {
    int code = 0;
    std::optional<int> signal;
};
// The code; but at a terminal the program dies of INT itself, for bash stops a loop only for one that did.
// `$?` is 130 either way. REQUIRES: all that was opened for the job is closed again.
int exit_as(const Ended& ended);

// Known keys near to this one, the nearest first; none where the store cannot say.
std::vector<std::string> nearest_keys(Store& store, const Key& key);

}  // namespace jobthrottle
