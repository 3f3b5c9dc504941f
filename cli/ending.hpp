// SPDX-License-Identifier: MIT
#pragma once

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
    int of(const Interrupted& interrupted) const { return 128 + interrupted.signal; }
    int of(const Error& error, bool ran_before = false);
    int of(const Ran& ran, const std::string& program);

    int throttled_exit() const { return m_common.settings.throttled_exit.value; }

private:
    int of(const RefusedForGood& refused, int refusals);

    const Common& m_common;
    const LimitOptions& m_limit;
    Gate& m_gate;
    Teller& m_teller;
};

// Known keys near to this one, the nearest first; none where the store cannot say.
std::vector<std::string> nearest_keys(Store& store, const Key& key);

}  // namespace jobthrottle
